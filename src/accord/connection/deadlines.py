"""When requests of ours have waited long enough.

A timer for each would cost more than the rest of a request. Those that may take equally long are too late in the order
in which they were asked, so one timer serves them all: it is set for the oldest, and set again when it rings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from accord.connection.limits import Deadline

W = TypeVar("W")


class Deadlines(Generic[W]):
    """The requests with a deadline that are open on one connection. `too_late` is told of each that missed its own."""

    def __init__(self, too_late: Callable[[W, Deadline], None]) -> None:
        self._too_late = too_late
        self._queues: dict[Deadline, _Queue[W]] = {}

    def queue(self, deadline: Deadline) -> _Queue[W]:
        """Where those wait who have this deadline: they are added, and removed once they need no more watching."""
        queue = self._queues.get(deadline)
        if queue is None:
            queue = self._queues[deadline] = _Queue(deadline, self._too_late)
        return queue

    def close(self) -> None:
        """Nobody waits any more."""
        for queue in self._queues.values():
            queue.close()


class _Queue(Generic[W]):
    """Those who may wait equally long, oldest first."""

    __slots__ = ("_deadline", "_due", "_loop", "_timer", "_too_late")

    def __init__(self, deadline: Deadline, too_late: Callable[[W, Deadline], None]) -> None:
        self._deadline = deadline
        self._too_late = too_late
        self._loop = asyncio.get_running_loop()
        self._due: dict[W, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, waiter: W) -> None:
        """Its time runs from now."""
        due = self._due[waiter] = self._loop.time() + self._deadline.seconds
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._ring)

    def remove(self, waiter: W) -> None:
        """It waits no more. The timer stays: stopping and setting it each time is what this is to spare."""
        self._due.pop(waiter, None)

    def close(self) -> None:
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        while self._due:
            waiter, due = next(iter(self._due.items()))
            if due > self._loop.time():
                self._timer = self._loop.call_at(due, self._ring)
                return
            del self._due[waiter]
            self._too_late(waiter, self._deadline)
