"""An invalid configuration is reported as such, without promising what doesn't work until it is fixed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.tui_driver import Opened, collect_notifications

from accord.cli.support.host import TuiHost
from accord.testing import ScriptedAgent
from accord.tui.greeting import MISCONFIGURED


def break_configuration(folders: Path, which: str, text: str = "agents = [[[ nonsense\n") -> Path:
    path = folders / "accord.toml" if which == "project" else folders.parent / "config" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("which", ["project", "user"])
async def test_the_file_and_line_of_the_error_are_shown(opened: Opened, folders: Path, which: str) -> None:
    path = break_configuration(folders, which)
    async with opened(ScriptedAgent(), wait=False, size=(200, 36)) as chat:
        await chat.until(f"{MISCONFIGURED}:")
        await chat.until(f"{path}: line 1")
        assert "Couldn't start" not in chat.text
        assert "choose another agent" not in chat.text
        told = collect_notifications(chat)
        await chat.press("ctrl+n")
        await chat.until(lambda: told)
        assert told[0].startswith(f"{MISCONFIGURED}: {path}: line 1")
        os.remove(path)
        await chat.press("ctrl+r")
        await chat.ready()


async def test_an_invalid_rule_is_reported_as_a_configuration_problem(opened: Opened, folders: Path) -> None:
    break_configuration(folders, "user", '[[permissions.rules]]\neffect = "perhaps"\n')
    async with opened(ScriptedAgent(), wait=False, size=(200, 36)) as chat:
        await chat.until(f"{MISCONFIGURED}:")
        assert "perhaps" in chat.text and "choose another agent" not in chat.text


async def test_an_agent_that_fails_for_its_own_reasons_is_reported_as_before(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("Couldn't start")
        assert "ctrl+n choose another agent" in chat.text and MISCONFIGURED not in chat.text


async def test_the_doctor_says_which_file_it_is(folders: Path) -> None:
    path = break_configuration(folders, "user")
    (found,) = [each async for each in TuiHost(folders, frozenset({1})).diagnose(None)]
    assert (found.ok, found.stage) == (False, "configuration")
    assert found.found.startswith(f"{path}: line 1") and "fix the file" in found.advice
