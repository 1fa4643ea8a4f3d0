"""Where the next page of a list begins, as a word for clients: they hand it back, and can make up none.

It names a place in the order of changes, not a number of entries: what is new in front of it moves nothing behind."""

from __future__ import annotations

from zlib import crc32

from accord.errors import InvalidParams


def written(place: int, salt: str) -> str:
    """The cursor of a place. The salt is the store's own."""
    return f"{place:x}-{crc32(f'{salt}:{place}'.encode()):08x}"


def read(cursor: str, salt: str) -> int:
    """The place of a cursor. Raises `InvalidParams` for one that this store has not given out."""
    try:
        place = int(cursor[:16].partition("-")[0], 16)
    except ValueError:
        place = -1
    if written(place, salt) != cursor:
        raise InvalidParams("session/list: this cursor is not known; start again without one", data={"path": "cursor"})
    return place
