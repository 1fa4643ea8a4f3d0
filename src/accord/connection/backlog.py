"""Counts the received bytes that haven't been delivered, and pauses reading when there are too many.

Reading continues while one of our own calls waits for its response: the response may be behind the backlog, and the
consumer of the backlog may be the caller itself. A hard limit applies to that too; beyond it, those calls fail."""

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
        self.limit: int = limits.max_pending_bytes
        self._pause = pause
        self._resume = resume
        self._give_up = give_up
        # Hot paths change these two themselves, and call the methods only if there is more to do.
        self.bytes: int = 0
        self.calls: int = 0
        """The number of our open calls, whose responses must get through."""
        self.paused: bool = False

    def add(self, size: int) -> None:
        """Add bytes that wait to be delivered."""
        self.bytes += size
        if self.bytes > self.limit:
            self.consider_pausing()

    def remove(self, size: int) -> None:
        """Remove bytes that were delivered."""
        self.bytes -= size
        if self.paused:
            self.consider_resuming()

    def consider_resuming(self) -> None:
        """Resume reading once half of the limit has been delivered."""
        if self.bytes <= self._limits.max_pending_bytes // 2:
            self.paused = False
            self._resume()

    def resume_for_call(self) -> bool:
        """Resume reading, because the response to one of our calls must get through. Returns False if the hard limit is
        reached."""
        if self.bytes > self._limits.max_waiting_bytes:
            return False
        self.paused = False
        self._resume()
        return True

    def consider_pausing(self) -> None:
        """Pause reading because more bytes than `limit` are undelivered, unless one of our calls waits."""
        if self.calls:
            if self.bytes <= self._limits.max_waiting_bytes:
                return
            self._give_up()
        if not self.paused:
            self.paused = True
            self._pause()


class Unsent:
    """Responses that a slow peer hasn't read. They count as undelivered, so that a peer that sends requests without
    reading the responses can't fill our memory."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self._bytes = 0
        self._waiting: asyncio.Task[None] | None = None

    def add(self, waiting: Awaitable[None], size: int) -> None:
        """Add bytes that were passed to the transport; `waiting` completes when there is room again."""
        self._bytes += size
        self._backlog.add(size)
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_task(self._wait(waiting))

    async def _wait(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except (ConnectionClosed, StoreFailed):
            pass  # the peer has disconnected, or the responses were sent ahead of updates that can't be saved
        finally:
            size, self._bytes, self._waiting = self._bytes, 0, None
            self._backlog.remove(size)

    async def close(self) -> None:
        """Stop waiting."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait({self._waiting})
