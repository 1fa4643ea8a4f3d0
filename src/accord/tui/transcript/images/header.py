"""Image headers: read the format and size from the first bytes, without decoding.

The size tells how many lines an image will take before it is decoded, and whether it is too large to be shown."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

MAX_ENCODED = 16_000_000
"""Characters of base64."""
MAX_PIXELS = 16_000_000
"""A small file can claim any size. This is as many pixels as the largest screens have."""
_MAX_OF = {"webp": MAX_PIXELS // 2}
"""Formats whose decoder needs several times the memory of others."""
_FIRST = 64
_FAR = 400_000
"""Characters to search for the size of a JPEG, which follows the camera's metadata."""
_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


class Head(NamedTuple):
    """The format of an image, as a file extension, and its size in pixels."""

    kind: str
    width: int
    height: int


def head_of(data: str) -> Head | None:
    """Read the header of an image; None if it can't be shown or is too large."""
    if len(data) > MAX_ENCODED:
        return None
    start = _decode(data[:_FIRST])
    if start.startswith(b"\xff\xd8"):
        head = _jpeg(_decode(data[:_FAR]))
    elif start.startswith(b"\x89PNG\r\n\x1a\n") and len(start) >= 24:
        head = Head("png", _big(start[16:20]), _big(start[20:24]))
    elif start.startswith((b"GIF87a", b"GIF89a")) and len(start) >= 10:
        head = Head("gif", _little(start[6:8]), _little(start[8:10]))
    elif start.startswith(b"RIFF") and start[8:12] == b"WEBP" and len(start) >= 30:
        head = _webp(start)
    else:
        return None
    if head is None or head.width < 1 or head.height < 1 or is_too_big(*head):
        return None
    return head


def is_too_big(kind: str, width: int, height: int) -> bool:
    """Return whether decoding would take too much memory."""
    return width * height > _MAX_OF.get(kind, MAX_PIXELS)


def _decode(text: str) -> bytes:
    text = "".join(text.split())
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _jpeg(data: bytes) -> Head | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        mark = data[at + 1]
        if mark == 0xFF:  # padding: any number may precede a marker
            at += 1
        elif mark in _SIZES:
            return Head("jpeg", _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7]))
        else:
            at += 2 if mark == 0x01 or 0xD0 <= mark <= 0xD7 else 2 + _big(data[at + 2 : at + 4])
    return None


def _webp(data: bytes) -> Head | None:
    match data[12:16]:
        case b"VP8X":
            return Head("webp", 1 + _little(data[24:27]), 1 + _little(data[27:30]))
        case b"VP8L":
            bits = _little(data[21:25])
            return Head("webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            return Head("webp", _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF)
        case _:
            return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
