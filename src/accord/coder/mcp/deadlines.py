"""Deadlines for MCP servers, and the timer for one call."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from accord.model.record import Record

if TYPE_CHECKING:
    from accord.agent.turn import Turn


class Deadlines(Record):
    """Time limits for a server, in seconds."""

    starting: float = 60.0
    """To start, initialize and list its tools."""
    first_prompt: float = 10.0
    """For a prompt to wait for servers that are still starting."""
    listing: float = 30.0
    """To list its tools, prompts or resources again."""
    silence: float = 300.0
    """To answer a call, or report progress. Paused while the user is asked."""


class SilenceTimer:
    """Time since the call started, or since its last progress. Paused while the user is asked."""

    def __init__(self, limit: float, turn: Turn | None = None) -> None:
        self.turn = turn
        """The turn that makes the call."""
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._asking: set[asyncio.Task[Any]] = set()

    def reset(self) -> None:
        """Start over: the server reported progress."""
        self._since = self._loop.time()

    async def while_asking(self, asking: Coroutine[Any, Any, Any], otherwise: Any) -> Any:
        """Wait for the user's answer. If the call is abandoned, so is the question; then the result is `otherwise`."""
        # A separate task: cancelling one of the SDK's would close the whole connection.
        task = asyncio.create_task(asking)
        self._asking.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            self._asking.discard(task)
            self.reset()
        return otherwise if task.cancelled() else task.result()

    async def wait_for(self, task: asyncio.Task[Any]) -> bool:
        """Wait for a task. Returns False if the time runs out first."""
        while True:
            left = self._limit if self._asking else self._since + self._limit - self._loop.time()
            done, _ = await asyncio.wait({task}, timeout=max(0.0, left))
            if done:
                return True
            if not self._asking and self._loop.time() - self._since >= self._limit:
                return False

    def stop(self) -> None:
        """End the call, and the questions asked for it."""
        for task in self._asking:
            task.cancel()
