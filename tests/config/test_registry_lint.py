"""The rules for an entry of the ACP registry, one by one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from accord.cli.registry import registry
from accord.config.registry_lint import check_directory, check_handshake, lint

ROOT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {
    "id": "my-agent",
    "name": "My agent",
    "version": "1.0.0",
    "description": "An agent",
    "distribution": {"uvx": {"package": "my-agent==1.0.0", "args": ["acp"], "env": {"A": "b"}}},
}
ARCHIVE = {"archive": "https://example.com/a.tar.gz", "cmd": "./a"}
SILENT_AGENT = "import accord\n\n\nclass Helper(accord.Agent):\n    async def prompt(self, turn): ...\n"
ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="currentColor" stroke="none"/></svg>'


def write(folder: Path, **changes: Any) -> Path:
    """Write a good entry with some fields changed; None removes a field."""
    path = folder / "agent.json"
    entry = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    path.write_text(json.dumps(entry))
    return path


def test_a_good_entry_has_no_problems(tmp_path: Path) -> None:
    (tmp_path / "icon.svg").write_text(ICON)
    assert lint(write(tmp_path)) == []
    assert lint(write(tmp_path, license="MIT", authors=["Ada"], repository="https://a.example", icon="icon.svg")) == []


def test_the_entry_of_this_project_is_good() -> None:
    path = ROOT / "registry" / "accord" / "agent.json"
    assert [*lint(path), *check_directory(path)] == []


PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "no id": ({"id": None}, "id: missing"),
    "a capital letter": ({"id": "MyAgent"}, "id: 'MyAgent' must consist of lowercase"),
    "no name": ({"name": None}, "name: missing"),
    "an empty name": ({"name": ""}, "name: is empty"),
    "no description": ({"description": None}, "description: missing"),
    "a version of two numbers": ({"version": "1.0"}, "version: '1.0' isn't a semantic version"),
    "a number as version": ({"version": 1}, "version: must be a string"),
    "no distribution": ({"distribution": None}, "distribution: missing"),
    "an empty distribution": ({"distribution": {}}, "distribution: needs npx, uvx or binary"),
    "another distribution": ({"distribution": {"brew": {}}}, "distribution.brew: unknown"),
    "no package": ({"distribution": {"npx": {}}}, "distribution.npx.package: missing"),
    "arguments as text": (
        {"distribution": {"npx": {"package": "a", "args": "b"}}},
        "distribution.npx.args: must be a list of strings",
    ),
    "a number in the environment": (
        {"distribution": {"npx": {"package": "a", "env": {"A": 1}}}},
        "distribution.npx.env.A: must be a string",
    ),
    "two systems": (
        {"distribution": {"binary": {"linux-x86_64": ARCHIVE, "darwin-aarch64": ARCHIVE}}},
        "distribution.binary: has no archive for windows",
    ),
    "another platform": (
        {"distribution": {"binary": {"linux-arm": ARCHIVE}}},
        "distribution.binary.linux-arm: unknown platform",
    ),
    "no program": (
        {"distribution": {"binary": {"linux-x86_64": {"archive": "https://example.com/a.zip"}}}},
        "distribution.binary.linux-x86_64.cmd: missing",
    ),
    "another field": ({"licence": "MIT"}, "licence: unknown field"),
    "an author as text": ({"authors": "Ada"}, "authors: must be a list of strings"),
    "a missing icon": ({"icon": "none.svg"}, "icon: none.svg can't be read as SVG"),
}


@pytest.mark.req("V1-REG-01", "V1-REG-02", "V1-REG-03", "V1-REG-04")
@pytest.mark.parametrize(("changes", "problem"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_each_broken_rule_is_reported_with_its_field(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    found = lint(write(tmp_path, **changes))

    assert any(each.startswith(problem) for each in found), found


@pytest.mark.req("V1-REG-05")
@pytest.mark.parametrize(
    ("icon", "problem"),
    [
        (ICON.replace("16 16", "24 24"), "must be an SVG of 16×16"),
        (ICON.replace("<svg ", '<svg width="32" '), "must be an SVG of 16×16"),
        (ICON.replace("currentColor", "#ff0000"), "uses #ff0000; only currentColor and none are allowed"),
        (ICON.replace("<path ", '<path style="fill: red" '), "uses red"),
        ("not xml", "can't be read as SVG"),
    ],
)
def test_an_icon_has_16_pixels_and_the_color_of_its_text(tmp_path: Path, icon: str, problem: str) -> None:
    (tmp_path / "icon.svg").write_text(icon)

    (found,) = lint(write(tmp_path, icon="icon.svg"))

    assert problem in found


@pytest.mark.req("V1-REG-01")
def test_the_directory_is_named_after_the_id(tmp_path: Path) -> None:
    folder = tmp_path / "my-agent"
    folder.mkdir()

    assert check_directory(write(folder)) == []
    assert check_directory(write(tmp_path)) == [f"id: 'my-agent' must be the name of its directory, '{tmp_path.name}'"]


@pytest.mark.req("V1-REG-06")
def test_a_listed_agent_offers_a_login_method() -> None:
    assert check_handshake(["agent"]) == check_handshake(["terminal"]) == []
    assert "offers no login method" in check_handshake(["env_var"])[0]


def test_the_command_prints_problems_and_starts_the_agent(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(f"{SILENT_AGENT}\n\naccord.run(Helper())\n")
    path = str(write(tmp_path, version="1"))
    command = ["lint", path, "--agent", f"{sys.executable} {agent}"]

    result = CliRunner().invoke(registry, command, standalone_mode=False)

    assert result.return_value == 1
    assert result.stdout.splitlines()[0] == f"{path}: version: '1' isn't a semantic version such as 1.0.0"
    assert "offers no login method" in result.stdout.splitlines()[1]
    assert CliRunner().invoke(registry, ["lint", str(write(tmp_path))], standalone_mode=False).return_value == 0
