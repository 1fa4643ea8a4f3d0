"""The command that continues the session, which is printed on exit."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent
from accord.tui.exit import describe_continuation


class Keeping(ScriptedAgent):
    """An agent that saves its sessions."""

    store = MemoryStore()


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


@pytest.fixture
def in_project(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folders)


async def test_a_session_with_messages_is_continued_as_the_newest(opened: Opened, in_project: None) -> None:
    async with opened(Keeping([repeats])) as chat:
        assert describe_continuation(chat.app) == "", "nothing was said"
        await chat.send("hello")
        await chat.until("heard: hello")
        assert describe_continuation(chat.app) == "accord -c"


async def test_the_command_names_the_session_and_another_directory(opened: Opened) -> None:
    async with opened(Keeping([repeats, repeats])) as chat:
        await chat.send("hello")
        await chat.until("heard: hello")
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2 and chat.tab.controller.session is not None)
        await chat.press("f7")
        session = chat.tab.controller.session
        assert session is not None
        expected = f"accord chat --cwd {chat.app.host.cwd} --session {session.id}"
        assert describe_continuation(chat.app) == expected


async def test_an_agent_without_saved_sessions_has_nothing_to_continue(opened: Opened, in_project: None) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("hello")
        await chat.until("heard: hello")
        assert describe_continuation(chat.app) == ""


async def test_an_unprintable_session_id_is_not_printed(opened: Opened) -> None:
    async with opened(Keeping([repeats])) as chat:
        await chat.send("hello")
        await chat.until("heard: hello")
        session = chat.tab.controller.session
        assert session is not None
        session.id = "\x1b]52;c;ZXZpbA==\x07"
        chat.app.tabs.active.controller.process.agent.offers.list = False  # type: ignore[union-attr]
        assert describe_continuation(chat.app) == ""
