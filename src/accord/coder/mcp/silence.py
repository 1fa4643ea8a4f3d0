"""How long servers may take, and how long one has been silent during a call."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from accord.model.noun import Noun

if TYPE_CHECKING:
    from accord.agent.turn import Turn


class Deadlines(Noun):
    """How long a server may take, in seconds."""

    starting: float = 60.0
    """To be started, to say hello and to list what it has."""
    first_prompt: float = 10.0
    """How long a prompt waits for servers that are still starting."""
    listing: float = 30.0
    """To list what it has, once it runs."""
    silence: float = 300.0
    """To answer a call, or to say that it goes on with it. Nothing counts while the user is being asked."""


class Silence:
    """Counts from the call, and again from each sign of life; not while the user is being asked."""

    def __init__(self, limit: float, turn: Turn | None = None) -> None:
        self.turn = turn
        """In whose course the call is made."""
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._asking: set[asyncio.Task[Any]] = set()

    def broken(self) -> None:
        """The server said something."""
        self._since = self._loop.time()

    async def while_asking(self, asking: Coroutine[Any, Any, Any], otherwise: Any) -> Any:
        """What the user answered. Giving up the call gives up the question too: then it is `otherwise`."""
        # A task of its own: cancelling one of the SDK's would take the whole connection down.
        task = asyncio.create_task(asking)
        self._asking.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            self._asking.discard(task)
            self.broken()
        return otherwise if task.cancelled() else task.result()

    async def waits_for(self, task: asyncio.Task[Any]) -> bool:
        """Whether a task ends before the silence has lasted too long."""
        while True:
            left = self._limit if self._asking else self._since + self._limit - self._loop.time()
            done, _ = await asyncio.wait({task}, timeout=max(0.0, left))
            if done:
                return True
            if not self._asking and self._loop.time() - self._since >= self._limit:
                return False

    def over(self) -> None:
        """The call is over, and so is whatever was asked for its sake."""
        for task in self._asking:
            task.cancel()
