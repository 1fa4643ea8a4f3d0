"""The state of a JSON-RPC conversation, as one side sees it: lines in, messages out; calls in, lines out.

It tracks the open requests in both directions, recognizes unexpected responses, collects the responses to a batch, and
handles `$/cancel_request`. No waiting, no clock, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union

import msgspec
from msgspec import UNSET, Raw

from accord.errors import INVALID_REQUEST, LocalProtocolError
from accord.rpc import envelope
from accord.rpc.envelope import (
    Batch,
    Call,
    Failure,
    Fault,
    Malformed,
    Notification,
    Reader,
    Request,
    Success,
)
from accord.rpc.ids import RequestId

W = TypeVar("W")

CANCEL = "$/cancel_request"


class Cancelled(NamedTuple):
    """The peer no longer wants the response to this request."""

    id: RequestId


class Unexpected(NamedTuple):
    """A response that matches no open request: a duplicate, or an unknown id. It is only reported."""

    id: RequestId
    error: Fault | None


class Answered(NamedTuple, Generic[W]):
    """The response to one of our requests, with the object that was stored for it."""

    waiter: W
    answer: Success | Failure


Incoming = Union[Call, Request, Notification, "Answered[Any]", Cancelled, Malformed, Unexpected]


def as_unexpected(answer: Success | Failure) -> Unexpected:
    """Convert a response that matches no open request."""
    return Unexpected(answer.id, answer.error if isinstance(answer, Failure) else None)


class CancelParams(msgspec.Struct, rename="camel"):
    """The params of `$/cancel_request`."""

    request_id: Any


class _BatchResponses:
    """The responses to one batch, collected until it is complete."""

    __slots__ = ("answers", "missing")

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.missing: int = 0


class Conversation(Generic[W]):
    """The state of one connection. `W` is the type of the object that is stored for each of our requests."""

    def __init__(self, *, null_ids: bool = True, batches: Literal["accept", "reject"] = "accept") -> None:
        self.null_ids = null_ids
        self.batches = batches
        self.reader: Reader = Reader({}, {})
        self._next_id = 0
        self._waiters: dict[RequestId, W] = {}
        self._peer_requests: dict[RequestId, _BatchResponses | None] = {}
        # The dicts' own methods, because these three are called for every request.
        self.pop_waiter: Callable[[RequestId, None], W | None] = self._waiters.pop
        """Remove our request with this id, and return the object that was stored for it; the second argument if there
        is none. A response that arrives anyway is `Unexpected`."""
        self.owes_response: Callable[[RequestId], bool] = self._peer_requests.__contains__
        """Return whether a request of the peer with this id is still unanswered."""
        self.awaits_response: Callable[[RequestId], bool] = self._waiters.__contains__
        """Return whether our request with this id is still unanswered."""

    # -- receiving

    def receive_line(self, line: bytes, *, is_call: bool | None = None) -> Iterator[Incoming]:
        """Read the messages of one line: none, one, or a batch.

        `is_call` False means that the fast decoding as a call has already failed. Lines that the fast decoding rejects
        are decoded by the slow path, which handles everything."""
        message: Any = None
        if envelope.looks_like_response(line):
            message = envelope.read_response(line)
        elif is_call is not False:
            message = self.reader.line(line)
        if message is None:
            message = envelope.read(line)
        if message is None:
            return
        if isinstance(message, Batch):
            yield from self._open_batch(message)
        elif isinstance(message, Call):
            yield message if message.id is UNSET else self.register(message)
        else:
            registered = self._sort(message, None)
            if registered is not None:
                yield registered

    def register(self, call: Call | Request, batch_responses: _BatchResponses | None = None) -> Incoming:
        """Register a request of the peer, to which we owe a response."""
        id: Any = call.id
        if id is None and not self.null_ids:
            return Malformed(Fault(INVALID_REQUEST, "Invalid request: an id must not be null"), None, stray=False)
        if id in self._peer_requests:
            why = f"Invalid request: a request with the id {id!r} is still open"
            return Malformed(Fault(INVALID_REQUEST, why), id, stray=False)
        self._peer_requests[id] = batch_responses
        return call

    def _sort(self, message: envelope.Message, batch_responses: _BatchResponses | None) -> Incoming | None:
        match message:
            case Request():
                return self.register(message, batch_responses)
            case Notification(method=method, params=params) if method == CANCEL:
                return self.read_cancellation(params)
            case Malformed(answers=id) if id is not None and id in self._waiters:
                # It was meant as a response: its caller gets the error.
                return Answered(self._waiters.pop(id), Failure(id, message.answer))
            case Notification() | Malformed():
                return message
            case Success(id=id) | Failure(id=id):
                if id in self._waiters:
                    return Answered(self._waiters.pop(id), message)
                return as_unexpected(message)

    def read_cancellation(self, params: bytes) -> Cancelled | None:
        """Read the params of the peer's `$/cancel_request`. Returns None if they name no open request."""
        try:
            id = msgspec.json.decode(params, type=CancelParams).request_id
        except msgspec.MsgspecError:
            return None
        if isinstance(id, float) and id.is_integer():
            id = int(id)
        if isinstance(id, (int, str, type(None))) and not isinstance(id, bool) and id in self._peer_requests:
            return Cancelled(id)
        return None

    def _open_batch(self, batch: Batch) -> Iterator[Incoming]:
        if self.batches == "reject":
            yield Malformed(Fault(INVALID_REQUEST, "Invalid request: batches are not used here"), None, stray=False)
            return
        batch_responses = _BatchResponses()
        # Count before yielding the first entry, which may be answered before the next one is read.
        batch_responses.missing = sum(isinstance(entry, (Request, Malformed)) for entry in batch.entries)
        for entry in batch.entries:
            message = self._sort(entry, batch_responses)
            if isinstance(message, Malformed):
                yield message._replace(batch_responses=batch_responses)
            elif message is not None:
                yield message

    # -- sending

    def request(self, method: bytes, params: bytes, waiter: W) -> tuple[int, bytes]:
        """Create a request, as a line. `method` and `params` must be encoded; empty params are left out."""
        id = self._next_id
        self._next_id += 1
        self._waiters[id] = waiter
        if not params:
            return id, b'{"jsonrpc":"2.0","id":%d,"method":%b}\n' % (id, method)
        return id, b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}\n' % (id, method, params)

    def cancel(self, id: int) -> bytes:
        """Create the line that cancels a request. Its response may still arrive, and is then delivered."""
        return b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}\n' % id

    def answer(self, id: RequestId, result: bytes) -> bytes:
        """Create the response to a request, as a line; empty while others of its batch are missing."""
        if type(id) is int and self._peer_requests.get(id, self) is None:  # the usual case
            del self._peer_requests[id]
            return b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (id, result)
        return self._close(id, envelope.success(id, result))

    def refuse(self, id: RequestId, fault: Fault | Raw) -> bytes:
        """Create an error response."""
        return self._close(id, envelope.failure(id, fault))

    def refuse_malformed(self, malformed: Malformed) -> bytes:
        """Create the error response to an invalid message."""
        text = envelope.failure(malformed.id, malformed.answer)
        if malformed.batch_responses is None:
            return text + b"\n"
        return self._add_to_batch(malformed.batch_responses, text)

    def _close(self, id: RequestId, text: bytes) -> bytes:
        try:
            batch_responses = self._peer_requests.pop(id)
        except KeyError:
            raise LocalProtocolError(f"request {id!r} has already been answered, or was never received") from None
        return text + b"\n" if batch_responses is None else self._add_to_batch(batch_responses, text)

    def _add_to_batch(self, batch_responses: _BatchResponses, text: bytes) -> bytes:
        batch_responses.answers.append(text)
        batch_responses.missing -= 1
        return b"" if batch_responses.missing else b"[%b]\n" % b",".join(batch_responses.answers)

    # -- open requests

    @property
    def peer_requests(self) -> list[RequestId]:
        """The ids of the peer's requests that have no response yet."""
        return list(self._peer_requests)

    @property
    def waiters(self) -> list[W]:
        """The objects stored for our open requests."""
        return list(self._waiters.values())

    def end(self) -> list[W]:
        """Remove all our open requests and return the objects stored for them: nothing more will be received. The
        peer's requests can still be answered."""
        waiters = list(self._waiters.values())
        self._waiters.clear()
        return waiters
