"""Lines to messages, and messages to lines.

Two ways in. The fast one reads a whole block of lines in one pass: calls straight into the types of the methods that
are served (`Reader`), answers in `answers`. What it refuses is read again here, line by line and loosely: unknown
methods, odd answers, batches, faults. Nothing here raises: any bytes become messages, a fault becomes `Malformed`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Union

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.errors import INVALID_REQUEST, PARSE_ERROR
from accord.rpc.glimpse import glimpse
from accord.rpc.ids import Int64, RequestId

NO_PARAMS = b"{}"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some shells put one before the first line


class Request(NamedTuple):
    """They ask and await an answer. `params` is JSON, not yet read."""

    id: RequestId
    method: str
    params: bytes


class Notification(NamedTuple):
    """They tell, and await nothing."""

    method: str
    params: bytes


class Success(msgspec.Struct, frozen=True):
    """Their answer to a request of ours. `result` is JSON, not yet read."""

    id: RequestId
    result: bytes | Raw


class Fault(msgspec.Struct, frozen=True):
    """The `error` of an answer."""

    code: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
    message: str
    data: Any | UnsetType = UNSET


class Failure(msgspec.Struct, frozen=True):
    """They answered no."""

    id: RequestId
    error: Fault


class Malformed(NamedTuple):
    """A line, or an entry of a batch, that is no message. `answer` is what the protocol says to send back.

    `stray` tells text that was never meant for the wire (a log line, a banner) from a broken message; `gathering` is
    the batch it came in; `answers` is the id of the request that it seems to answer; `head` is how it began."""

    answer: Fault
    id: RequestId
    stray: bool
    gathering: Any = None
    answers: RequestId = None
    head: str = ""


class Batch(NamedTuple):
    """Several messages in one line. The answers to its requests go back together."""

    entries: list[Request | Notification | Success | Failure | Malformed]


Message = Union[Request, Notification, Success, Failure, Malformed]


class Call(msgspec.Struct, tag_field="method", gc=False):
    """A request or notification read in one pass; each served method has a subclass with its own `params`.

    A request without an id, or a notification with one, is left to the slow reading."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str | UnsetType | None = UNSET


class Reader:
    """Reads blocks of calls of known methods in one pass. `calls` maps each class it makes to its method."""

    def __init__(self, requests: Mapping[str, Any], notifications: Mapping[str, Any]) -> None:
        self.calls: dict[type[Call], str] = {}
        for method, params in requests.items():
            self.calls[_call_class(method, params, Union[Int64, str, None])] = method
        for method, params in notifications.items():
            self.calls[_call_class(method, params, UnsetType, UNSET)] = method
        self._decoder: msgspec.json.Decoder[Call] | None = None
        if self.calls:
            self._decoder = msgspec.json.Decoder(Union[tuple(self.calls)])

    def block(self, block: bytes, lines: int) -> list[Call] | None:
        """All lines of the block as calls; None when any line is something else. `lines` is how many there are."""
        if self._decoder is None:
            return None
        try:
            calls = self._decoder.decode_lines(block)
        except Exception:  # whatever it is, the slow reading says it better
            return None
        # To the decoder a line end is a blank: it also reads two messages in one line, and one message in two. (With an
        # empty line beside them two in one pass for two; looking closer would cost every block, and harms nobody.)
        return calls if len(calls) == lines else None

    def line(self, line: bytes) -> Call | None:
        """One line as a call; None when it is something else."""
        if self._decoder is None:
            return None
        try:
            return self._decoder.decode(line)
        except Exception:
            return None


def _call_class(method: str, params: Any, *id: Any) -> type[Call]:
    field: tuple[Any, ...] = ("params", params)
    if isinstance(params, type) and issubclass(params, msgspec.Struct) and _all_optional(params):
        field = ("params", params, msgspec.field(default_factory=params))
    fields: list[Any] = [("id", *id), field]
    return msgspec.defstruct("Call", fields, bases=(Call,), tag=method, kw_only=True, gc=False)  # type: ignore[return-value]


def _all_optional(params: type[msgspec.Struct]) -> bool:
    return len(params.__struct_defaults__) == len(params.__struct_fields__) and msgspec.NODEFAULT not in (
        params.__struct_defaults__
    )


class _Loose(msgspec.Struct):
    """Any object, with the keys that JSON-RPC knows, unread."""

    jsonrpc: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_loose = msgspec.json.Decoder(_Loose)
_entries = msgspec.json.Decoder(list[Raw])
_any = msgspec.json.Decoder()
_fault = msgspec.json.Decoder(Fault)
_id = msgspec.json.Decoder(Union[Int64, str, None])
_word = msgspec.json.Decoder(str)


def read(line: bytes) -> Message | Batch | None:
    """One line as a message, or None for an empty one."""
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if not text:
        return None
    repaired = sound(text)
    if repaired is None:
        # The rest of an answer that was cut or written over: its id may still be told.
        seen = glimpse(text[:4096])
        meant_for = seen.id if seen.kind == "answer" else None
        fault = Fault(PARSE_ERROR, "Parse error: the line is not JSON")
        return Malformed(fault, None, True, None, meant_for, text[:80].decode("utf-8", "replace"))
    if repaired[:1] == b"[":
        return _read_batch(repaired)
    return _read_one(repaired)


def _read_batch(text: bytes) -> Message | Batch:
    entries = _entries.decode(text)
    if not entries:
        return Malformed(Fault(INVALID_REQUEST, "Invalid request: the batch is empty"), None, stray=False)
    # A fault inside a batch is answered with a null id, whatever the entry looked like.
    read_entries = [_read_one(bytes(entry).strip()) for entry in entries]
    return Batch([e._replace(id=None, answers=None) if isinstance(e, Malformed) else e for e in read_entries])


def _read_one(text: bytes) -> Message:
    try:
        loose = _loose.decode(text)
    except msgspec.ValidationError:
        return _invalid("a message is an object", None, stray=True)
    known_id, id = _read_id(loose.id)
    answers = loose.result is not UNSET or loose.error is not UNSET
    if _read_word(loose.jsonrpc) != "2.0":
        meant_for = id if answers and loose.method is UNSET else None
        return _invalid('"jsonrpc" must be "2.0"', id, stray=loose.jsonrpc is UNSET, answers=meant_for)
    if loose.method is not UNSET:
        return _read_call(loose, known_id, id)
    if not answers:
        return _invalid("there is no method", id, answers=id)
    if not known_id or loose.id is UNSET:
        return _invalid("an answer needs the id of its request", None)
    return _read_answer(loose, id)


def _read_call(loose: _Loose, known_id: bool, id: RequestId) -> Message:
    method = _read_word(loose.method)
    if method is None:
        return _invalid("the method is not a string", id)
    if not known_id:
        return _invalid("an id is a string or an integer", None)
    params = NO_PARAMS if loose.params is UNSET or bytes(loose.params) == b"null" else bytes(loose.params)
    if params[:1] not in (b"{", b"["):
        return _invalid("params must be an object or a list", id)
    return Notification(method, params) if loose.id is UNSET else Request(id, method, params)


def _read_answer(loose: _Loose, id: RequestId) -> Message:
    if loose.error is not UNSET and (loose.result is UNSET or bytes(loose.error) != b"null"):
        return Failure(id, _read_fault(loose.error))
    assert loose.result is not UNSET
    return Success(id, bytes(loose.result))


def _read_fault(raw: Raw) -> Fault:
    """An `error`, or as much of it as can be read."""
    try:
        return _fault.decode(raw)
    except ValueError:
        found = _any.decode(raw)
    parts = found if isinstance(found, dict) else {}
    code, message = parts.get("code"), parts.get("message")
    return Fault(
        code if isinstance(code, int) and not isinstance(code, bool) and -(2**31) <= code < 2**31 else INVALID_REQUEST,
        message if isinstance(message, str) else "the peer's error answer is malformed",
        parts.get("data", UNSET),
    )


def _read_word(raw: Raw | UnsetType) -> str | None:
    """A string; None when it is absent or something else."""
    try:
        return None if raw is UNSET else _word.decode(raw)
    except ValueError:
        return None


def _read_id(raw: Raw | UnsetType) -> tuple[bool, RequestId]:
    """Whether the id is absent or legal, and its value (None when there is none)."""
    if raw is UNSET:
        return True, None
    try:
        return True, _id.decode(raw)
    except ValueError:
        return False, None


def _invalid(why: str, id: RequestId, *, stray: bool = False, answers: RequestId = None) -> Malformed:
    return Malformed(Fault(INVALID_REQUEST, f"Invalid request: {why}"), id, stray, None, answers)


def sound(text: bytes | Raw) -> bytes | None:
    """The same JSON, readable for certain; None when it is no JSON.

    Peers that cut strings by UTF-16 unit send lone surrogates, which msgspec refuses: they become U+FFFD here. A number
    that no machine can hold becomes the largest that it can."""
    text = bytes(text)
    try:
        text.decode()
        _any.decode(text)
    except (UnicodeDecodeError, RecursionError):
        return None
    except msgspec.DecodeError as error:
        if b"\\u" not in text and not isinstance(error, msgspec.ValidationError):
            return None
        try:
            import json  # only peers that cut strings by UTF-16 unit need it

            value = json.loads(text, parse_constant=_no_constant, parse_float=_held, parse_int=_held_int)
            return msgspec.json.encode(_without_surrogates(value))
        except (ValueError, RecursionError):
            return None
    return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _held(digits: str) -> float:
    return min(max(float(digits), -sys.float_info.max), sys.float_info.max)


def _held_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= 300 else _held(digits)


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value


_encode = msgspec.json.Encoder().encode


def call_head(method: str) -> bytes:
    """What stands before the params of a notification."""
    return b'{"jsonrpc":"2.0","method":' + _encode(method) + b',"params":'


def success(id: RequestId, result: bytes) -> bytes:
    """An answer, without the line's end."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_id_text(id), result)


def failure(id: RequestId, fault: Fault) -> bytes:
    """An answer that says no, without the line's end."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_id_text(id), _encode(fault))


def _id_text(id: RequestId) -> bytes:
    return b"%d" % id if type(id) is int else _encode(id)
