"""Decode JSON-RPC messages from lines, and encode them to lines.

There are two ways to decode. The fast one decodes a whole block of lines in one pass: calls straight into the types of
the served methods (`Reader`), and responses (`read_responses`). Lines that it rejects are decoded again by `read`, one
by one and leniently: unknown methods, unusual responses, batches, invalid messages. Nothing here raises: invalid input
becomes `Malformed`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.errors import INVALID_REQUEST, PARSE_ERROR
from accord.rpc.fragment import read_fragment
from accord.rpc.ids import Int64, RequestId, WrittenId, read_id

NO_PARAMS = b"{}"
_ID_SEARCH_BYTES = 4096  # bytes of a broken message that are searched for its id
_FULL_SEARCH_BYTES = 1024 * 1024  # messages up to this size are searched completely
_OBJECT = re.compile(rb'\{\s*"')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some shells write one before the first line


class Request(NamedTuple):
    """A request of the peer. `params` is JSON, not decoded yet."""

    id: RequestId
    method: str
    params: bytes


class Notification(NamedTuple):
    """A notification of the peer. `params` is JSON, not decoded yet."""

    method: str
    params: bytes


class Success(msgspec.Struct, frozen=True):
    """The result of one of our requests. `result` is JSON, not decoded yet."""

    id: RequestId
    result: bytes | Raw


class Fault(msgspec.Struct, frozen=True):
    """The `error` of a response."""

    code: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
    message: str
    data: Any | UnsetType = UNSET


class Failure(msgspec.Struct, frozen=True):
    """An error response to one of our requests."""

    id: RequestId
    error: Fault
    raw: bytes = b""
    """The `error` as it was received, for relays that pass it on; empty if unknown."""


class Malformed(NamedTuple):
    """A line or batch entry that isn't a valid message. `answer` is the error to send back.

    `stray` is true for stray output (a log line, a banner) and false for a broken message. `batch_responses` belongs to
    its batch, `answers` is the id of the request that it seems to answer, `head` its beginning. A `silent` one was a
    notification, which is never answered."""

    answer: Fault
    id: RequestId
    stray: bool
    batch_responses: Any = None
    answers: RequestId = None
    head: str = ""
    silent: bool = False


class Batch(NamedTuple):
    """Several messages in one line. The responses to its requests are sent together."""

    entries: list[Request | Notification | Success | Failure | Malformed]


Message = Union[Request, Notification, Success, Failure, Malformed]


class Call(msgspec.Struct, tag_field="method", gc=False):
    """A request or notification decoded in one pass. Each served method has a subclass with its own `params`.

    A request without an id, or a notification with one, is left to the slow path."""

    jsonrpc: Literal["2.0"]
    if TYPE_CHECKING:
        id: Any
        params: Any
    else:
        id: Int64 | str | UnsetType | None = UNSET


class Reader:
    """Decodes blocks of calls of known methods in one pass. `calls` maps each class to its method."""

    def __init__(self, requests: Mapping[str, Any], notifications: Mapping[str, Any]) -> None:
        self.calls: dict[type[Call], str] = {}
        for method, params in requests.items():
            self.calls[_call_class(method, params, Union[Int64, str, None])] = method
        for method, params in notifications.items():
            self.calls[_call_class(method, params, UnsetType, UNSET)] = method
        self._decoder: msgspec.json.Decoder[Call] | None = None
        if self.calls:
            self._decoder = _decoder_of(tuple(self.calls))

    def block(self, block: bytes, lines: int) -> list[Call] | None:
        """Decode all lines of a block as calls; None if any line is something else. `lines` is their number."""
        if self._decoder is None:
            return None
        try:
            calls = self._decoder.decode_lines(block)
        except Exception:  # the slow path has better error messages
            return None
        # To the decoder, a line end is just white space, so it also accepts two messages in one line and one message in
        # two. (Two in one line next to an empty line pass as two; a closer check would slow down every block.)
        return calls if len(calls) == lines else None

    def line(self, line: bytes) -> Call | None:
        """Decode one line as a call; None if it is something else."""
        if self._decoder is None:
            return None
        try:
            return self._decoder.decode(line)
        except Exception:
            return None


# A server has a reader for each of its connections, and they are alike: together these take 20 kB.
@cache
def _decoder_of(calls: tuple[type[Call], ...]) -> msgspec.json.Decoder[Call]:
    return msgspec.json.Decoder(Union[calls])


@cache
def _call_class(method: str, params: Any, *id: Any) -> type[Call]:
    field: tuple[Any, ...] = ("params", params)
    if isinstance(params, type) and issubclass(params, msgspec.Struct) and _all_optional(params):
        field = ("params", params, msgspec.field(default_factory=params))
    fields: list[Any] = [("id", *id), field]
    call: type[Any] = msgspec.defstruct("Call", fields, bases=(Call,), tag=method, kw_only=True, gc=False)
    return call


def _all_optional(params: type[msgspec.Struct]) -> bool:
    return len(params.__struct_defaults__) == len(params.__struct_fields__) and msgspec.NODEFAULT not in (
        params.__struct_defaults__
    )


class _Loose(msgspec.Struct):
    """Any object, with the keys of JSON-RPC not decoded yet."""

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
_string = msgspec.json.Decoder(str)


def read(line: bytes) -> Message | Batch | None:
    """Decode one line; None if it is empty."""
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if not text:
        return None
    repaired = repair_json(text)
    if repaired is None:
        if _is_too_deep(text):
            return _unreadable(text, "Invalid request", "is nested too deeply")
        return _read_almost_json(text)
    if repaired[:1] == b"[":
        return _read_batch(repaired)
    return _read_one(repaired)


def _not_json(text: bytes) -> Malformed:
    # Perhaps a truncated or overwritten response, whose id can still be found.
    seen = read_fragment(text[:_ID_SEARCH_BYTES])
    meant_for = seen.id if seen.kind == "answer" else None
    fault = Fault(PARSE_ERROR, "Parse error: the line is not JSON")
    # Text that looks like a message may hold secrets, so it is never repeated; a log line helps with debugging.
    head = _OBJECT.split(text, 1)[0].strip(b" [")[:80].decode("utf-8", "replace")
    return Malformed(fault, None, True, None, meant_for, head)


def drop_incomplete_response(block: bytes) -> bytes:
    """Remove the last line of a stream if it is a response that breaks off, usually because the peer died.

    The end of the connection fails the request then: unlike a parse error, it names the exit status and the last
    output."""
    if block.endswith(b"\n"):
        return block
    begin = block.rfind(b"\n") + 1
    line = block[begin:]
    is_response = read_fragment(line[:_ID_SEARCH_BYTES]).kind == "answer"
    return block[:begin] if is_response and repair_json(line) is None else block


def _read_almost_json(text: bytes) -> Message:
    """Read a whole message with text that isn't UTF-8, or with NaN, as Python writes a number without a value.

    A request gets an error response, with its id. A notification gets none, so it is repaired: it may report the end of
    a turn."""
    try:
        import json  # rarely needed

        value = json.loads(
            text.decode("utf-8", "replace"),
            parse_constant=lambda name: None,
            parse_float=_clamp_float,
            parse_int=_clamp_int,
        )
        if isinstance(value, dict) and "method" in value and "id" not in value:
            return _read_one(msgspec.json.encode(without_surrogates(value)))
    except (ValueError, RecursionError):
        return _not_json(text)
    return _unreadable(text, "Parse error", "has NaN, or text that isn't UTF-8")


def _is_too_deep(text: bytes) -> bool:
    try:
        _any.decode(text)
    except RecursionError:
        return True
    except ValueError:
        pass
    return False


def _unreadable(text: bytes, kind: Literal["Parse error", "Invalid request"], problem: str) -> Malformed:
    """Report a whole message that can't be decoded. Its id, for the error response, may be anywhere in the text."""
    seen = read_fragment(text if len(text) <= _FULL_SEARCH_BYTES else text[:_ID_SEARCH_BYTES])
    if seen.kind == "stray":
        return Malformed(Fault(PARSE_ERROR, f"Parse error: the line {problem}"), None, stray=True)
    fault = Fault(PARSE_ERROR if kind == "Parse error" else INVALID_REQUEST, f"{kind}: the message {problem}")
    if seen.kind == "answer":
        return Malformed(fault, None, stray=False, answers=seen.id)
    return Malformed(fault, seen.id, stray=False, silent=seen.id is None and seen.method is not None)


def _read_batch(text: bytes) -> Message | Batch:
    entries = _entries.decode(text)
    if not entries:
        return Malformed(Fault(INVALID_REQUEST, "Invalid request: the batch is empty"), None, stray=False)
    # An invalid entry of a batch is answered with a null id.
    read_entries = [_read_one(bytes(entry).strip()) for entry in entries]
    return Batch([e._replace(id=None, answers=None) if isinstance(e, Malformed) else e for e in read_entries])


def _read_one(text: bytes) -> Message:
    try:
        loose = _loose.decode(text)
    except msgspec.ValidationError:
        return _invalid("a message must be an object", None, stray=True)
    known_id, id = _read_id(loose.id)
    answers = loose.result is not UNSET or loose.error is not UNSET
    if _read_string(loose.jsonrpc) != "2.0":
        meant_for = id if answers and loose.method is UNSET else None
        return _invalid('"jsonrpc" must be "2.0"', id, stray=loose.jsonrpc is UNSET, answers=meant_for)
    if loose.method is not UNSET:
        return _read_call(loose, known_id, id)
    if not answers:
        return _invalid("the method is missing", id, answers=id)
    if not known_id or loose.id is UNSET:
        return _invalid("a response needs the id of its request", None)
    return _read_answer(loose, id)


def _read_call(loose: _Loose, known_id: bool, id: RequestId) -> Message:
    method = _read_string(loose.method)
    if method is None:
        return _invalid("the method must be a string", id)
    if not known_id:
        return _invalid("the id must be a string or an integer", None)
    params = NO_PARAMS if loose.params is UNSET or bytes(loose.params) == b"null" else bytes(loose.params)
    if params[:1] not in (b"{", b"["):
        return _invalid("params must be an object or a list", id)
    return Notification(method, params) if loose.id is UNSET else Request(id, method, params)


def _read_answer(loose: _Loose, id: RequestId) -> Message:
    if loose.error is not UNSET and (loose.result is UNSET or bytes(loose.error) != b"null"):
        return Failure(id, read_fault(loose.error))
    assert loose.result is not UNSET
    return Success(id, bytes(loose.result))


def read_fault(raw: Raw) -> Fault:
    """Decode an `error` as far as possible."""
    try:
        return _fault.decode(raw)
    except ValueError:
        found = _any.decode(repair_json(raw) or b"null")
    parts = found if isinstance(found, dict) else {}
    code, message = parts.get("code"), parts.get("message")
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    return Fault(
        code if isinstance(code, int) and not isinstance(code, bool) and -(2**31) <= code < 2**31 else INVALID_REQUEST,
        message if isinstance(message, str) else "the peer's error response is malformed",
        parts.get("data", UNSET),
    )


def _read_string(raw: Raw | UnsetType) -> str | None:
    """Decode a string; None if it is absent or something else."""
    try:
        return None if raw is UNSET else _string.decode(raw)
    except ValueError:
        return None


def _read_id(raw: Raw | UnsetType) -> tuple[bool, RequestId]:
    """Return whether the id is absent or valid, and its value (None if there is none)."""
    if raw is UNSET:
        return True, None
    try:
        return True, read_id(raw)
    except ValueError:
        return False, None


def _invalid(why: str, id: RequestId, *, stray: bool = False, answers: RequestId = None) -> Malformed:
    return Malformed(Fault(INVALID_REQUEST, f"Invalid request: {why}"), id, stray, None, answers)


def repair_json(text: bytes | Raw) -> bytes | None:
    """Convert JSON to a form that msgspec can decode; None if the text isn't JSON.

    Peers that cut strings by UTF-16 unit send lone surrogates, which msgspec rejects: they become U+FFFD. Numbers that
    are too large become the largest float."""
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
            import json  # rarely needed

            value = json.loads(text, parse_constant=_no_constant, parse_float=_clamp_float, parse_int=_clamp_int)
            return msgspec.json.encode(without_surrogates(value))
        except (ValueError, RecursionError):
            return None
    return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} isn't JSON")


def _clamp_float(digits: str) -> float:
    return min(max(float(digits), -sys.float_info.max), sys.float_info.max)


def _clamp_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= 300 else _clamp_float(digits)


def without_surrogates(value: Any) -> Any:
    """Replace every lone surrogate in plain data with U+FFFD."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [without_surrogates(item) for item in value]
        case dict():
            return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
        case _:
            return value


_encode = msgspec.json.Encoder().encode


def call_head(method: str) -> bytes:
    """Encode a notification up to its params."""
    return b'{"jsonrpc":"2.0","method":' + _encode(method) + b',"params":'


def success(id: RequestId, result: bytes) -> bytes:
    """Encode a response, without the line end."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_id_text(id), result)


def failure(id: RequestId, fault: Fault | Raw) -> bytes:
    """Encode an error response, without the line end."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_id_text(id), _encode(fault))


def _id_text(id: RequestId) -> bytes:
    if type(id) is int:
        return b"%d" % id
    return id.text if isinstance(id, WrittenId) else _encode(id)


_HEAD = 80  # a response is recognized by its first bytes


class _Response(msgspec.Struct):
    """The usual shape of a response; the result isn't decoded."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str | None
    result: Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


class _Result(Success, frozen=True, forbid_unknown_fields=True):
    """A response without an error, as nearly all are. It needs no conversion, which would take a third of the time; an
    error takes 0.7 µs longer because it is decoded twice."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str | None
    result: Raw


_response = msgspec.json.Decoder(_Response)
_result: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Result)


def looks_like_response(line: bytes) -> bool:
    """Guess from the first bytes, to try the right decoder first. Both are tried in the end."""
    head = line[:_HEAD]
    return b'"method"' not in head and (b'"result"' in head or b'"error"' in head)


def read_response(line: bytes) -> Success | Failure | None:
    """Decode one line as a response; None if it is something else or unusual."""
    try:
        result: Success = _result.decode(line)
        return result
    except (ValueError, RecursionError):
        pass
    try:
        return _as_response(_response.decode(line))
    except (ValueError, RecursionError):
        return None


def read_responses(block: bytes, lines: int) -> list[Success | Failure] | None:
    """Decode all lines of a block as responses; None if any line is something else. `lines` is their number."""
    try:
        results: list[Success | Failure] = _result.decode_lines(block)
        return results if len(results) == lines else None
    except (ValueError, RecursionError):
        pass
    found = []
    try:
        for each in _response.decode_lines(block):
            usual = _as_response(each)
            if usual is None:
                return None
            found.append(usual)
    except (ValueError, RecursionError):
        return None
    return found if len(found) == lines else None


def _as_response(found: _Response) -> Success | Failure | None:
    if found.method is not UNSET:
        return None
    if found.error is not UNSET:
        return Failure(found.id, found.error) if found.result is UNSET else None
    return _Result(id=found.id, result=found.result, jsonrpc="2.0") if found.result is not UNSET else None


def find_responses(block: bytes) -> list[int]:
    """Return the start positions of lines that look like responses. Takes linear time for any input."""
    found = set()
    for key in (b'"result"', b'"error"'):
        at = block.find(key)
        while at >= 0:
            begin = block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at) + 1 or len(block)
            if at - begin < _HEAD and looks_like_response(block[begin : min(end, begin + _HEAD)]):
                found.add(begin)
            at = block.find(key, end)
    return sorted(found)
