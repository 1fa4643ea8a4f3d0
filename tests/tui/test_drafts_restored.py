"""Unsent text is restored at the next start: the draft as a draft, queued prompts as a queue."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.drafts import Drafts, Unsent


async def endless(turn: Turn) -> None:
    await turn.say("working on it")
    await asyncio.Event().wait()


async def test_queued_prompts_are_queued_again_after_a_restart(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second\nof two lines")
        await chat.send("third")
        chat.tab.editor.set_text("half a prompt")
        chat.app.leave()
        await chat.until(lambda: not chat.app.is_running)
    agent = ScriptedAgent()
    async with opened(agent) as chat:
        assert chat.tab.editor.text == "half a prompt"
        await chat.until("2 queued, on hold")
        chat.app.saved.save_drafts()  # they are kept as long as they wait, whatever becomes of this client
        chat.tab.editor.clear_text()
        assert agent.prompts == []
        await chat.press("enter")
        await chat.until("You said: third")
        assert agent.prompts == ["second\nof two lines", "third"]
        chat.app.saved.save_drafts()
    async with opened(ScriptedAgent()) as chat:
        assert (chat.tab.editor.text, chat.tab.controller.queue.waiting) == ("", [])


async def test_queued_prompts_are_not_lost_if_the_agent_does_not_start(opened: Opened, folders: Path) -> None:
    drafts = Drafts()
    drafts.save(str(folders), Unsent("", ("one", "two")))
    drafts.close()
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("there is no robot")
        await chat.until("2 queued, on hold")
        chat.app.saved.save_drafts()
    left = Drafts()
    assert left.claim(str(folders)) == Unsent("", ("one", "two"))
    left.close()


async def test_a_long_draft_is_saved_in_full(opened: Opened) -> None:
    text = "word " * 60_000 + "end"
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text(text)
        chat.app.saved.save_drafts()
    async with opened(ScriptedAgent()) as chat:
        assert chat.tab.editor.text == text


def test_drafts_of_several_clients_are_combined(tmp_path: Path) -> None:
    first, second = Drafts(tmp_path), Drafts(tmp_path)
    first.save("/a", Unsent("one", ("1",)))
    second.save("/a", Unsent("two", ("2", "3")))
    first.close()
    second.close()
    heir = Drafts(tmp_path)
    assert heir.claim("/a") == Unsent("one\n\ntwo", ("1", "2", "3"))
    heir.close()


def test_an_unreadable_draft_is_skipped(tmp_path: Path) -> None:
    for number, content in enumerate(("{", "[]", '["/a", 5]', '["/a", "x", "y", 7]', json.dumps(["/a", "good", ""]))):
        (tmp_path / f"{number}.json").write_text(content)
    drafts = Drafts(tmp_path)
    assert drafts.claim("/a", "any") == Unsent("good")
    drafts.close()
