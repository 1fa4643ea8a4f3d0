"""What a store of sessions does. An engine implements this; agents only use it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable

from accord.model.noun import Noun
from accord.model.session import Option, SessionInfo
from accord.model.statement import OptionsAre, Statement

PAGE = 50
"""How many sessions a page has."""


class Page(Noun):
    """Some sessions, newest first, and where the next page begins."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class SessionStore(ABC):
    """Keeps sessions and everything said in them."""

    durable: bool = False
    """Whether what was appended must be saved before the client may see it: `save` is then called in between."""
    unsaved: bool = False
    """Whether anything was appended since the last `save`."""

    @abstractmethod
    async def create(self, info: SessionInfo) -> None:
        """Begins to keep a session. Raises `LocalProtocolError` when one of this id is kept already."""

    @abstractmethod
    async def get(self, session_id: str) -> SessionInfo | None:
        """A session's entry, or None when it is not kept here."""

    @abstractmethod
    async def update(self, info: SessionInfo) -> None:
        """Keeps a session's changed entry, which then is the newest. One that is not kept is left alone."""

    @abstractmethod
    def append(self, session_id: str, statement: Statement) -> None:
        """Keeps one more statement of a session. Called for every update, so it must be quick."""

    def save(self) -> Awaitable[None] | None:
        """Makes durable what was appended. None says that it is; else it is once this has been awaited.

        Raises `StoreFailed` (now, or from the awaiting) when it cannot be done; nothing is lost then, and it may be
        tried again. Called before anything leaves for the client, so it must be quick."""
        return None

    @abstractmethod
    def history(self, session_id: str) -> AsyncIterator[Statement]:
        """Everything said in a session, in order."""

    async def options(self, session_id: str) -> list[Option]:
        """A session's options as they were last told."""
        last: list[Option] = []
        async for statement in self.history(session_id):
            if isinstance(statement, OptionsAre):
                last = statement.options
        return last

    @abstractmethod
    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        """A page of sessions, newest first. Raises `InvalidParams` for a cursor that was never given out.

        What changes between two pages does not shift the second: none that stays as it is is missed or repeated."""

    @abstractmethod
    async def delete(self, session_id: str) -> bool:
        """Forgets a session; False when it was not kept."""

    @abstractmethod
    async def copy(self, session_id: str, info: SessionInfo) -> None:
        """Begins a session with the history of another."""

    async def close(self) -> None:
        """Saves what is unsaved, and lets go of whatever the store holds. It may be used again afterwards."""
