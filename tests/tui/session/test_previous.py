"""The remains of a session whose agent was restarted."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from support.tui_driver import Chat, Opened

from accord.testing import ScriptedAgent


async def die(chat: Chat) -> None:
    """End the agent as if its process had died."""
    agent = chat.tab.controller.process.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.tab.controller.state == "gone")


async def test_restarting_an_agent_repeatedly_leaves_no_old_sessions_in_memory(opened: Opened) -> None:
    gone: list[weakref.ref[Any]] = []
    async with opened(ScriptedAgent, size=(120, 50)) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        for _ in range(3):
            gone += [weakref.ref(chat.tab.controller), weakref.ref(chat.tab.controller.process)]
            await die(chat)
            await chat.press("ctrl+r")
            await chat.ready()
            await chat.until(lambda: chat.tab.controller.state == "idle")
            await chat.until("You said: remember the wombat")

        def are_gone() -> bool:
            gc.unfreeze()
            gc.collect()
            return not any(each() for each in gone)

        await chat.until(are_gone)
