"""A store in memory: sessions survive a connection, but not the process."""

from __future__ import annotations

from collections.abc import AsyncIterator

from accord.errors import LocalProtocolError
from accord.model.session import SessionInfo
from accord.model.statement import Statement
from accord.store import cursor as cursors
from accord.store.base import PAGE, Page, SessionStore


class MemoryStore(SessionStore):
    """A dictionary of sessions, in the order in which they last changed."""

    def __init__(self) -> None:
        self._infos: dict[str, tuple[int, SessionInfo]] = {}  # with the number of the last change
        self._histories: dict[str, list[Statement]] = {}
        self._changes = 0
        self._salt = hex(id(self))

    async def create(self, info: SessionInfo) -> None:
        if info.id in self._infos:
            raise LocalProtocolError(f"session {info.id} already exists; use another id")
        self._put(info)
        self._histories[info.id] = []

    async def get(self, session_id: str) -> SessionInfo | None:
        found = self._infos.get(session_id)
        return None if found is None else found[1]

    async def update(self, info: SessionInfo) -> None:
        if self._infos.pop(info.id, None) is not None:
            self._put(info)

    def append(self, session_id: str, statement: Statement) -> None:
        history = self._histories.get(session_id)
        if history is not None:
            history.append(statement)

    async def history(self, session_id: str) -> AsyncIterator[Statement]:
        for statement in list(self._histories.get(session_id, ())):
            yield statement

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        upto = self._changes if cursor is None else cursors.decode(cursor, self._salt)
        found = [
            (change, info)
            for change, info in reversed(self._infos.values())
            if change <= upto and _fits(info, cwd, archived)
        ]
        following = cursors.encode(found[PAGE][0], self._salt) if len(found) > PAGE else None
        return Page(sessions=[info for _, info in found[:PAGE]], next_cursor=following)

    async def delete(self, session_id: str) -> bool:
        self._histories.pop(session_id, None)
        return self._infos.pop(session_id, None) is not None

    async def copy(self, session_id: str, info: SessionInfo) -> None:
        history = list(self._histories.get(session_id, ()))
        await self.create(info)
        self._histories[info.id] = history

    def _put(self, info: SessionInfo) -> None:
        self._changes += 1
        self._infos[info.id] = (self._changes, info)


def _fits(info: SessionInfo, cwd: str | None, archived: str) -> bool:
    if cwd is not None and info.cwd != cwd:
        return False
    return archived == "include" or (archived == "only") == bool(info.archived)
