"""Terminals that the agent runs itself in version 1, reported in the metadata of tool calls."""

from __future__ import annotations

from typing import Any

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent

SHOWN = [{"type": "terminal", "terminalId": "c1"}]


async def call(turn: Turn, what: str = "tool_call_update", **fields: Any) -> None:
    await turn.session.update(1, {"sessionUpdate": what, "toolCallId": "call", **fields})


async def test_the_output_of_a_command_is_shown(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        info = {"terminal_info": {"terminal_id": "c1", "cwd": "/project"}}
        await call(turn, "tool_call", title="count", kind="execute", status="in_progress", content=SHOWN, _meta=info)
        await call(turn, _meta={"terminal_output_delta": {"terminal_id": "c1", "data": "number 42\n"}})
        await call(turn, status="failed", _meta={"terminal_exit": {"terminal_id": "c1", "exit_code": 3}})

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("number 42")


async def test_output_that_never_existed_is_not_reported_as_lost(opened: Opened) -> None:
    async def ask(turn: Turn) -> None:
        await call(turn, "tool_call", title="count", kind="execute", status="pending", content=SHOWN)
        await turn.say("about to run")

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until("about to run")
        assert "output of this terminal" not in chat.text
