"""Sessions in memory: they outlive a connection, not the process."""

from __future__ import annotations

from collections.abc import AsyncIterator

from accord.errors import InvalidParams
from accord.model.session import SessionInfo
from accord.model.statement import Statement
from accord.store.base import Page, SessionStore

PAGE = 50


class MemoryStore(SessionStore):
    """A dictionary of sessions, in the order in which they last changed."""

    def __init__(self) -> None:
        self._infos: dict[str, SessionInfo] = {}
        self._histories: dict[str, list[Statement]] = {}

    async def create(self, info: SessionInfo) -> None:
        self._infos[info.id] = info
        self._histories[info.id] = []

    async def get(self, session_id: str) -> SessionInfo | None:
        return self._infos.get(session_id)

    async def update(self, info: SessionInfo) -> None:
        if self._infos.pop(info.id, None) is not None:
            self._infos[info.id] = info

    def append(self, session_id: str, statement: Statement) -> None:
        history = self._histories.get(session_id)
        if history is not None:
            history.append(statement)

    async def history(self, session_id: str) -> AsyncIterator[Statement]:
        for statement in list(self._histories.get(session_id, ())):
            yield statement

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        found = [info for info in reversed(self._infos.values()) if _fits(info, cwd, archived)]
        start = 0
        if cursor is not None:
            ids = [info.id for info in found]
            if cursor not in ids:
                raise InvalidParams("session/list: this cursor is not known; start again without one")
            start = ids.index(cursor)
        page = found[start : start + PAGE]
        more = found[start + PAGE : start + PAGE + 1]
        return Page(sessions=page, next_cursor=more[0].id if more else None)

    async def delete(self, session_id: str) -> bool:
        self._histories.pop(session_id, None)
        return self._infos.pop(session_id, None) is not None

    async def copy(self, session_id: str, info: SessionInfo) -> None:
        self._infos[info.id] = info
        self._histories[info.id] = list(self._histories.get(session_id, ()))


def _fits(info: SessionInfo, cwd: str | None, archived: str) -> bool:
    if cwd is not None and info.cwd != cwd:
        return False
    return archived == "include" or (archived == "only") == bool(info.archived)
