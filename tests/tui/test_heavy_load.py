"""Agents that exit or send huge amounts of text: the client stays responsive and reports what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.testing import ScriptedAgent
from accord.tui.prompt.drafts import Drafts
from accord.tui.transcript.blocks.factory import Key


async def test_a_message_of_twenty_megabytes_is_shown_in_part_and_keys_work_meanwhile(opened: Opened) -> None:
    async def flood(turn: Turn) -> None:
        await turn.say("All work and no play.\n" * 1_000_000)

    async with opened(ScriptedAgent([flood])) as chat:
        await chat.send("go")
        await chat.until("All work and no play.")
        await chat.type("awake")
        assert chat.tab.editor.text == "awake"
        await chat.until("● ready")


async def test_a_tool_that_found_twenty_megabytes_opens_in_part(opened: Opened) -> None:
    async def flood(turn: Turn) -> None:
        async with turn.tool("Read everything", kind="read") as tool:
            await tool.show("A line of a very long file.\n" * 800_000)
            await tool.complete({"text": "x" * 5_000_000})
        await turn.say("that was all")

    async with opened(ScriptedAgent([flood])) as chat:
        await chat.send("go")
        await chat.until("that was all")
        await chat.press("tab", "up", "enter")
        await chat.until("A line of a very long file.")
        await chat.press("tab")
        await chat.type("awake")
        assert chat.tab.editor.text == "awake"


async def test_two_thousand_pieces_are_drawn_in_few_frames(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stream(turn: Turn) -> None:
        for number in range(2000):
            await turn.say(f"piece {number} ")

    async with opened(ScriptedAgent([stream])) as chat:
        frames = 0
        update_items = chat.tab.transcript_view.update_items  # called once per frame

        def count(changed: Iterable[Key]) -> bool:
            nonlocal frames
            frames += 1
            return update_items(changed)

        monkeypatch.setattr(chat.tab.transcript_view, "update_items", count)
        await chat.send("go")
        await chat.until("1999")
        assert frames < 400


async def test_a_failed_turn_is_reported_and_the_next_one_works(opened: Opened) -> None:
    async def fail(turn: Turn) -> None:
        raise ZeroDivisionError("oh")

    async with opened(ScriptedAgent([fail])) as chat:
        await chat.send("go")
        await chat.until("The turn failed")
        await chat.send("again")
        await chat.until("You said: again")


async def test_a_failed_turn_shows_the_agents_reason(opened: Opened) -> None:
    async def fail(turn: Turn) -> None:
        raise RequestFailed("Internal error", data={"details": "credit too low for sk-aaaaaaaaaaaaaaaa"})

    async with opened(ScriptedAgent([fail])) as chat:
        await chat.send("go")
        await chat.until("credit too low for ••••")


async def test_an_agent_that_cannot_be_started_is_explained_and_nothing_typed_is_lost(opened: Opened) -> None:
    async with opened(ScriptedAgent(), fails="there is no command 'robot' on the PATH", wait=False) as chat:
        await chat.until("there is no command 'robot'")
        await chat.type("hello")
        await chat.press("enter")
        await chat.until(lambda: chat.is_notified("Your text is saved"))
        assert chat.tab.editor.text == "hello"


async def test_ctrl_c_twice_exits_with_status_0(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.type("draft")
        await chat.press("ctrl+c", "ctrl+c")
        await asyncio.sleep(0)
        cwd = str(chat.app.host.cwd)
    assert chat.app.return_code == 0
    drafts = Drafts()
    assert drafts.claim(cwd).text == "draft"
    drafts.close()
