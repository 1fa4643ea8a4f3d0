"""Delivery in order within a session, and independently across sessions.

Each session has a lane. A message is handled inline if its handler doesn't have to wait; otherwise it is queued in its
lane, and a worker handles the queued messages one at a time. Workers are shared: a burst over a thousand sessions wakes
one, and a blocking handler occupies one. While lanes are waiting, a worker that starts on one wakes another worker, so
no session waits for another's slow handler. There is no task per message, and none at all while handlers don't wait:
messages that were read together are handled in the same iteration of the event loop (`collecting`, `work`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from accord.connection.backlog import Backlog
from accord.transports.eager_tasks import EagerTasks

_FAIR_SHARE = 100  # items of one lane before the next lane is handled
_SPARE_WORKERS = 4

Item = tuple[Callable[[Any], Any] | None, Any, int]
"""A function, its argument, and the size of the message in bytes. A result other than None is awaited. Without a
function, the argument is awaited."""


class Lane:
    """The queued messages of one session, and whether one is being handled."""

    __slots__ = ("busy", "items", "key")

    def __init__(self, key: str | None) -> None:
        self.key: str | None = key
        self.items: deque[Item] = deque()
        self.busy: bool = False


current_lane: ContextVar[Lane | None] = ContextVar("accord_lane", default=None)
"""The lane whose handler is running, if any."""


class Lanes:
    """All lanes of a connection and the workers that empty them."""

    def __init__(self, backlog: Backlog, failed: Callable[[BaseException], None]) -> None:
        self.active: dict[str | None, Lane] = {}
        """The lanes with something queued or running, by session."""
        self.collecting: bool = False
        """Set while messages of one read are being queued: no worker is woken for them. Afterwards, reset it, and call
        `work` if any lane is `ready`."""
        self._backlog = backlog
        self._failed = failed
        self.ready: deque[Lane] = deque()
        """The lanes that no worker handles yet."""
        self._parked: deque[asyncio.Future[None]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._waking = 0
        self._eager = EagerTasks()
        self._closed = False

    def push(self, key: str | None, step: Callable[[Any], Any] | None, value: Any, size: int = 0) -> None:
        """Queue a step behind the earlier ones of its session."""
        lane = self.active.get(key)
        if lane is None:
            lane = self.active[key] = Lane(key)
        items = lane.items
        items.append((step, value, size))
        if size:
            self._backlog.add(size)
        if len(items) == 1 and not lane.busy:
            self.ready.append(lane)
            if not self._waking and not self.collecting:
                self._wake()

    def work(self) -> None:
        """Handle the queued messages inline until one has to be awaited; a worker continues from there."""
        if self.ready and not self._waking:
            try:
                worker = self._eager.start(self._drain_ready())
            except asyncio.CancelledError:
                self._wake_if_needed()
            else:
                if worker is not None:
                    self._keep(worker)

    def _wake(self) -> None:
        self._waking += 1
        while self._parked:
            parked = self._parked.popleft()
            if not parked.done():
                parked.set_result(None)
                return
        self._keep(asyncio.get_running_loop().create_task(self._work(), name="accord lane worker"))

    def _keep(self, worker: asyncio.Task[None]) -> None:
        self._workers.add(worker)
        worker.add_done_callback(self._worker_done)

    def _worker_done(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        self._wake_if_needed()

    def _wake_if_needed(self) -> None:
        """Wake a worker if a handler has cancelled its own: queued messages must not wait for the next message."""
        if self.ready and not self._waking and not self._closed:
            self._wake()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._waking -= 1
            await self._drain_ready()
            if self._closed or len(self._parked) >= _SPARE_WORKERS:
                return
            parked = loop.create_future()
            self._parked.append(parked)
            await parked

    async def _drain_ready(self) -> None:
        while self.ready:
            lane = self.ready.popleft()
            if self.ready and not self._waking:
                self._wake()
            await self._drain_lane(lane)
            if lane.items:
                await asyncio.sleep(0)  # handlers that never wait must not starve the event loop

    async def _drain_lane(self, lane: Lane) -> None:
        items, backlog = lane.items, self._backlog
        lane.busy = True
        current_lane.set(lane)
        try:
            for _ in range(_FAIR_SHARE):
                if not items:
                    break
                step, value, size = items.popleft()
                try:
                    waiting: Awaitable[Any] | None = value if step is None else step(value)
                    if waiting is not None and hasattr(waiting, "__await__"):
                        await waiting
                except asyncio.CancelledError:
                    # A handler may raise this itself; only the worker's own cancellation ends the worker.
                    if _being_cancelled():
                        raise
                except Exception as error:
                    self._failed(error)
                finally:
                    backlog.bytes -= size
                    if backlog.paused:
                        backlog.consider_resuming()
        finally:
            current_lane.set(None)
            lane.busy = False
            if items:
                self.ready.append(lane)
            else:
                del self.active[lane.key]

    async def close(self, grace: float, caller: asyncio.Task[Any] | None = None) -> None:
        """Give the workers `grace` seconds to finish the queued messages, then cancel them. The caller may be a
        handler."""
        self._closed = True
        self._eager.close()
        for parked in self._parked:
            if not parked.done():
                self._waking += 1
                parked.set_result(None)
        workers = [worker for worker in self._workers if worker is not caller]
        if workers:
            _, late = await asyncio.wait(workers, timeout=grace)
            for worker in late:
                worker.cancel()
            if late:
                await asyncio.wait(late, timeout=1)
        for lane in self.active.values():
            for step, value, _ in lane.items:
                if step is None and hasattr(value, "close"):
                    value.close()  # a coroutine that will never run
            lane.items.clear()


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
