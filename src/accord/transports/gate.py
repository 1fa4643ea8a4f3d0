"""Where senders wait while the peer is slow."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Generator
from typing import Any

from accord.transports.base import READY


class Gate:
    """An awaitable that is done while the gate is open. Each waiter waits alone: cancelling one leaves the others.

    (A future that all share would be cancelled for all when one of them is.)"""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.is_open = True
        self._loop = loop
        self._waiters: deque[Future[None]] = deque()

    def __await__(self) -> Generator[Any, None, None]:
        if self.is_open:
            return READY.__await__()
        waiter: Future[None] = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter.__await__()

    def shut(self) -> None:
        """Makes those who await from now on wait."""
        self.is_open = False

    def open(self, error: Exception | None = None) -> None:
        """Lets everyone go; with an error, they get it instead."""
        self.is_open = True
        while self._waiters:
            waiter = self._waiters.popleft()
            if waiter.done():
                continue  # cancelled meanwhile
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
