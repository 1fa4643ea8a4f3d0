"""Text typed into a form isn't lost when the agent withdraws the form."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from support.tui_driver import Chat, Opened

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
    await chat.until("ctrl+s send")
    await chat.type("it [rain]s")
    await chat.press("tab")
    await chat.type("fish")


@pytest.mark.parametrize("how", ["withdrawn", "dead"])
async def test_text_typed_into_a_withdrawn_form_is_shown_in_the_transcript(opened: Opened, how: str) -> None:
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
            agent = chat.tab.controller.process.agent
            assert agent is not None
            await agent.connection.close()
        await chat.until("You had typed:")
        assert "Why: it [rain]s" in chat.text
        assert "fish" not in chat.text and "Place" not in chat.text
        assert not isinstance(chat.app.screen, FormScreen)


async def test_a_dismissed_or_untouched_form_leaves_no_notice(opened: Opened) -> None:
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
        await chat.until("esc again discards")
        screen = chat.app.screen
        assert isinstance(screen, FormScreen)
        await chat.until(lambda: screen._leaving is not None and screen._leaving.is_over)
        await chat.press("escape")
        await chat.until("And again.")
        enough.set()
        await chat.until("First cancel, then never mind.")
        assert "You had typed" not in chat.text
