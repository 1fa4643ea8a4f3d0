"""Reads a message as a connection does: strictly, and forgivingly what the strict reading refused."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from accord.schema import repair, wire


def decode(wanted: Any, data: Any) -> Any:
    """Decode this data as this type. Raises `repair.Unreadable` if that fails.

    A variant that is wanted by itself need not be given its tag."""
    if isinstance(wanted, msgspec.StructMeta) and wanted.__struct_config__.tag is not None:
        data = {wanted.__struct_config__.tag_field: wanted.__struct_config__.tag, **data}
    text = json.dumps(data).encode()
    try:
        return msgspec.json.decode(text, type=wanted)
    except msgspec.ValidationError:
        return repair.read(wanted, json.loads(text))


def encode(message: Any) -> Any:
    """The message as plain data, after a turn over the wire."""
    return json.loads(wire.encode(message))
