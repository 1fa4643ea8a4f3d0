"""Read and change single fields of params in raw JSON. All other bytes are preserved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

META = "_meta"


class Head(msgspec.Struct, rename={"session_id": "sessionId", "meta": "_meta"}):
    """The two fields of params that the hub reads in every message."""

    session_id: str | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET


class _Kind(msgspec.Struct, rename={"session_update": "sessionUpdate"}):
    session_update: str


class _Update(msgspec.Struct):
    update: _Kind


_update = msgspec.json.Decoder(_Update)
_head = msgspec.json.Decoder(Head)
_object = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode
_NO_HEAD = Head()


def read_head(params: bytes) -> Head:
    """Read the session id and `_meta`; both are unset if params aren't an object or the id isn't a string."""
    try:
        return _head.decode(params)
    except ValueError:
        return _NO_HEAD


def read_object(value: bytes | Raw | UnsetType) -> dict[str, Raw]:
    """Split an object into its raw values; empty if it isn't an object."""
    if value is UNSET:
        return {}
    try:
        return _object.decode(value)
    except ValueError:
        return {}


def read_kind(params: bytes) -> str | None:
    """Read the kind of an update; None if params aren't those of an update."""
    try:
        return _update.decode(params).update.session_update
    except ValueError:
        return None


def write_object(fields: Mapping[str, Any]) -> bytes:
    """Join an object from raw or plain values."""
    return _encode(fields)


def read_text(value: Raw | None) -> str | None:
    """Decode a string; None if it is absent or something else."""
    found = decode(value)
    return found if isinstance(found, str) else None


def decode(value: bytes | Raw | UnsetType | None) -> Any:
    """Decode any value; None if it is absent or can't be decoded."""
    if value is None or value is UNSET:
        return None
    try:
        return msgspec.json.decode(value)
    except (ValueError, RecursionError):
        return None


def add_meta(params: bytes, members: bytes) -> bytes:
    """Add members, encoded without braces, to `_meta`. Everything else keeps its bytes."""
    if read_head(params).meta is UNSET and params[:1] == b"{":
        rest = params[1:].lstrip()
        separator = b"" if rest[:1] == b"}" else b","
        return b'{"_meta":{%b}%b%b' % (members, separator, rest)
    fields = read_object(params)
    meta = {**read_object(fields.get(META, UNSET)), **read_object(b"{%b}" % members)}
    return write_object({**fields, META: meta})


def remove_meta(params: bytes, *keys: str) -> bytes:
    """Remove keys from `_meta`, and `_meta` itself if nothing is left. Params without these keys keep their bytes."""
    meta = read_object(read_head(params).meta)
    if not any(key in meta for key in keys):
        return params
    fields = read_object(params)
    left = {key: value for key, value in meta.items() if key not in keys}
    if left:
        fields[META] = Raw(write_object(left))
    else:
        del fields[META]
    return write_object(fields)


def replace_fields(params: bytes, **fields: Any) -> bytes:
    """Replace or add fields of an object by their JSON names."""
    return write_object({**read_object(params), **fields})
