"""Who awaits whom.

One side's view of a JSON-RPC conversation: lines in, messages out; calls in, lines out. It knows which requests are
open in either direction, drops answers that nobody awaits, gathers the answers to a batch, and understands
`$/cancel_request`. No waiting, no clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union

import msgspec
from msgspec import UNSET

from accord.errors import INVALID_REQUEST, LocalProtocolError
from accord.rpc import answers, envelope
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
    """They no longer want the answer to this request of theirs."""

    id: RequestId


class Unexpected(NamedTuple):
    """An answer to nothing we asked: a duplicate, or an id we never used. It is only reported."""

    id: RequestId
    error: Fault | None


class Answered(NamedTuple, Generic[W]):
    """Their answer, with what we noted when we asked."""

    waiter: W
    answer: Success | Failure


Incoming = Union[Call, Request, Notification, "Answered[Any]", Cancelled, Malformed, Unexpected]


def unexpected(answer: Success | Failure) -> Unexpected:
    """An answer that nobody awaits."""
    return Unexpected(answer.id, answer.error if isinstance(answer, Failure) else None)


class CancelParams(msgspec.Struct, rename="camel"):
    """The params of `$/cancel_request`."""

    request_id: Any


class _Gathering:
    """The answers to one batch, on their way."""

    __slots__ = ("answers", "missing")

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.missing = 0


class Conversation(Generic[W]):
    """The state of one connection. `W` is whatever the caller wants to find again when an answer comes."""

    def __init__(self, *, null_ids: bool = True, batches: Literal["accept", "reject"] = "accept") -> None:
        self.null_ids = null_ids
        self.batches = batches
        self.reader = Reader({}, {})
        self._next_id = 0
        self._we_await: dict[RequestId, W] = {}
        self._they_await: dict[RequestId, _Gathering | None] = {}

    # -- what comes in

    def receive(self, block: bytes) -> Iterator[Incoming]:
        """The messages of a block of lines, in order. Each is noted as it is handed out."""
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        calls = None if answers.looks_like_answer(block) else self.reader.block(block, lines)
        if calls is None:
            yield from self.receive_lines(block)
            return
        for call in calls:
            yield call if call.id is UNSET else self.note(call)

    def receive_lines(self, block: bytes) -> Iterator[Incoming]:
        """The same, one line at a time: for blocks that hold more than calls of known methods."""
        for line in block.split(b"\n"):
            if line:
                yield from self.receive_line(line)

    def take(self, answer: Success | Failure) -> W | None:
        """What we noted when we asked, now that the answer is here; None when nobody awaits it."""
        return self._we_await.pop(answer.id, None)

    def receive_line(self, line: bytes, *, is_call: bool | None = None) -> Iterator[Incoming]:
        """The messages of one line: none, one, or a batch of them.

        `is_call` False says that the quick reading as a call was tried already. What the likely quick reading refuses
        is read slowly, which understands everything."""
        message: Any = None
        if answers.looks_like_answer(line):
            message = answers.answer(line)
        elif is_call is not False:
            message = self.reader.line(line)
        if message is None:
            message = envelope.read(line)
        if message is None:
            return
        if isinstance(message, Batch):
            yield from self._open_batch(message)
        elif isinstance(message, Call):
            yield message if message.id is UNSET else self.note(message)
        else:
            noted = self._sort(message, None)
            if noted is not None:
                yield noted

    def note(self, call: Call | Request, gathering: _Gathering | None = None) -> Incoming:
        """A request of theirs: from now on they await an answer."""
        id: Any = call.id
        if id is None and not self.null_ids:
            return Malformed(Fault(INVALID_REQUEST, "Invalid request: an id must not be null"), None, stray=False)
        if id in self._they_await:
            why = f"Invalid request: a request with the id {id!r} is still open"
            return Malformed(Fault(INVALID_REQUEST, why), id, stray=False)
        self._they_await[id] = gathering
        return call

    def _sort(self, message: envelope.Message, gathering: _Gathering | None) -> Incoming | None:
        match message:
            case Request():
                return self.note(message, gathering)
            case Notification(method=method, params=params) if method == CANCEL:
                return self.cancelled_by_them(params)
            case Malformed(answers=id) if id is not None and id in self._we_await:
                # They meant to answer: whoever waits learns that it went wrong, and nobody else.
                return Answered(self._we_await.pop(id), Failure(id, message.answer))
            case Notification() | Malformed():
                return message
            case Success(id=id) | Failure(id=id):
                if id in self._we_await:
                    return Answered(self._we_await.pop(id), message)
                return unexpected(message)

    def cancelled_by_them(self, params: bytes) -> Cancelled | None:
        """What a `$/cancel_request` of theirs cancels; None when it names nothing that is open."""
        try:
            id = msgspec.json.decode(params, type=CancelParams).request_id
        except msgspec.MsgspecError:
            return None
        if isinstance(id, (int, str, type(None))) and not isinstance(id, bool) and id in self._they_await:
            return Cancelled(id)
        return None

    def _open_batch(self, batch: Batch) -> Iterator[Incoming]:
        if self.batches == "reject":
            yield Malformed(Fault(INVALID_REQUEST, "Invalid request: batches are not used here"), None, stray=False)
            return
        gathering = _Gathering()
        # Counted before the first entry is handed out: an entry may be answered before the next is read.
        gathering.missing = sum(isinstance(entry, (Request, Malformed)) for entry in batch.entries)
        for entry in batch.entries:
            message = self._sort(entry, gathering)
            if isinstance(message, Malformed):
                yield message._replace(gathering=gathering)
            elif message is not None:
                yield message

    # -- what goes out

    def request(self, method: bytes, params: bytes, waiter: W) -> tuple[int, bytes]:
        """A new request of ours, as a line. `method` and `params` are JSON already."""
        id = self._next_id
        self._next_id += 1
        self._we_await[id] = waiter
        return id, b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}\n' % (id, method, params)

    def cancel(self, id: int) -> bytes:
        """Tells them that we no longer want an answer. It may still come, and is still ours."""
        return b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}\n' % id

    def forget(self, id: RequestId) -> W | None:
        """Stops awaiting an answer; when it comes all the same it is `Unexpected`."""
        return self._we_await.pop(id, None)

    def answer(self, id: RequestId, result: bytes) -> bytes:
        """The answer to a request of theirs, as a line; nothing while a batch still misses others."""
        if type(id) is int and self._they_await.get(id, self) is None:  # the usual case, without detours
            del self._they_await[id]
            return b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (id, result)
        return self._close(id, envelope.success(id, result))

    def refuse(self, id: RequestId, fault: Fault) -> bytes:
        """The answer that says no."""
        return self._close(id, envelope.failure(id, fault))

    def complain(self, malformed: Malformed) -> bytes:
        """The answer to what was no message."""
        text = envelope.failure(malformed.id, malformed.answer)
        return self._gather(malformed.gathering, text) if malformed.gathering is not None else text + b"\n"

    def _close(self, id: RequestId, text: bytes) -> bytes:
        try:
            gathering = self._they_await.pop(id)
        except KeyError:
            raise LocalProtocolError(f"request {id!r} has been answered already, or was never asked") from None
        return text + b"\n" if gathering is None else self._gather(gathering, text)

    def _gather(self, gathering: _Gathering, text: bytes) -> bytes:
        gathering.answers.append(text)
        gathering.missing -= 1
        return b"" if gathering.missing else b"[%b]\n" % b",".join(gathering.answers)

    # -- what is open

    @property
    def they_await(self) -> list[RequestId]:
        """The requests of theirs that we still owe an answer."""
        return list(self._they_await)

    def owes(self, id: RequestId) -> bool:
        return id in self._they_await

    def awaits(self, id: RequestId) -> bool:
        return id in self._we_await

    @property
    def we_await(self) -> list[W]:
        """What we noted for each open request of ours."""
        return list(self._we_await.values())

    def end(self) -> list[W]:
        """Nothing more will come: we await nothing any more. Gives back who was waiting here.

        What they asked before may still be answered."""
        waiters = list(self._we_await.values())
        self._we_await.clear()
        return waiters
