"""All events of a session, between turns too."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from accord.transcript.events import Event

if TYPE_CHECKING:
    from accord.client.session import Session


class Listener:
    """An async iterator over everything that happens. It keeps what is not read yet, so read it or close it.

    Leaving an `async with` over it closes it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._events: deque[tuple[Event, int]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._finished = False

    def push(self, event: Event, size: int) -> None:
        self._events.append((event, size))
        self._session._agent.connection.backlog.add(size)
        self._wake()

    def finish(self) -> None:
        """Nothing more will come; what is there can still be read."""
        self._finished = True
        self._wake()

    def close(self) -> None:
        """Stops listening."""
        if self in self._session._listeners:
            self._session._listeners.remove(self)
        while self._events:
            self._session._agent.connection.backlog.remove(self._events.popleft()[1])
        self.finish()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def __aenter__(self) -> Listener:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._finished:
                raise StopAsyncIteration
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        event, size = self._events.popleft()
        self._session._agent.connection.backlog.remove(size)
        return event
