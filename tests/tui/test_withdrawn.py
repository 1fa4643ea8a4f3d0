"""What was typed into a form is not lost when the question goes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from chatting import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.form import FormScreen

FIELDS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "title": "Why"},
        "password": {"type": "string", "title": "Word"},
        "place": {"type": "string", "title": "Place", "default": "here"},
    },
}


async def fill_in(chat: Chat) -> None:
    await chat.send("go")
    await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
    await chat.until("ctrl+s sends")
    await chat.type("it [rain]s")
    await chat.press("tab")
    await chat.type("fish")


@pytest.mark.parametrize("how", ["withdrawn", "dead"])
async def test_what_was_typed_into_a_form_is_told_when_its_question_goes(opened: Opened, how: str) -> None:
    enough = asyncio.Event()

    async def ask(turn: Turn) -> None:
        asking = asyncio.ensure_future(turn.ask("Tell me all.", FIELDS))
        await enough.wait()
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        await turn.say("Never mind.")

    async with opened(ScriptedAgent([ask])) as chat:
        await fill_in(chat)
        if how == "withdrawn":
            enough.set()
            await chat.until("Never mind.")
        else:
            agent = chat.pane.talk.link.agent
            assert agent is not None
            await agent.connection.close()
        await chat.until("You had typed:")
        assert "Why: it [rain]s" in chat.text
        assert "fish" not in chat.text and "Place" not in chat.text
        assert not isinstance(chat.app.screen, FormScreen)


async def test_nothing_is_told_of_a_form_that_was_left_or_not_touched(opened: Opened) -> None:
    enough = asyncio.Event()

    async def ask(turn: Turn) -> None:
        reply = await turn.ask("Tell me all.", FIELDS)
        asking = asyncio.ensure_future(turn.ask("And again.", FIELDS))
        await enough.wait()
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        await turn.say(f"First {reply.action}, then never mind.")

    async with opened(ScriptedAgent([ask])) as chat:
        await fill_in(chat)
        await chat.press("escape")
        await chat.until("esc again leaves it")
        screen = chat.app.screen
        assert isinstance(screen, FormScreen)
        await chat.until(lambda: screen._leaving is not None and screen._leaving.is_over)
        await chat.press("escape")
        await chat.until("And again.")
        enough.set()
        await chat.until("First cancel, then never mind.")
        assert "You had typed" not in chat.text
