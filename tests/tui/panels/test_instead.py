"""Rejecting a permission request and saying what to do instead."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent

pytestmark = pytest.mark.usefixtures("seen_at_once")


async def asks(turn: Turn) -> None:
    async with turn.tool("Delete everything", kind="delete") as tool:
        allowed = await tool.permit()
    await turn.say(f"allowed: {allowed}")


async def test_the_text_rejects_the_request_and_is_sent(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks])) as chat:
        await chat.send("go")
        await chat.until("Reject and say what to do instead (i)")
        await chat.until("number or")
        await chat.press("i")
        await chat.until("Say what to do instead")
        await chat.type("only the logs")
        await chat.press("enter")
        await chat.until("You said: only the logs")
        assert "allowed: True" not in chat.text
        await chat.gone("Say what to do instead")


async def test_escape_returns_to_the_request(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks])) as chat:
        await chat.send("go")
        await chat.until("number or")
        await chat.press("up", "enter")
        await chat.until("Say what to do instead")
        await chat.press("escape")
        await chat.gone("Say what to do instead")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("allowed: ")
