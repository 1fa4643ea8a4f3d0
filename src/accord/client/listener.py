"""Iterators over future events of a session or an agent."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from accord.connection.backlog import Backlog
from accord.errors import UsageError

E = TypeVar("E")


class Listener(Generic[E]):
    """An async iterator over events. It buffers events that aren't read yet, so read it or close it.

    Leaving an `async with` block closes it."""

    def __init__(self, listeners: list[Listener[E]], backlog: Backlog) -> None:
        self._listeners = listeners
        self._backlog = backlog  # one counter for adding and removing, even after a reconnect
        self._events: deque[tuple[E, int]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._finished = False

    def push(self, event: E, size: int) -> None:
        self._events.append((event, size))
        self._backlog.add(size)
        self._wake()

    def finish(self) -> None:
        """End the iteration once the buffered events have been read."""
        self._finished = True
        self._wake()

    def close(self) -> None:
        """Stop listening."""
        if self in self._listeners:
            self._listeners.remove(self)
        while self._events:
            self._backlog.remove(self._events.popleft()[1])
        self.finish()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def __aenter__(self) -> Listener[E]:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __enter__(self) -> NoReturn:
            raise UsageError("events need “async with”: async with session.events() as events")

        def __exit__(self, *exc: object) -> None: ...

        def __iter__(self) -> NoReturn:
            raise UsageError("events need “async for”: async for event in events")

        def __await__(self) -> NoReturn:
            raise UsageError("events can't be awaited; write “async with session.events() as events”")

    def __aiter__(self) -> AsyncIterator[E]:
        return self

    async def __anext__(self) -> E:
        while not self._events:
            if self._finished:
                raise StopAsyncIteration
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        event, size = self._events.popleft()
        self._backlog.remove(size)
        return event
