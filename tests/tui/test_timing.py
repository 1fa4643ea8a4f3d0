"""The time that the user takes to answer doesn't count as time of a tool call."""

from __future__ import annotations

import sys

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


async def test_a_call_whose_command_is_asked_about_waits_for_the_user(opened: Opened) -> None:
    async def run(turn: Turn) -> None:
        async with (
            turn.tool("Run it", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-c", "print('hi')"]) as terminal,
        ):
            await tool.show(terminal)
            await terminal.wait()
        await turn.say("That was it.")

    async with opened(ScriptedAgent([run])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until("Run it  waiting for you")
        await chat.until("number or")
        assert chat.tab.controller.timing.waited_since(chat.tab.controller.turns.turn_began) > 0
        await chat.press("y")
        await chat.until("That was it.")
        assert "waiting for you" not in chat.text
