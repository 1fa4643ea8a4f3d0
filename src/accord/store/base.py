"""The interface of a session store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable

from accord.model.record import Record
from accord.model.session import Option, SessionInfo
from accord.model.statement import SetOptions, Statement

PAGE = 50
"""The number of sessions on a page."""


class Page(Record):
    """A page of sessions, newest first, with a cursor for the next page."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class SessionStore(ABC):
    """Saves sessions and their statements."""

    durable: bool = False
    """Whether statements must be saved before they are sent: then `save` is called first."""
    unsaved: bool = False
    """Whether anything was appended since the last `save`."""

    @abstractmethod
    async def create(self, info: SessionInfo) -> None:
        """Add a session. Raises `LocalProtocolError` if the id exists."""

    @abstractmethod
    async def get(self, session_id: str) -> SessionInfo | None:
        """Return the entry of a session, or None if it isn't stored."""

    @abstractmethod
    async def update(self, info: SessionInfo) -> None:
        """Replace the entry of a session, which makes it the newest. Ignores sessions that aren't stored."""

    @abstractmethod
    def append(self, session_id: str, statement: Statement) -> None:
        """Add a statement to a session. Called for every update, so it must be fast."""

    def save(self) -> Awaitable[None] | None:
        """Save the appended statements. None means that they are saved; otherwise, await the result.

        Raises `StoreFailed`, now or when awaited, if that fails. In that case nothing is lost, and it can be retried.
        Called before anything is sent to the client, so it must be fast."""
        return None

    @abstractmethod
    def history(self, session_id: str) -> AsyncIterator[Statement]:
        """Yield all statements of a session in order."""

    async def options(self, session_id: str) -> list[Option]:
        """Return the last options of a session."""
        last: list[Option] = []
        async for statement in self.history(session_id):
            if isinstance(statement, SetOptions):
                last = statement.options
        return last

    @abstractmethod
    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        """Return a page of sessions, newest first. Raises `InvalidParams` for an unknown cursor.

        Changes between two calls don't shift the pages: an unchanged session is never missed or repeated."""

    @abstractmethod
    async def delete(self, session_id: str) -> bool:
        """Delete a session. Returns False if it wasn't stored."""

    @abstractmethod
    async def copy(self, session_id: str, info: SessionInfo) -> None:
        """Add a session with a copy of another one's history."""

    async def close(self) -> None:
        """Save unsaved statements and release resources. The store can be used again afterwards."""
