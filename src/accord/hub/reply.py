"""Responses to clients' requests, which outlive the connection on which the request arrived.

A resume-aware client gives each request a key. If it sends a request again after a lost connection, the request isn't
executed again: the client gets the response of the first one, as soon as there is one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.connection.dispatch import fault_of
from accord.connection.relay_connection import Outcome, RelayConnection
from accord.hub.commit_queue import CommitQueue
from accord.hub.event_log import EventLog
from accord.rpc.envelope import Failure, Fault, Success
from accord.rpc.ids import RequestId

MAX_SAVED_RESPONSES = 10_000
"""The number of responses to finished requests that are kept in memory."""


class Reply:
    """The response that one request waits for."""

    def __init__(self, replies: Replies, connection: RelayConnection, id: RequestId, method: str, key: str) -> None:
        self.connection: RelayConnection = connection
        self.id = id
        self.method = method
        self.key = key
        """Identifies the request across connections; empty for a plain client."""
        self.is_durable: bool = False
        self.on_cancel: Callable[[], None] | None = None
        """Called when the client sends `$/cancel_request`."""
        self._replies = replies
        self._outcome: Outcome | None = None

    @property
    def is_done(self) -> bool:
        return self._outcome is not None

    def succeed(self, result: bytes | Any) -> None:
        """Respond with a result: raw JSON, or a value to encode."""
        self.finish(Success(self.id, result if isinstance(result, bytes) else msgspec.json.encode(result)))

    def fail(self, error: BaseException) -> None:
        """Respond with an error."""
        self.finish(Failure(self.id, fault_of(error, self.method)))

    def finish(self, outcome: Outcome) -> None:
        """Respond, once all earlier writes are durable."""
        if self._outcome is None:
            self._outcome = outcome
            self.on_cancel = None
            self._replies.finish(self, outcome)

    def save(self, session_id: str) -> None:
        """Make the request durable, before it is executed."""
        self._replies.save(self, session_id)

    def move(self, connection: RelayConnection, id: RequestId) -> None:
        """Send the response to a request that was sent again, on another connection."""
        self.connection = connection
        self.id = id

    def cancel(self) -> None:
        """Handle `$/cancel_request`."""
        on_cancel, self.on_cancel = self.on_cancel, None  # the agent gets one cancellation, however many arrive
        if on_cancel is not None:
            on_cancel()


class Replies:
    """The open and the saved responses of a hub."""

    def __init__(self, log: EventLog, commits: CommitQueue) -> None:
        self._log = log
        self._commits = commits
        self._open: dict[str, Reply] = {}
        self._saved: OrderedDict[str, Outcome] = OrderedDict()
        self._notified: dict[str, None] = {}

    def create(self, connection: RelayConnection, id: RequestId, method: str, key: str) -> Reply | None:
        """Create the reply to a request; None if the request was sent before and its first execution will answer it."""
        if key:
            known = self._open.get(key)
            if known is not None:
                known.move(connection, id)
                return None
            outcome = self._saved.get(key) or self._find_saved(key)
            if outcome is not None:
                self._commits.then(lambda _: connection.answer(id, outcome))
                return None
        reply = Reply(self, connection, id, method, key)
        if key:
            self._open[key] = reply
        return reply

    def find_open(self, key: str) -> Reply | None:
        """Return the reply to a request that is being executed."""
        return self._open.get(key) if key else None

    def note_notification(self, key: str) -> bool:
        """Register a notification. Returns False if it was received before."""
        if key in self._notified:
            return False
        self._notified[key] = None
        if len(self._notified) > MAX_SAVED_RESPONSES:
            del self._notified[next(iter(self._notified))]
        return True

    def _find_saved(self, key: str) -> Outcome | None:
        saved = self._log.request(key)
        if saved is None:
            return None
        if saved.response is not None:
            return _decode(saved.response)
        if saved.method != "session/prompt":
            return None  # it had no effect, so it can be executed again
        return Failure(None, Fault(-32603, "the server restarted while this prompt was running", {"restarted": True}))

    def save(self, reply: Reply, session_id: str) -> None:
        """Write a request to the log."""
        if reply.key:
            reply.is_durable = True
            self._log.save_request(reply.key, reply.method, session_id)
            self._commits.touch()

    def finish(self, reply: Reply, outcome: Outcome) -> None:
        """Save the outcome of a request, and send it once it is durable."""
        if reply.key:
            del self._open[reply.key]
            self._saved[reply.key] = outcome
            if len(self._saved) > MAX_SAVED_RESPONSES:
                self._saved.popitem(last=False)
            if reply.is_durable:
                self._log.save_response(reply.key, _encode(outcome))
                self._commits.touch()
        if self._commits.error is not None and isinstance(outcome, Failure) and not reply.is_durable:
            reply.connection.answer(reply.id, outcome)  # while saving fails, errors are sent ahead of waiting messages
        else:
            self._commits.then(lambda _: reply.connection.answer(reply.id, outcome))


class _Saved(msgspec.Struct):
    result: Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET


_saved = msgspec.json.Decoder(_Saved)


def _encode(outcome: Outcome) -> bytes:
    if isinstance(outcome, Success):
        return b'{"result":%b}' % bytes(outcome.result)
    return msgspec.json.encode(_Saved(error=outcome.error))


def _decode(text: bytes) -> Outcome:
    saved = _saved.decode(text)
    if saved.error is not UNSET:
        return Failure(None, saved.error)
    assert saved.result is not UNSET
    return Success(None, bytes(saved.result))
