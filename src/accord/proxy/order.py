"""Keeps the messages of each session in order while handlers decide about some of them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

import msgspec

from accord.schema.shape import UNSET, UnsetType


class _Params(msgspec.Struct, rename="camel"):
    session_id: str | UnsetType = UNSET


_params = msgspec.json.Decoder(_Params)
OVERHEAD = 500
"""The memory of a waiting message besides its params, in bytes."""
EVERYTHING = "\ud800"
"""A key for all sessions. It can't equal a session id, because JSON with a lone surrogate isn't decoded."""


def session_of(params: bytes) -> str:
    """Return the session id of params; empty if they have none."""
    try:
        found = _params.decode(params).session_id if params else UNSET
    except (ValueError, RecursionError):
        return ""
    return "" if found is UNSET else found


class MessageOrder:
    """The messages of one direction that wait behind a handler, by session id.

    A handler holds its session until it has decided. Other sessions continue. Messages without a session id are treated
    like messages of one additional session."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.queued_bytes: int = 0
        self._on_change = on_change
        self._holds: Counter[str] = Counter()
        self._queues: dict[str, deque[tuple[int, Callable[[], None]]]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether nothing is held, so that every message can pass."""
        return not self._holds and not self._queues

    def add(self, key: str, size: int, action: Callable[[], None]) -> None:
        """Call `action` when it is its turn: now, or behind the handler that holds the session."""
        if key not in self._queues and not self._is_held(key):
            action()
            return
        size += OVERHEAD
        self._queues.setdefault(key, deque()).append((size, action))
        self.queued_bytes += size
        self._on_change()

    def hold(self, key: str) -> None:
        """Make later messages of this session wait."""
        self._holds[key] += 1

    def release(self, key: str) -> None:
        """Undo one `hold`, and let messages pass until the next hold."""
        self._holds[key] -= 1
        if not self._holds[key]:
            del self._holds[key]
        for waiting in list(self._queues) if key == EVERYTHING else [key]:
            self._pass(waiting)
        self._on_change()

    def _is_held(self, key: str) -> bool:
        return key in self._holds or EVERYTHING in self._holds

    def _pass(self, key: str) -> None:
        queue = self._queues.get(key)
        while queue and not self._is_held(key):
            size, action = queue.popleft()
            self.queued_bytes -= size
            action()
        if queue is not None and not queue:
            self._queues.pop(key, None)
