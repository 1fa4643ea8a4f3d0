"""Sessions without checkpoints: one notice explains it, and everything else works."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tui_driver import Chat, Opened, collect_notifications

from accord.testing import ScriptedAgent
from accord.tui.agent.workspace import AgentWorkspace
from accord.tui.session.checkpoints import NO_REWIND
from accord.workspace.checkpoints import Checkpoints


def warnings(chat: Chat) -> list[str]:
    """Return the notices about rewinding."""
    session = chat.tab.controller.session
    assert session is not None
    notices = session.transcript.notices
    return [notice.description or "" for notice in notices if notice.title == NO_REWIND]


async def test_a_prompt_typed_during_the_start_in_the_home_directory_is_sent(
    opened: Opened, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(folders / ".local"))
    agent = ScriptedAgent()
    async with opened(agent, wait=False) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        assert warnings(chat) == ["Accord's own data is inside this directory, where an agent could change it."]
        told = collect_notifications(chat)
        await chat.tab.commands.rewind()
        assert told == [f"{NO_REWIND}: {warnings(chat)[0]}"]


async def test_without_a_writable_directory_the_session_works_and_one_notice_explains_it(
    opened: Opened, folders: Path
) -> None:
    (folders.parent / "data").write_text("this is no folder")
    async with opened(ScriptedAgent(["one"], ["two"])) as chat:
        await chat.send("first")
        await chat.until("one")
        (why,) = warnings(chat)
        assert str(folders.parent / "data" / "checkpoints") in why and "fault" not in why
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2)
        await chat.ready()
        assert warnings(chat) == []


async def test_queued_prompts_are_sent_even_if_checkpoints_fail(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(lent: AgentWorkspace, session_id: str) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(AgentWorkspace, "open_checkpoints", fail)
    async with opened(ScriptedAgent(), wait=False) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        assert "ZeroDivisionError: by nothing" in warnings(chat)[0]


async def test_a_prompt_is_sent_even_if_its_checkpoint_cannot_be_saved(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(checkpoints: Checkpoints, label: str) -> None:
        raise OSError(28, "No space left on device", "/full/00000001.json")

    monkeypatch.setattr(Checkpoints, "begin", full)
    async with opened(ScriptedAgent(["one"], ["two"])) as chat:
        await chat.send("first")
        await chat.until("one")
        await chat.send("second")
        await chat.until("two")
        assert warnings(chat) == ["/full/00000001.json: No space left on device."]


async def test_checkpoints_are_saved_in_the_configured_data_directory(opened: Opened, folders: Path) -> None:
    async with opened(ScriptedAgent(["one"])) as chat:
        await chat.send("first")
        await chat.until("one")
        assert len(list((folders.parent / "data" / "checkpoints").rglob("00000001.json"))) == 1
