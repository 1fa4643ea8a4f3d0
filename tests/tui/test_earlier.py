"""What is kept of a talk whose agent was started again, and what is not."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from chatting import Chat, Opened

from accord.testing import ScriptedAgent


async def die(chat: Chat) -> None:
    """Ends the agent, as if its process had died."""
    agent = chat.pane.talk.link.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.pane.talk.state == "gone")


async def test_an_agent_that_is_started_again_and_again_leaves_no_talks_behind(opened: Opened) -> None:
    gone: list[weakref.ref[Any]] = []
    async with opened(ScriptedAgent, size=(120, 50)) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        for _ in range(3):
            gone += [weakref.ref(chat.pane.talk), weakref.ref(chat.pane.talk.link)]
            await die(chat)
            await chat.press("ctrl+r")
            await chat.ready()
            await chat.until(lambda: chat.pane.talk.state == "idle")
            await chat.until("You said: remember the wombat")

        def are_gone() -> bool:
            gc.unfreeze()
            gc.collect()
            return not any(each() for each in gone)

        await chat.until(are_gone)
