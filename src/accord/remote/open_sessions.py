"""The sessions that are open in a client, with the position of each in the server's event log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.remote.message import (
    AFTER,
    KEY,
    NOTHING_SEEN,
    Cursor,
    Fields,
    Params,
    read_cursor,
    read_text,
)
from accord.remote.sent_messages import SentMessage

_SETUP = (
    "cwd",
    "mcpServers",
    "additionalDirectories",
)  # fields that `session/resume` repeats from the request that opened it
_MAX_UNOPENED = 256


class OpenSession:
    """A session that is open here."""

    def __init__(self, id: str, params: Fields) -> None:
        """`params` are those of the request that opened it."""
        self.id = id
        self.setup: Fields = read_setup(params)
        self.cursor: Cursor = NOTHING_SEEN
        self.is_open = False
        """Whether a response has confirmed it."""
        self.load: SentMessage | None = None
        """An unanswered request that replays its history, in which case earlier events are expected again."""
        self.has_replayed: bool = False
        """Whether the first part of that history has arrived."""
        self.is_resetting = False
        """Whether a snapshot is being received."""
        self.is_muted = False
        """Whether that snapshot is dropped."""

    def accept(self, cursor: Cursor) -> bool:
        """Record an event; return False if it was received before."""
        if cursor.epoch == self.cursor.epoch and cursor.number <= self.cursor.number:
            if self.load is None:
                return False
            self.has_replayed = True
        elif not self.is_open:
            self.has_replayed = True
        self.cursor = cursor
        return True

    def note_result(self, result: Fields) -> None:
        """Record the cursor in the result of a request that opened or resumed the session."""
        cursor = read_cursor(read_text(result, "_meta", "accord/cursor") or read_text(result, "cursor"))
        if cursor is not None and (cursor.epoch != self.cursor.epoch or cursor.number > self.cursor.number):
            self.cursor = cursor

    def resume_params(self, version: int, key: str) -> dict[str, Any]:
        """Return the params of `session/resume` for the events after the last one that was received."""
        after = "" if self.cursor is NOTHING_SEEN else str(self.cursor)
        meta: dict[str, Any] = {KEY: key}
        params: dict[str, Any] = {"sessionId": self.id, **self.setup}
        if version == 1:
            params["mcpServers"] = self.setup.get("mcpServers", [])
            meta[AFTER] = after
        else:
            params["replayFrom"] = {"type": "_accord.event", "id": after}
        return {**params, "_meta": meta}


class OpenSessions:
    """The open sessions by their ids, and others whose events arrive although they weren't opened here."""

    def __init__(self) -> None:
        self._sessions: dict[str, OpenSession] = {}
        self._unopened: dict[str, OpenSession] = {}  # subagents, and events before the response to `session/new`

    def __iter__(self) -> Iterator[OpenSession]:
        return iter(self._sessions.values())

    def get(self, id: str) -> OpenSession | None:
        """Return an open session."""
        return self._sessions.get(id)

    def add(self, id: str, params: Fields) -> OpenSession:
        """Add a session that the client opens, by the params of its request."""
        session = self._sessions[id] = OpenSession(id, params)
        return session

    def add_created(self, id: str, params: Fields) -> OpenSession:
        """Add a session that the server has created. Its events may have arrived before the response."""
        session = self._sessions[id] = self._find_unopened(id)
        del self._unopened[id]
        session.setup = read_setup(params)
        return session

    def remove(self, id: str) -> None:
        """Forget a session that was closed."""
        self._sessions.pop(id, None)

    def accept(self, params: Params) -> bool:
        """Record the cursor of an event; return False if it was received before."""
        if params.meta is None or not params.meta.cursor or params.session_id is None:
            return True
        cursor = read_cursor(params.meta.cursor)
        if cursor is None:
            return True
        session = self._sessions.get(params.session_id) or self._find_unopened(params.session_id)
        return session.accept(cursor) and not session.is_muted

    def _find_unopened(self, id: str) -> OpenSession:
        session = self._unopened.get(id)
        if session is None:
            if len(self._unopened) >= _MAX_UNOPENED:
                del self._unopened[next(iter(self._unopened))]
            session = self._unopened[id] = OpenSession(id, {})
        return session


def read_setup(params: Fields) -> Fields:
    """Return the params that `session/resume` repeats."""
    return {name: params[name] for name in _SETUP if name in params}
