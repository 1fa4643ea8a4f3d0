"""The type of the `link` fixture, and waiting for conditions and events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from accord import Agent
from accord.client.connect import Connecting
from accord.client.session import Session
from accord.testing import ScriptedAgent, ScriptedClient


class Link(Protocol):
    """Connects a client to an agent; the options are those of `connect`."""

    def __call__(self, agent: Agent, client: ScriptedClient | None = None, **options: Any) -> Connecting: ...


def script_agent(*steps: Any) -> ScriptedAgent:
    """Return an agent that answers its first prompt with these steps."""
    return ScriptedAgent(list(steps))


async def until(condition: Callable[[], Any], within: float = 300.0) -> None:
    """Wait until a condition is true, and let other tasks run."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110  # the code under test has no event to wait for
            await asyncio.sleep(0)


async def next_event(session: Session, kind: type[Any]) -> Any:
    """Return the next event of a kind in a session."""
    async with session.events() as events:
        async for event in events:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the session ended before any {kind.__name__}")
