"""Forms that an agent withdraws while another screen is above them."""

from __future__ import annotations

import asyncio
from typing import Any

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.form import FormScreen
from accord.tui.screens.keys import KeysScreen

FIELDS: dict[str, Any] = {"type": "object", "properties": {"sure": {"type": "string"}}}


async def test_withdrawing_a_form_keeps_the_screen_above_it_open(opened: Opened) -> None:
    is_enough = asyncio.Event()

    async def ask(turn: Turn) -> None:
        asking = asyncio.ensure_future(turn.ask("Are you sure?", FIELDS))
        await is_enough.wait()
        asking.cancel()
        await turn.say("never mind")

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        chat.app.action_keys()
        await chat.until(lambda: isinstance(chat.app.screen, KeysScreen))
        is_enough.set()
        await chat.until(lambda: chat.tab.controller.state == "idle")
        assert isinstance(chat.app.screen, KeysScreen)
        await chat.press("escape")
        await chat.until(lambda: len(chat.app.screen_stack) == 1)
        await chat.press("escape", "x")
        await chat.until(lambda: chat.tab.editor.text == "x")
