"""The face of the `link` fixture, and small things that tests of both sides need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from accord import Agent
from accord.client.connect import Connecting
from accord.client.session import Session
from accord.testing import ScriptedAgent, ScriptedClient


class Link(Protocol):
    """Joins an agent and a client; the options are those of `connect`."""

    def __call__(self, agent: Agent, client: ScriptedClient | None = None, **options: Any) -> Connecting: ...


def does(*steps: Any) -> ScriptedAgent:
    """An agent that answers its first prompt by these steps."""
    return ScriptedAgent(list(steps))


async def until(condition: Callable[[], Any], within: float = 20.0) -> None:
    """Waits until something is so, letting everyone else work meanwhile."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110  # whoever makes it so knows nothing of this test
            await asyncio.sleep(0)


async def next_event(session: Session, kind: type[Any]) -> Any:
    """The next event of a kind in a session."""
    async with session.events() as events:
        async for event in events:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the session ended before any {kind.__name__}")
