"""Messages that arrive before the protocol version is negotiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, UnsetType

from accord.connection.backlog import Backlog
from accord.connection.dispatch import Routes
from accord.rpc.conversation import CANCEL, Conversation
from accord.rpc.envelope import Batch, Failure, Notification, Request, Success, read
from accord.rpc.ids import RequestId

_LINE_OVERHEAD_BYTES = 100
"""The memory of a buffered line besides its bytes."""


class EarlyMessages:
    """Messages before the version is negotiated.

    An agent serves only `initialize`. Everything that arrives while that is being handled is buffered, and delivered
    after its response was sent: decoded in the negotiated version, or as if it had just arrived if `initialize` failed.
    A client buffers messages until it has read the response. Buffered messages count as undelivered, so reading pauses
    if there are too many."""

    def __init__(
        self, conversation: Conversation[Any], backlog: Backlog, sort: Callable[[Any, Routes, int], None]
    ) -> None:
        self.is_buffering: bool = False
        self.initialize_id: RequestId | UnsetType = UNSET
        """The id of the `initialize` request that is being handled."""
        self.routes: Routes = Routes({})
        """The methods that are served before the version is negotiated."""
        self._conversation = conversation
        self._backlog = backlog
        self._sort = sort
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0

    @property
    def has_buffered(self) -> bool:
        return bool(self._buffered)

    def receive(self, line: bytes) -> None:
        """Handle one line. A line may change how the next one is read, so they can't be read in a block."""
        if self.is_buffering and self._must_wait(line):
            self._buffered.append(line)
            self._buffered_bytes += len(line) + _LINE_OVERHEAD_BYTES
            self._backlog.add(len(line) + _LINE_OVERHEAD_BYTES)
            return
        for message in self._conversation.receive_line(line):
            self._sort(message, self.routes, len(line))

    def release(self) -> list[bytes]:
        """Stop buffering and return the buffered lines, in order."""
        buffered, self._buffered = self._buffered, []
        size, self._buffered_bytes = self._buffered_bytes, 0
        self.is_buffering = False
        self._backlog.remove(size)
        return buffered

    def _must_wait(self, line: bytes) -> bool:
        match read(line):
            case Request():
                return True
            case Notification(method=method, params=params):
                # Only the cancellation of an open request can't wait.
                return method != CANCEL or self._conversation.read_cancellation(params) is None
            case Batch(entries=entries):
                return not any(isinstance(entry, (Success, Failure)) for entry in entries)
            case _:
                return False
