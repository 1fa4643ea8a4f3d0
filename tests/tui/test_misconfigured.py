"""A configuration that cannot be read is told as what it is, and nothing is promised that cannot be done without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from chatting import Opened, noted

from accord.cli.outside import Beyond
from accord.testing import ScriptedAgent
from accord.tui.greeting import MISCONFIGURED


def broken(folders: Path, which: str, text: str = "agents = [[[ nonsense\n") -> Path:
    path = folders / "accord.toml" if which == "project" else folders.parent / "config" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("which", ["project", "user"])
async def test_it_is_said_which_file_cannot_be_read_and_where(opened: Opened, folders: Path, which: str) -> None:
    path = broken(folders, which)
    async with opened(ScriptedAgent(), wait=False, size=(200, 36)) as chat:
        await chat.until(f"{MISCONFIGURED}:")
        await chat.until(f"{path}: line 1")
        assert "could not be used" not in chat.text
        assert "chooses another agent" not in chat.text
        told = noted(chat)
        await chat.press("ctrl+n")
        await chat.until(lambda: told)
        assert told[0].startswith(f"{MISCONFIGURED}: {path}: line 1")
        os.remove(path)
        await chat.press("ctrl+r")
        await chat.ready()


async def test_a_rule_that_cannot_be_read_is_told_so_too(opened: Opened, folders: Path) -> None:
    broken(folders, "user", '[[permissions.rules]]\neffect = "perhaps"\n')
    async with opened(ScriptedAgent(), wait=False, size=(200, 36)) as chat:
        await chat.until(f"{MISCONFIGURED}:")
        assert "perhaps" in chat.text and "chooses another agent" not in chat.text


async def test_an_agent_that_cannot_be_used_for_its_own_reasons_is_told_as_before(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("could not be used:")
        assert "ctrl+n chooses another agent" in chat.text and MISCONFIGURED not in chat.text


async def test_the_doctor_says_which_file_it_is(folders: Path) -> None:
    path = broken(folders, "user")
    (found,) = [each async for each in Beyond(folders, frozenset({1})).diagnose(None)]
    assert (found.ok, found.stage) == (False, "configuration")
    assert found.found.startswith(f"{path}: line 1") and "mend the file" in found.advice
