"""Updates that arrive before the response that names their session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from accord.connection.dispatch import log

MAX_EARLY_BYTES = 16 * 1024 * 1024
"""Early updates beyond this size are dropped."""


class EarlyUpdates:
    """Updates of sessions that aren't known yet, because the response that names them hasn't arrived.

    They are buffered only while such a response is pending. At any other time an unknown session stays unknown."""

    def __init__(self) -> None:
        self._pending = 0
        self._updates: dict[str, list[Any]] = {}
        self._bytes = 0

    @contextmanager
    def buffering(self) -> Iterator[None]:
        """Buffer updates while a response may name a new session."""
        self._pending += 1
        try:
            yield
        finally:
            self._pending -= 1
            if not self._pending:
                self._updates.clear()
                self._bytes = 0

    def add(self, session_id: str, update: Any, size: int) -> None:
        if not self._pending:
            log.debug("received an update for the unknown session %s", session_id[:80])
        elif self._bytes + size <= MAX_EARLY_BYTES:
            self._bytes += size
            self._updates.setdefault(session_id, []).append(update)

    def take(self, session_id: str) -> list[Any]:
        """Remove and return the updates of a session, in order."""
        return self._updates.pop(session_id, [])
