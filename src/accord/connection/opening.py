"""Before the version is agreed: what may be said, and what waits.

An agent serves `initialize` alone. Whatever comes while that is being handled waits, and is read once its answer has
left: in the agreed version's words, or, when it failed, as if it had come after. A client has asked, and what the agent
says before the client has read the answer waits too. What waits counts as not delivered, so reading pauses when it is
too much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, UnsetType

from accord.connection.backlog import Backlog
from accord.connection.dispatch import Routes
from accord.rpc.conversation import CANCEL, Conversation
from accord.rpc.envelope import Batch, Failure, Notification, Request, Success, read
from accord.rpc.ids import RequestId

_COST = 100  # what keeping a line costs beside its bytes


class Opening:
    """The first part of a connection. `waiting` says that calls are to be kept for later."""

    def __init__(
        self, conversation: Conversation[Any], backlog: Backlog, sort: Callable[[Any, Routes, int], None]
    ) -> None:
        self.waiting = False
        self.asked: RequestId | UnsetType = UNSET
        """The `initialize` that is being handled."""
        self.early = Routes({})
        """What is served before the version is agreed."""
        self._conversation = conversation
        self._backlog = backlog
        self._sort = sort
        self._kept: list[bytes] = []
        self._kept_bytes = 0

    @property
    def keeps(self) -> bool:
        return bool(self._kept)

    def line(self, line: bytes) -> None:
        """One line at a time, because a line may change how the next is read."""
        if self.waiting and self._must_wait(line):
            self._kept.append(line)
            self._kept_bytes += len(line) + _COST
            self._backlog.add(len(line) + _COST)
            return
        for message in self._conversation.receive_line(line):
            self._sort(message, self.early, len(line))

    def release(self) -> list[bytes]:
        """What was kept, in order; nothing is kept any more."""
        kept, self._kept = self._kept, []
        size, self._kept_bytes = self._kept_bytes, 0
        self.waiting = False
        self._backlog.remove(size)
        return kept

    def _must_wait(self, line: bytes) -> bool:
        match read(line):
            case Request():
                return True
            case Notification(method=method, params=params):
                # Only a cancellation of what is open now cannot wait.
                return method != CANCEL or self._conversation.cancelled_by_them(params) is None
            case Batch(entries=entries):
                return not any(isinstance(entry, (Success, Failure)) for entry in entries)
            case _:
                return False
