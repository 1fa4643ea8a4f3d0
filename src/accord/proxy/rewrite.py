"""Encode a message that a handler has changed, so that everything it didn't change stays as it was.

Types contain only the fields of the schema. Other fields (of later versions, or of extensions) are copied from the
original."""

from __future__ import annotations

from typing import Any

import msgspec

from accord.connection.dispatch import decoder
from accord.schema.repair import read as repair_read
from accord.schema.wire import encode


def read(kind: Any, raw: bytes) -> Any:
    """Decode params or a result: strictly, else leniently. Null is an empty object. Raises `ValueError`."""
    raw = b"{}" if raw in (b"", b"null") else raw
    try:
        return decoder(kind).decode(raw)
    except (ValueError, RecursionError):
        pass
    try:
        return repair_read(kind, msgspec.json.decode(raw))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def write(value: Any, kind: Any, raw: bytes) -> bytes:
    """Encode a value that was decoded from `raw` and may have been changed since."""
    try:
        original = read(kind, raw)
    except ValueError:
        return encode(value)
    old, new = encode(original), encode(value)
    if old == new:
        return raw
    whole = msgspec.json.decode(raw or b"{}")
    return encode(merge(whole, msgspec.json.decode(old), msgspec.json.decode(new)))


def merge(whole: Any, old: Any, new: Any) -> Any:
    """Apply the change from `old` to `new` to `whole`, of which `old` is the known part."""
    if new == old:
        return whole
    if isinstance(whole, dict) and isinstance(old, dict) and isinstance(new, dict):
        kept = {key: value for key, value in whole.items() if key in new or key not in old}
        for key, value in new.items():
            if key not in old or value != old[key]:
                kept[key] = merge(whole[key], old[key], value) if key in old and key in whole else value
        return kept
    if isinstance(whole, list) and isinstance(old, list) and isinstance(new, list) and len(whole) == len(old):
        return _merge_items(whole, old, new)
    return new


def _merge_items(whole: list[Any], old: list[Any], new: list[Any]) -> list[Any]:
    """Find the original of each item: an equal one, or the one at its index if the list has the same length as
    before."""
    left = list(range(len(old)))
    merged = []
    for place, item in enumerate(new):
        match = next((index for index in left if old[index] == item), None)
        if match is not None:
            left.remove(match)
            merged.append(whole[match])
        elif len(new) == len(old):
            merged.append(merge(whole[place], old[place], item))
        else:
            merged.append(item)
    return merged
