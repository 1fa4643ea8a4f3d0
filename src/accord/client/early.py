"""What came for a session before the answer that makes it known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from accord.connection.dispatch import log

MOST = 16 * 1024 * 1024
"""So many bytes of updates are kept; what comes beyond is let go."""


class Early:
    """Updates of sessions that are not known yet. They are kept only while an answer is awaited that may name them:
    at any other time a session that nobody knows is nobody's."""

    def __init__(self) -> None:
        self._awaited = 0
        self._updates: dict[str, list[Any]] = {}
        self._bytes = 0

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """While this lasts an answer may make a session known."""
        self._awaited += 1
        try:
            yield
        finally:
            self._awaited -= 1
            if not self._awaited:
                self._updates.clear()
                self._bytes = 0

    def keep(self, session_id: str, update: Any, size: int) -> None:
        if not self._awaited:
            log.debug("an update for session %s, which nobody knows", session_id[:80])
        elif self._bytes + size <= MOST:
            self._bytes += size
            self._updates.setdefault(session_id, []).append(update)

    def take(self, session_id: str) -> list[Any]:
        """What was kept for a session, in the order in which it came."""
        return self._updates.pop(session_id, [])
