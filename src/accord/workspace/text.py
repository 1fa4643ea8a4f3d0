"""Read a file as text, completely or some lines, without holding more in memory than requested.

Text is UTF-8. A byte order mark is removed. A line includes its line feed, so that consecutive parts concatenate to the
whole; carriage returns are preserved."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Protocol

from accord.errors import InvalidParams
from accord.workspace.paths import quote_path

MARK = codecs.BOM_UTF8
_CHUNK = 1 << 18

_OTHERS = (  # longer marks first: the UTF-32 mark starts with the UTF-16 mark
    (codecs.BOM_UTF32_LE, "UTF-32 (little-endian)"),
    (codecs.BOM_UTF32_BE, "UTF-32 (big-endian)"),
    (codecs.BOM_UTF16_LE, "UTF-16 (little-endian)"),
    (codecs.BOM_UTF16_BE, "UTF-16 (big-endian)"),
)


class Source(Protocol):
    """A byte stream, positioned at its start."""

    def read(self, size: int, /) -> bytes: ...


def do_nothing() -> None:
    """Do nothing: the default for `check_wanted`, which is called before each step of a long read and may raise."""


def read_text(
    source: Source,
    path: str,
    *,
    line: int | None = None,
    limit: int | None = None,
    ceiling: int,
    size: int = _CHUNK,
    scan: int | None = None,
    check_wanted: Callable[[], None] = do_nothing,
) -> str:
    """Read text from `line` (starting at 1; 0 means 1), at most `limit` lines. `size` is the expected total size, to
    read a whole file in one piece. `scan` limits how many bytes are searched for the line."""
    for name, value in (("line", line), ("limit", limit)):
        if value is not None and value < 0:
            raise InvalidParams(f"{name} is {value}; line numbers start at 1", data={"path": name})
    excerpt = _Excerpt(path, max((line or 1) - 1, 0), limit, ceiling)
    step = min(size, _CHUNK if limit is not None or (line or 0) > 1 else ceiling) + 1
    chunk = source.read(step)
    _require_utf8(chunk, path)
    if limit == 0:
        return ""
    if chunk.startswith(MARK):
        excerpt.offset = len(MARK)
        chunk = chunk[len(MARK) :]
    while excerpt.take(chunk):
        check_wanted()
        if scan is not None and excerpt.is_searching and excerpt.offset > scan:
            raise InvalidParams(
                f"line {line} of {quote_path(path)} isn't in the first {_format_size(scan)}, the limit of the search",
                data={"path": "line"},
            )
        chunk = source.read(step)
        if not chunk:
            break
    return excerpt.text()


class _Excerpt:
    """Collects the requested lines from the chunks of a file."""

    def __init__(self, path: str, skip: int, limit: int | None, ceiling: int) -> None:
        self.offset = 0
        self._path = path
        self._skip = skip
        self._limit = limit
        self._ceiling = ceiling
        self._kept: list[bytes] = []
        self._size = 0

    @property
    def is_searching(self) -> bool:
        """Whether the first requested line hasn't been found yet."""
        return self._skip > 0

    def take(self, chunk: bytes) -> bool:
        """Add a chunk; return False when no more is needed."""
        if self._skip:
            ends = chunk.count(b"\n")
            if ends < self._skip:
                self._skip -= ends
                self.offset += len(chunk)
                return True
            start = _offset_after(chunk, self._skip)
            self._skip = 0
            self.offset += start
            chunk = chunk[start:]
        more = True
        if self._limit is not None:
            ends = chunk.count(b"\n")
            if ends >= self._limit:
                chunk = chunk[: _offset_after(chunk, self._limit)]
                more = False
            self._limit -= ends
        self._kept.append(chunk)
        self._size += len(chunk)
        if self._size > self._ceiling:
            part = "this part of " if self._limit is not None else ""
            raise InvalidParams(
                f"{part}{quote_path(self._path)} is larger than {_format_size(self._ceiling)}, the limit of one read; "
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
            raise InvalidParams(f"{quote_path(self._path)} is not UTF-8 text ({found}): it looks like {what}") from None


def too_large(path: str, size: int, ceiling: int) -> InvalidParams:
    """Return the error for a file that is too large to read whole."""
    return InvalidParams(
        f"{quote_path(path)} is {_format_size(size)}; the limit for a whole file is {_format_size(ceiling)}: "
        "read part of it with line and limit"
    )


def decode_text(data: bytes) -> str | None:
    """Decode UTF-8 text without its byte order mark; None if it is invalid."""
    try:
        return data.removeprefix(MARK).decode()
    except UnicodeDecodeError:
        return None


def _require_utf8(head: bytes, path: str) -> None:
    for mark, name in _OTHERS:
        if head.startswith(mark):
            raise InvalidParams(f"{quote_path(path)} is {name} text; only UTF-8 is supported, so convert it first")


def _offset_after(chunk: bytes, lines: int) -> int:
    """Return the offset after this many lines."""
    return len(chunk) - len(chunk.split(b"\n", lines)[lines]) if lines else 0


def _format_size(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB" if size >= 1 << 20 else f"{size:,} bytes"
