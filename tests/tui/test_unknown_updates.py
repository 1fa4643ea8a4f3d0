"""Unknown updates are counted, and the log shows which."""

from __future__ import annotations

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


async def test_unknown_updates_are_counted_and_the_log_shows_which(opened: Opened) -> None:
    async def strange(turn: Turn) -> None:
        for number in (1, 2):
            await turn.session.update(1, {"sessionUpdate": "_strange/thing", "number": number})
        await turn.say("still here")

    async with opened(ScriptedAgent([strange])) as chat:
        await chat.send("go")
        await chat.until("2 updates not supported")
        await chat.press("ctrl+l")
        await chat.until("Log of memory: everything")
        await chat.press("f9")
        await chat.until("unknown updates")
        await chat.until(lambda: len([line for line in chat.lines if "? " in line and "_strange/thing" in line]) == 2)
        assert not any("←" in line for line in chat.lines)


async def test_in_a_narrow_window_the_status_line_counts_unknown_updates(opened: Opened) -> None:
    async def strange(turn: Turn) -> None:
        await turn.session.update(1, {"sessionUpdate": "_strange/thing"})
        await turn.say("still here")

    async with opened(ScriptedAgent([strange]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("1 update not supported")
