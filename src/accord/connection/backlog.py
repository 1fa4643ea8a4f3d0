"""Counts what was received and not yet delivered, and pauses reading when it is too much.

Reading goes on all the same while one of our own calls awaits its answer: the answer may lie behind the backlog, and
whoever should consume it may be the one who waits. That has a hard limit too; past it those calls fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from accord.connection.limits import Limits
from accord.errors import ConnectionClosed, StoreFailed


class Backlog:
    """The undelivered bytes of one connection."""

    def __init__(
        self, limits: Limits, pause: Callable[[], None], resume: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        self._limits = limits
        self._most = limits.max_pending_bytes
        self._pause = pause
        self._resume = resume
        self._give_up = give_up
        self._calls = 0
        self.bytes = 0
        self.paused = False

    def add(self, size: int) -> None:
        """So many bytes were received and wait to be delivered."""
        self.bytes += size
        if self.bytes > self._most:
            self._consider()

    def remove(self, size: int) -> None:
        """So many bytes were delivered."""
        self.bytes -= size
        if self.paused:
            self.consider_resuming()

    def consider_resuming(self) -> None:
        """Reads again once half of what may wait has been delivered."""
        if self.bytes <= self._limits.max_pending_bytes // 2:
            self.paused = False
            self._resume()

    def call_opened(self) -> bool:
        """One of our calls awaits an answer that must get through. False, and no call, when nothing can any more."""
        if self.paused:
            if self.bytes > self._limits.max_waiting_bytes:
                return False
            self.paused = False
            self._resume()
        self._calls += 1
        return True

    def call_closed(self) -> None:
        self._calls -= 1
        if not self._calls and self.bytes > self._limits.max_pending_bytes:
            self._consider()

    def _consider(self) -> None:
        if self._calls:
            if self.bytes <= self._limits.max_waiting_bytes:
                return
            self._give_up()
        if not self.paused:
            self.paused = True
            self._pause()


class Unsent:
    """Answers that a slow peer does not take. Whoever asks on without reading must not fill our memory: what it has not
    taken counts as not delivered."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self._bytes = 0
        self._waiting: asyncio.Task[None] | None = None

    def stuck(self, waiting: Awaitable[None], size: int) -> None:
        """So many bytes were handed over, and `waiting` ends when there is room again."""
        self._bytes += size
        self._backlog.add(size)
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_task(self._wait(waiting))

    async def _wait(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except (ConnectionClosed, StoreFailed):
            pass  # nobody takes them any more, so nobody asks either; or they went past what could not be kept
        finally:
            size, self._bytes, self._waiting = self._bytes, 0, None
            self._backlog.remove(size)

    async def close(self) -> None:
        """Nothing waits any more."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait({self._waiting})
