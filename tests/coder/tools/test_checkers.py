"""Checkers that the user configures, run after an edit."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from accord.coder.tools.base import ToolError
from accord.coder.tools.edits import checkers
from accord.coder.tools.edits.checkers import commands_for
from accord.config.settings import CoderSettings, load
from accord.policy.rule import parse_rule

from .conftest import ALLOWED, Harness, ToolHarness

FAILS = f"{sys.executable} -c 'import sys; print(\"bad\", sys.argv[1:]); sys.exit(3)' {{file}}"
SUCCEEDS = f"{sys.executable} -c 'print(\"fine\")' {{file}}"


async def configure(tools: ToolHarness, check: dict[str, str]) -> None:
    await tools.call("list_files")  # opens the session
    tools.state.settings = CoderSettings(check=check)


def test_a_name_with_shell_syntax_is_quoted_in_a_script() -> None:
    name = "a;touch x.py"
    assert commands_for(name, {"*.py": "sh -c 'check {file} | head'"}) == [["sh", "-c", f"check '{name}' | head"]]
    assert commands_for(name, {"*.py": "check --file={file}"}) == [["check", f"--file={name}"]]


@pytest.mark.parametrize(
    "script", ["check '{file}'", 'check "x/{file}"', "check {file} && check '{file}.bak'", "check \\{file}"]
)
def test_a_script_cannot_quote_the_name_again(script: str) -> None:
    """Two quotes would end each other, and the name `;rm x` would be a command."""
    with pytest.raises(ToolError, match="quoted already; remove the quotes"):
        commands_for(";rm x;.py", {"*.py": shlex.join(["sh", "-c", script])})


async def test_a_failing_checker_is_reported_with_the_edit(harness: Harness) -> None:
    async with harness() as tools:
        await configure(tools, {"*.py": FAILS, "*.md": SUCCEEDS})
        told = await tools.call("write_file", file_path="src/a.py", content="x = 1\n")
        assert told.startswith("Created src/a.py")
        assert "reports problems (exit 3):\nbad ['src/a.py']" in told
        assert "fine" not in await tools.call("write_file", file_path="b.md", content="x\n")
        told = await tools.call("edit_file", file_path="src/a.py", edits=[{"old_string": "1", "new_string": "2"}])
        assert "bad ['src/a.py']" in told
        patch = "*** Begin Patch\n*** Update File: src/a.py\n-x = 2\n+x = 3\n*** Add File: c.py\n+y = 1\n*** End Patch"
        told = await tools.call("apply_patch", patch=patch)
        assert "bad ['src/a.py']" in told and "bad ['c.py']" in told


async def test_a_file_name_is_never_an_option_or_a_command(harness: Harness) -> None:
    assert commands_for("-x.py", {"*.py": "lint {file}"}) == [["lint", "./-x.py"]]
    assert commands_for("a b;rm.py", {"*.py": "lint --to={file} 'x y'"}) == [["lint", "--to=a b;rm.py", "x y"]]
    assert commands_for("a.py", {"*.py": "lint"}) == [["lint", "a.py"]]
    assert commands_for("a.py", {"*.md": "lint {file}"}) == []
    with pytest.raises(ToolError, match=r"the checker for \*\.py is invalid"):
        commands_for("a.py", {"*.py": "lint 'x"})


@pytest.mark.parametrize("rule", ["deny", "ask"])
async def test_a_rule_against_the_command_wins(harness: Harness, rule: str) -> None:
    program = os.path.basename(sys.executable)
    async with harness(rules=(*(ALLOWED if rule == "deny" else (parse_rule("allow write:**"),)),)) as tools:
        await configure(tools, {"*.py": f'{program} -c \'open("ran", "w")\''})
        tools.state.policy.add(parse_rule(f"{rule} command:{program} *"))
        told = await tools.call("write_file", file_path="a.py", content="x = 1\n")
        assert "was not run" in told
        assert not (tools.project / "ran").exists()


async def test_a_checker_that_takes_too_long_or_is_missing_is_reported(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkers, "TIMEOUT_SECONDS", 0.2)
    async with harness() as tools:
        await configure(
            tools, {"*.py": f"{sys.executable} -c 'import time; time.sleep(600)'", "*.md": "no-such-checker"}
        )
        assert "was stopped after 0.2 s" in await tools.call("write_file", file_path="a.py", content="x = 1\n")
        assert "couldn't be run" in await tools.call("write_file", file_path="a.md", content="x\n")


async def test_the_output_of_a_checker_is_bounded(harness: Harness) -> None:
    async with harness() as tools:
        await configure(tools, {"*.py": f"{sys.executable} -c 'print(\"x\\n\" * 10_000_000)'"})
        told = await tools.call("write_file", file_path="a.py", content="x = 1\n")
        assert len(told) < 6_000


async def test_a_checker_gets_no_keys(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-12345")
    async with harness() as tools:
        await configure(
            tools, {"*.py": f"{sys.executable} -c 'import os, sys; sys.exit(str(os.environ.get(\"SOME_API_KEY\")))'"}
        )
        assert "None" in await tools.call("write_file", file_path="a.py", content="x = 1\n")


def test_a_project_sets_checkers_only_if_it_is_trusted(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('[coder.check]\n"*.md" = "prose {file}"\n')
    (tmp_path / "accord.toml").write_text('[coder.check]\n"*.py" = "evil {file}"\n')
    found: dict[bool, Any] = {
        trusted: load(tmp_path, trusted=trusted, user_file=user).settings.coder.check for trusted in (False, True)
    }
    assert found == {False: {"*.md": "prose {file}"}, True: {"*.md": "prose {file}", "*.py": "evil {file}"}}
