"""What a store of sessions does. An engine implements this; agents only use it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from accord.model.noun import Noun
from accord.model.session import SessionInfo
from accord.model.statement import Statement


class Page(Noun):
    """Some sessions, newest first, and where the next page begins."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class SessionStore(ABC):
    """Keeps sessions and everything said in them."""

    @abstractmethod
    async def create(self, info: SessionInfo) -> None:
        """Begins to keep a session."""

    @abstractmethod
    async def get(self, session_id: str) -> SessionInfo | None:
        """A session's entry, or None when it is not kept here."""

    @abstractmethod
    async def update(self, info: SessionInfo) -> None:
        """Keeps a session's changed entry."""

    @abstractmethod
    def append(self, session_id: str, statement: Statement) -> None:
        """Keeps one more statement of a session. Called for every update, so it must be quick."""

    @abstractmethod
    def history(self, session_id: str) -> AsyncIterator[Statement]:
        """Everything said in a session, in order."""

    @abstractmethod
    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        """A page of sessions, newest first. Raises `InvalidParams` for a cursor that was never given out."""

    @abstractmethod
    async def delete(self, session_id: str) -> bool:
        """Forgets a session; False when it was not kept."""

    @abstractmethod
    async def copy(self, session_id: str, info: SessionInfo) -> None:
        """Begins a session with the history of another."""
