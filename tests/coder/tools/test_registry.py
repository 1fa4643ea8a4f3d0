"""The standard tools: names, descriptions and schemas."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from accord.coder.tools.base import ToolError
from accord.coder.tools.registry import standard_tools

NAMES = [
    "read_file",
    "list_files",
    "search",
    "outline",
    "show_changes",
    "explore",
    "edit_file",
    "write_file",
    "apply_patch",
    "move_or_delete",
    "run_command",
    "read_output",
    "stop_command",
    "fetch_url",
    "web_search",
    "set_plan",
    "ask_user",
    "switch_mode",
    "skill",
]
KINDS = (
    "read read search read read search edit edit edit move "
    "execute read execute fetch fetch think other switch_mode read"
)
EXAMPLES: dict[str, dict[str, Any]] = {
    "read_file": {"file_path": "a", "offset": 1, "limit": 2, "line_numbers": True},
    "list_files": {"path": "a", "pattern": "*.py", "depth": 2},
    "search": {"pattern": "x", "path": ".", "glob": "*", "output_mode": "count", "before": 1, "literal": True},
    "outline": {"path": "a", "symbol": "f", "find": "uses"},
    "show_changes": {"path": "a"},
    "explore": {"question": "Where are rules parsed?", "thoroughness": "quick"},
    "edit_file": {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y", "replace_all": True}]},
    "write_file": {"file_path": "a", "content": ""},
    "apply_patch": {"patch": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"},
    "move_or_delete": {"operation": "move", "file_path": "a", "destination": "b"},
    "run_command": {"command": "ls", "cwd": "src", "timeout": 5, "background": True, "on_timeout": "background"},
    "read_output": {"id": "cmd-1", "wait_for": "ready", "wait_seconds": 5},
    "stop_command": {"id": "cmd-1"},
    "fetch_url": {"url": "https://example.com/"},
    "web_search": {"query": "python 3.14 changes", "limit": 5},
    "set_plan": {"steps": [{"content": "x", "status": "completed", "priority": "low"}]},
    "ask_user": {"question": "x?", "choices": ["a", "b"], "multiple": False},
    "switch_mode": {"mode": "code", "reason": "done"},
    "skill": {"name": "release", "file": "steps.md"},
}


def test_all_tools_are_registered_with_their_kinds() -> None:
    tools = standard_tools()
    assert list(tools) == NAMES
    assert [tool.kind for tool in tools.values()] == KINDS.split()
    assert [name for name, tool in tools.items() if tool.changes] == [
        "edit_file",
        "write_file",
        "apply_patch",
        "move_or_delete",
        "run_command",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_arguments_match_the_schema(name: str) -> None:
    spec = standard_tools()[name].spec()
    assert re.fullmatch(r"[a-z_]{3,64}", spec.name)
    assert 60 <= len(spec.description) <= 800
    schema = jsonschema_rs.validator_for({**spec.parameters, "additionalProperties": False})
    assert schema.is_valid(EXAMPLES[name])
    assert not re.search(r"\$ref|\$defs|anyOf|oneOf|'null'|title", str(spec.parameters))
    for field in spec.parameters["properties"].values():
        assert "type" in field, field


@pytest.mark.parametrize("name", NAMES)
def test_each_tool_has_a_title_for_users(name: str) -> None:
    tool = standard_tools()[name]
    title = tool.title(tool.read(EXAMPLES[name]))
    assert title[0].isupper() and "\n" not in title and len(title) < 120


@pytest.mark.parametrize("name", NAMES)
def test_invalid_arguments_are_rejected_with_their_location(name: str) -> None:
    tool = standard_tools()[name]
    wrong = {field: {"no": "such thing"} for field in EXAMPLES[name]}
    with pytest.raises(ToolError, match=rf"^{name}: (?:{'|'.join(wrong)})\b.* (?:must be|can't be) "):
        tool.read(wrong)


def test_nothing_heavy_is_loaded_with_the_tools() -> None:
    code = (
        "import sys; from accord.coder.tools.registry import standard_tools; standard_tools(); "
        "print(*{'httpx2', 'pydantic_ai', 'mcp', 'sqlite3', 'keyring', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_page_about_the_tools_names_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "coder-tools.md").read_text()
    rows = re.findall(r"^\| `(\w+)\(", page, re.M)
    assert rows == NAMES
    for name, tool in standard_tools().items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}("))
        assert set(tool.spec().parameters["properties"]) <= set(re.findall(r"\w+", row.split("|")[1])), row
        assert row.split("|")[2].strip() == tool.kind


def test_gpt_models_edit_with_patches_and_others_with_passages() -> None:
    edits = ("edit_file", "write_file", "apply_patch", "move_or_delete")
    offered = {
        model: [name for name, tool in standard_tools().items() if name in edits and tool.suits(model)]
        for model in ("openai:gpt-6.1-sol", "anthropic:claude-sonnet-5-5", "offline")
    }
    others = ["edit_file", "write_file", "move_or_delete"]
    assert list(offered.values()) == [["apply_patch"], others, others]
