"""Read and change single fields of messages. Everything else keeps its bytes, unknown fields included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

CURSOR = "accord/cursor"
REQUEST = "accord/request"
RESUME = "accord/resume"
KEY = "accord/key"
AFTER = "accord/after"

Fields = dict[str, Raw]
"""An object whose values aren't decoded."""

_fields = msgspec.json.Decoder(Fields)
encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode


class Meta(msgspec.Struct, gc=False):
    """The keys of `_meta` that concern resuming."""

    cursor: str = msgspec.field(name=CURSOR, default="")
    request: str = msgspec.field(name=REQUEST, default="")


class Params(msgspec.Struct, gc=False):
    """The parameters that concern resuming."""

    session_id: str | None = msgspec.field(name="sessionId", default="")
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class Head(msgspec.Struct, gc=False):
    """The fields of an incoming message that concern resuming. The rest is skipped, not decoded."""

    id: Raw | UnsetType = UNSET
    method: str = ""
    params: Params | None = None
    result: Raw | UnsetType = UNSET


_head = msgspec.json.Decoder(Head)


def read_heads(block: bytes) -> list[Head] | None:
    """Read the heads of all lines of a block in one pass; None if any line is unusual."""
    try:
        heads = _head.decode_lines(block)
    except (ValueError, RecursionError):
        return None
    # For the decoder a line end is white space: the number of messages has to match.
    return heads if len(heads) == block.count(b"\n") else None


def read_head(line: bytes) -> Head | None:
    """Read the head of one line; None if it isn't a message, or an unusual one."""
    try:
        return _head.decode(line)
    except (ValueError, RecursionError):
        return None


class Cursor(NamedTuple):
    """A position in the event log of a session."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.number}"


NOTHING_SEEN = Cursor("", 0)


def read_cursor(text: str) -> Cursor | None:
    """Read a cursor; None if it isn't one."""
    epoch, _, number = text.rpartition(".")
    # Python refuses to read numbers of thousands of digits, and a hostile server could send one.
    is_number = number.isascii() and number.isdigit() and len(number) <= 18
    return Cursor(epoch, int(number)) if epoch and is_number else None


def read_fields(text: bytes | Raw | UnsetType) -> Fields | None:
    """Read an object without decoding its values; None if it isn't an object."""
    if text is UNSET:
        return None
    try:
        return _fields.decode(text)
    except (ValueError, RecursionError):
        return None


def read_value(fields: Fields | None, *path: str) -> Any:
    """Decode one value, found by its path; None if it isn't there."""
    for name in path[:-1]:
        fields = read_fields((fields or {}).get(name, UNSET))
    try:
        return msgspec.json.decode((fields or {}).get(path[-1], b"null"))
    except (ValueError, RecursionError):
        return None


def read_id(fields: Fields | None) -> str | int | float | None:
    """Decode the id of a message; None if it isn't there, or isn't an id."""
    value = read_value(fields, "id")
    return value if isinstance(value, (str, int, float)) else None


def read_text(fields: Fields | None, *path: str) -> str:
    """Decode one string, found by its path; empty if it isn't there."""
    value = read_value(fields, *path)
    return value if isinstance(value, str) else ""


def raw(value: Any) -> Raw:
    """Encode a value as a field."""
    return Raw(encode(value))


def write(fields: Mapping[str, Any]) -> bytes:
    """Encode fields as a line."""
    return encode(fields) + b"\n"


def add_meta(params: Fields, **values: Any) -> Fields:
    """Add keys to the `_meta` of parameters, which keeps its other keys."""
    meta = read_fields(params.get("_meta", UNSET)) or {}
    return {**params, "_meta": raw({**meta, **values})}


def notification(method: str, params: Any) -> bytes:
    """Encode a notification as a line."""
    return write({"jsonrpc": "2.0", "method": method, "params": params})
