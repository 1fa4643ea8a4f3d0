"""Arguments as models send them, brought into the form of a schema."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.tools.arguments import coerce
from accord.coder.tools.base import ToolError
from accord.coder.tools.edit_file import EditFileArgs
from accord.coder.tools.names import describe_unknown, find_tool
from accord.coder.tools.plan import SetPlanArgs
from accord.coder.tools.read_file import ReadFileArgs
from accord.coder.tools.registry import standard_tools
from accord.coder.tools.run_command import RunCommandArgs
from accord.coder.tools.search import SearchArgs

EDIT = {"old_string": "a", "new_string": "b"}
TOOLS = standard_tools()


@pytest.mark.parametrize(
    ("struct", "given", "expected"),
    [
        (ReadFileArgs, {"path": "a.py", "start_line": "3"}, {"file_path": "a.py", "offset": 3}),
        (ReadFileArgs, {"filePath": "a.py"}, {"file_path": "a.py"}),
        (ReadFileArgs, {"file_path": "a.py", "offset": 0, "limit": None}, {"file_path": "a.py"}),
        (ReadFileArgs, {"file_path": "a.py", "offset": "", "limit": "null"}, {"file_path": "a.py"}),
        (ReadFileArgs, {"file_path": "a.py", "offset": 10.0}, {"file_path": "a.py", "offset": 10}),
        (ReadFileArgs, {"file_path": ["a.py"]}, {"file_path": "a.py"}),
        (ReadFileArgs, {"file_path": "`a.py`"}, {"file_path": "a.py"}),
        (ReadFileArgs, {"file_path": "file:///p/a%20b.py"}, {"file_path": "/p/a b.py"}),
        (ReadFileArgs, {"arguments": {"path": "a.py"}}, {"file_path": "a.py"}),
        (ReadFileArgs, {"input": '{"path": "a.py"}'}, {"file_path": "a.py"}),
        (EditFileArgs, {"file_path": "a", "edits": EDIT}, {"file_path": "a", "edits": [EDIT]}),
        (
            EditFileArgs,
            {"file_path": "a", "edits": '[{"old_string": "a", "new_string": "b"}]'},
            {"file_path": "a", "edits": [EDIT]},
        ),
        (EditFileArgs, {"file_path": "a", **EDIT}, {"file_path": "a", "edits": [EDIT]}),
        (EditFileArgs, {"path": "a", "old_str": "a", "new_str": "b"}, {"file_path": "a", "edits": [EDIT]}),
        (
            EditFileArgs,
            {"file_path": "a", "edits": [{"oldText": "a", "newText": "b", "replaceAll": "true"}]},
            {"file_path": "a", "edits": [EDIT | {"replace_all": True}]},
        ),
        (RunCommandArgs, {"command": ["bash", "-lc", "make test"]}, {"command": "make test"}),
        (RunCommandArgs, {"command": ["ls", "a b"]}, {"command": "ls 'a b'"}),
        (RunCommandArgs, {"cmd": "ls", "workdir": "src"}, {"command": "ls", "cwd": "src"}),
        (
            SetPlanArgs,
            {"todos": ["one", {"content": "two", "status": "done"}]},
            {"steps": [{"content": "one"}, {"content": "two", "status": "completed"}]},
        ),
        (SetPlanArgs, {"plan": "- [ ] one\n- [x] two"}, {"steps": [{"content": "one"}, {"content": "two"}]}),
    ],
)
def test_arguments_take_the_form_of_the_schema(struct: type, given: dict[str, Any], expected: dict[str, Any]) -> None:
    coerced = coerce(given, struct)
    assert coerced.arguments == expected
    assert coerced.notes == []


@pytest.mark.parametrize(
    ("struct", "given", "expected", "note"),
    [
        (
            ReadFileArgs,
            {"file_path": "a.py", "color": "red"},
            {"file_path": "a.py"},
            "ignored unknown argument color; known: file_path, offset, limit, line_numbers",
        ),
        (
            ReadFileArgs,
            {"file_path": "a.py:12"},
            {"file_path": "a.py"},
            "file_path was read as a.py, without the line number",
        ),
        (
            RunCommandArgs,
            {"command": "ls", "timeout": 120_000},
            {"command": "ls", "timeout": 120},
            "timeout was read as 120 seconds",
        ),
        (
            SearchArgs,
            {"pattern": "x", "limit": 5_000},
            {"pattern": "x", "limit": 1_000},
            "limit was reduced to 1000, the maximum",
        ),
    ],
)
def test_a_note_says_what_was_ignored_or_understood_differently(
    struct: type, given: dict[str, Any], expected: dict[str, Any], note: str
) -> None:
    coerced = coerce(given, struct)
    assert coerced.arguments == expected
    assert coerced.notes == [note]


def test_the_name_of_the_schema_wins_over_its_aliases() -> None:
    coerced = coerce({"path": "b.py", "file_path": "a.py"}, ReadFileArgs)
    assert coerced.arguments == {"file_path": "a.py"}
    assert coerced.notes == ["ignored unknown argument path; known: file_path, offset, limit, line_numbers"]


@pytest.mark.parametrize(
    ("name", "arguments", "tool"),
    [
        ("read_file", {}, "read_file"),
        ("Read_File", {}, "read_file"),
        ("readFile", {}, "read_file"),
        ("functions.read_file", {}, "read_file"),
        ("read_file<|channel|>commentary", {}, "read_file"),
        ("Read", {}, "read_file"),
        ("Grep", {}, "search"),
        ("Bash", {}, "run_command"),
        ("TodoWrite", {}, "set_plan"),
        ("add_todo", {}, "set_plan"),
        ("Glob", {}, "list_files"),
        ("find_files", {}, "list_files"),
        ("find_symbol", {}, "outline"),
        ("shell", {"command": "apply_patch <<'EOF'\n*** Begin Patch\nEOF"}, "apply_patch"),
        ("delete_file", {}, "move_or_delete"),
        ("functions.move_file", {}, "move_or_delete"),
        ("str_replace_editor", {"command": "view"}, "read_file"),
        ("str_replace_based_edit_tool", {"command": "str_replace"}, "edit_file"),
    ],
)
def test_a_tool_is_found_by_the_names_models_know(name: str, arguments: dict[str, Any], tool: str) -> None:
    found = find_tool(name, arguments, TOOLS)
    assert found is not None and found.name == tool


def test_no_alias_means_two_tools() -> None:
    aliases = [alias for tool in TOOLS.values() for alias in [*tool.aliases.split(), *tool.implied]]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & set(TOOLS)


def test_an_unknown_tool_is_answered_with_the_nearest_name_and_the_list() -> None:
    assert find_tool("frobnicate", {}, TOOLS) is None
    assert describe_unknown("read_fle", ["read_file", "search"]) == (
        "unknown tool 'read_fle'. Did you mean read_file? The tools are: read_file, search."
    )


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("read_file", {"path": "a.py", "view_range": [3, 7]}, {"path": "a.py", "offset": 3, "limit": 5}),
        ("read_file", {"path": "a.py", "range": "3-7"}, {"path": "a.py", "offset": 3, "limit": 5}),
        ("read_file", {"path": "a.py", "lines": [3, -1]}, {"path": "a.py", "offset": 3}),
        ("read_file", {"path": "a.py", "start_line": 3, "end_line": 7}, {"path": "a.py", "offset": 3, "limit": 5}),
        ("read_file", {"path": "a.py", "lines": 7}, {"path": "a.py", "lines": 7}),
        ("search", {"pattern": "x", "path": "/p/src/**/*.py"}, {"pattern": "x", "path": "/p/src", "glob": "**/*.py"}),
        ("search", {"pattern": "x", "path": "*.py"}, {"pattern": "x", "path": ".", "glob": "*.py"}),
        ("search", {"pattern": ["x", "y|z"]}, {"pattern": "(?:x)|(?:y|z)"}),
        ("list_files", {"pattern": "/p/src/*.py"}, {"path": "/p/src", "pattern": "*.py"}),
        ("list_files", {"path": "src", "recursive": True}, {"path": "src", "depth": 20}),
        ("apply_patch", {"path": "a.py", "diff": "@@\n-a\n+b"}, {"patch": "*** Update File: a.py\n@@\n-a\n+b"}),
        ("edit_file", {"new_string": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}, None),
    ],
)
def test_arguments_of_similar_tools_are_translated(
    tool: str, given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    assert TOOLS[tool].adapt(given) == (given if expected is None else expected)


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("search", {}, "search: pattern is missing. Its arguments: pattern (required), path, glob,"),
        ("search", {"pattern": ""}, "search: pattern must not be empty."),
        ("read_file", {"file_path": ["a", "b"]}, "file_path must be a string, not an array; make a separate call for"),
        ("read_file", {"file_path": "a", "offset": "x"}, "read_file: offset must be an integer, not a string."),
        (
            "edit_file",
            {"file_path": "a", "edits": [{"old_string": "a"}]},
            "edits[0].new_string is missing. An item of edits has old_string (required), new_string (required)",
        ),
        ("search", {"pattern": "x", "output_mode": "json"}, "output_mode can't be 'json'; it is one of content, count"),
    ],
)
def test_an_error_says_what_is_wrong_in_the_words_of_the_schema(tool: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError) as caught:
        TOOLS[tool].read(TOOLS[tool].coerce(given).arguments)
    assert words in str(caught.value)


def test_an_error_names_no_hidden_argument() -> None:
    with pytest.raises(ToolError) as caught:
        TOOLS["set_plan"].read({})
    assert "append" not in str(caught.value)
