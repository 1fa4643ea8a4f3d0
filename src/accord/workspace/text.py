"""Bytes of a file as text: all of it, or some lines, without ever holding more than is asked for.

Text is UTF-8. A byte order mark at the start is not shown. A line ends with a line feed, which belongs to it, so that
parts read one after the other make the whole; a carriage return before it is left alone."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Protocol

from accord.errors import InvalidParams
from accord.workspace.paths import shown

MARK = codecs.BOM_UTF8
_CHUNK = 1 << 18

_OTHERS = (  # the longer marks first: that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "UTF-32 (little-endian)"),
    (codecs.BOM_UTF32_BE, "UTF-32 (big-endian)"),
    (codecs.BOM_UTF16_LE, "UTF-16 (little-endian)"),
    (codecs.BOM_UTF16_BE, "UTF-16 (big-endian)"),
)


class Source(Protocol):
    """Something to read bytes from, from the start."""

    def read(self, size: int, /) -> bytes: ...


def nothing() -> None:
    """Is called before every step of a long reading; another such function may raise to end it."""


def read_text(
    source: Source,
    path: str,
    *,
    line: int | None = None,
    limit: int | None = None,
    ceiling: int,
    size: int = _CHUNK,
    go_on: Callable[[], None] = nothing,
) -> str:
    """The text from a line on (counted from 1; 0 is read as 1), at most `limit` lines of it. `size` is how large the
    whole probably is; what is wanted whole is read in one piece."""
    for name, value in (("line", line), ("limit", limit)):
        if value is not None and value < 0:
            raise InvalidParams(f"{name} is {value}; lines are counted from 1", data={"path": name})
    excerpt = _Excerpt(path, max((line or 1) - 1, 0), limit, ceiling)
    step = min(size, _CHUNK if limit is not None or (line or 0) > 1 else ceiling) + 1
    chunk = source.read(step)
    _need_text(chunk, path)
    if limit == 0:
        return ""
    if chunk.startswith(MARK):
        excerpt.offset = len(MARK)
        chunk = chunk[len(MARK) :]
    while excerpt.take(chunk):
        go_on()
        chunk = source.read(step)
        if not chunk:
            break
    return excerpt.text()


class _Excerpt:
    """Takes a file chunk by chunk, and keeps the lines that are wanted."""

    def __init__(self, path: str, skip: int, limit: int | None, ceiling: int) -> None:
        self.offset = 0
        self._path = path
        self._skip = skip
        self._limit = limit
        self._ceiling = ceiling
        self._kept: list[bytes] = []
        self._size = 0

    def take(self, chunk: bytes) -> bool:
        """False once nothing more is wanted."""
        if self._skip:
            ends = chunk.count(b"\n")
            if ends < self._skip:
                self._skip -= ends
                self.offset += len(chunk)
                return True
            start = _after(chunk, self._skip)
            self._skip = 0
            self.offset += start
            chunk = chunk[start:]
        more = True
        if self._limit is not None:
            ends = chunk.count(b"\n")
            if ends >= self._limit:
                chunk = chunk[: _after(chunk, self._limit)]
                more = False
            self._limit -= ends
        self._kept.append(chunk)
        self._size += len(chunk)
        if self._size > self._ceiling:
            part = "this part of " if self._limit is not None else ""
            raise InvalidParams(
                f"{part}{shown(self._path)} is larger than {_megabytes(self._ceiling)}, the most that is read at once; "
                "read fewer lines with line and limit"
            )
        return more

    def text(self) -> str:
        data = b"".join(self._kept)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            found = f"byte 0x{data[error.start]:02x} at offset {self.offset + error.start}"
            what = "binary data" if b"\0" in data[:_CHUNK] else "another encoding, perhaps Latin-1 or Windows-1252"
            raise InvalidParams(f"{shown(self._path)} is not UTF-8 text ({found}): it looks like {what}") from None


def too_large(path: str, size: int, ceiling: int) -> InvalidParams:
    """What to say of a file that would have to be read whole."""
    return InvalidParams(
        f"{shown(path)} has {_megabytes(size)}; whole files are read up to {_megabytes(ceiling)}: "
        "read a part of it with line and limit"
    )


def plain(data: bytes) -> str | None:
    """The text of some bytes, or None when they are no UTF-8."""
    try:
        return data.removeprefix(MARK).decode()
    except UnicodeDecodeError:
        return None


def _need_text(head: bytes, path: str) -> None:
    for mark, name in _OTHERS:
        if head.startswith(mark):
            raise InvalidParams(f"{shown(path)} is {name} text; only UTF-8 is served, so convert it first")


def _after(chunk: bytes, lines: int) -> int:
    """Where the line after so many begins."""
    return len(chunk) - len(chunk.split(b"\n", lines)[lines]) if lines else 0


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB" if size >= 1 << 20 else f"{size:,} bytes"
