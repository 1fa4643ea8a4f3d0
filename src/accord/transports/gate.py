"""Back-pressure: a gate at which senders wait while the peer is slow."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Generator
from typing import Any

from accord.transports.base import READY

MAX_RELEASED = 32
"""How many waiters are released per event loop iteration.

If a thousand senders wait, the first few dozen fill the available space. Releasing all of them would wake each one
every time the gate opens, and most would find it shut again."""


class Gate:
    """An awaitable that is done while the gate is open.

    Each waiter has its own future. With a shared one, cancelling one waiter would cancel all of them."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.is_open: bool = True
        self._loop = loop
        self._waiters: deque[Future[None]] | None = None  # created on first use: most peers are never slow
        self._error: Exception | None = None

    def __await__(self) -> Generator[Any, None, None]:
        if self.is_open:
            if self._error is not None:  # it failed after `send` returned this gate and before the await
                raise self._error
            return READY.__await__()
        waiter: Future[None] = self._loop.create_future()
        if self._waiters is None:
            self._waiters = deque()
        self._waiters.append(waiter)
        return waiter.__await__()

    def shut(self) -> None:
        """Close the gate for new waiters."""
        self.is_open = False

    def open(self, error: Exception | None = None) -> None:
        """Release waiters in order until the gate is shut again. With an error, all get it at once."""
        self.is_open, self._error = True, error
        if error is None:
            self._release_waiters()
            return
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():  # otherwise it was cancelled
                waiter.set_exception(error)

    def _release_waiters(self) -> None:
        released = 0
        while self._waiters and self.is_open:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                released += 1
                if released == MAX_RELEASED:
                    self._loop.call_soon(self._release_waiters)
                    return
