"""What was typed and not sent is there again the next time: the draft as a draft, what waited as a queue."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from chatting import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.drafts import Drafts, Left


async def endless(turn: Turn) -> None:
    await turn.say("working on it")
    await asyncio.Event().wait()


async def test_prompts_that_waited_wait_again_after_a_restart(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second\nof two lines")
        await chat.send("third")
        chat.pane.editor.set_text("half a prompt")
        chat.app.leave()
        await chat.until(lambda: not chat.app.is_running)
    agent = ScriptedAgent()
    async with opened(agent) as chat:
        assert chat.pane.editor.text == "half a prompt"
        await chat.until("2 queued, on hold")
        chat.app.keep_drafts()  # they are kept as long as they wait, whatever becomes of this client
        chat.pane.editor.clear_text()
        assert agent.prompts == []
        await chat.press("enter")
        await chat.until("You said: third")
        assert agent.prompts == ["second\nof two lines", "third"]
        chat.app.keep_drafts()
    async with opened(ScriptedAgent()) as chat:
        assert (chat.pane.editor.text, chat.pane.talk.queue) == ("", [])


async def test_prompts_that_waited_are_not_lost_where_the_agent_does_not_start(opened: Opened, folders: Path) -> None:
    drafts = Drafts()
    drafts.keep(str(folders), Left("", ("one", "two")))
    drafts.close()
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("there is no robot")
        await chat.until("2 queued, on hold")
        chat.app.keep_drafts()
    left = Drafts()
    assert left.claim(str(folders)) == Left("", ("one", "two"))
    left.close()


async def test_a_long_draft_is_kept_to_its_last_letter(opened: Opened) -> None:
    text = "word " * 60_000 + "end"
    async with opened(ScriptedAgent()) as chat:
        chat.pane.editor.set_text(text)
        chat.app.keep_drafts()
    async with opened(ScriptedAgent()) as chat:
        assert chat.pane.editor.text == text


def test_what_several_clients_left_is_one_draft_and_one_queue(tmp_path: Path) -> None:
    first, second = Drafts(tmp_path), Drafts(tmp_path)
    first.keep("/a", Left("one", ("1",)))
    second.keep("/a", Left("two", ("2", "3")))
    first.close()
    second.close()
    heir = Drafts(tmp_path)
    assert heir.claim("/a") == Left("one\n\ntwo", ("1", "2", "3"))
    heir.close()


def test_a_draft_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    for number, content in enumerate(("{", "[]", '["/a", 5]', '["/a", "x", "y", 7]', json.dumps(["/a", "good", ""]))):
        (tmp_path / f"{number}.json").write_text(content)
    drafts = Drafts(tmp_path)
    assert drafts.claim("/a", "any") == Left("good")
    drafts.close()
