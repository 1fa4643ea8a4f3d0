"""Cursors for lists of sessions. A checksum prevents clients from inventing them.

A cursor names a position in the order of changes, not a number of entries, so newer entries don't shift the pages."""

from __future__ import annotations

from zlib import crc32

from accord.errors import InvalidParams


def encode(place: int, salt: str) -> str:
    """Return the cursor of a position. Each store has its own salt."""
    return f"{place:x}-{crc32(f'{salt}:{place}'.encode()):08x}"


def decode(cursor: str, salt: str) -> int:
    """Return the position of a cursor. Raises `InvalidParams` for one that this store didn't issue."""
    try:
        place = int(cursor[:16].partition("-")[0], 16)
    except ValueError:
        place = -1
    if encode(place, salt) != cursor:
        raise InvalidParams("session/list: unknown cursor; start again without one", data={"path": "cursor"})
    return place
