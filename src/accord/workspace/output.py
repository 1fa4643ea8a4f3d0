"""What a command printed: the bytes as they came, as many of the last ones as may be kept, and the text they make.

Bytes are kept and text is made from them when somebody asks. A limit counts bytes of that text in UTF-8, where a byte
that is no text has become U+FFFD (three bytes); text is never shorter than the bytes it is made from, so the last `n`
bytes are always enough for the last `n` bytes of text. Taking bytes costs the same however many there were before, and
so does giving what is new since a position. Nothing here waits, reads or writes."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator

CEILING_BYTES = 16 * 1024 * 1024
"""The most that is kept of one command's output, whatever an agent asks for."""

WINDOW_BYTES = 4 * 1024 * 1024
"""The least that is kept (within the ceiling), for those who watch, even if the agent wants less for itself."""

BLOCK_BYTES = 64 * 1024


class OutputBuffer:
    """The last part of a stream of bytes. `limit` is for the text an agent gets; None is as much as there may be."""

    def __init__(self, limit: int | None = None, *, ceiling: int = CEILING_BYTES, window: int = WINDOW_BYTES) -> None:
        self.limit = ceiling if limit is None else min(max(limit, 0), ceiling)
        self.end = 0
        """How many bytes came in all: the position after the last of them."""
        self.lines = 0
        """How many lines ended in all."""
        self.finished = False
        """Whether no more will come."""
        self._kept_bytes = min(ceiling, max(self.limit, window))
        # Each block begins and ends between characters, so that text can be made from any of them on.
        self._blocks: deque[bytearray] = deque()
        self._size = 0  # of all blocks
        self._unfinished = b""  # the beginning of a character, at most three bytes
        self._text_bytes = 0  # of all text there ever was, in UTF-8
        self._is_sound = True  # whether all bytes so far were UTF-8

    def feed(self, data: bytes) -> None:
        """Takes what was printed."""
        for start in range(0, len(data), BLOCK_BYTES):
            self._take(data[start : start + BLOCK_BYTES])

    def finish(self) -> None:
        """Nothing more will come; a character that was begun stays unfinished for ever. Repeating changes nothing."""
        self.finished = True
        if self._unfinished:
            rest, self._unfinished = self._unfinished, b""
            self._is_sound = False
            self._keep(rest, len(rest.decode("utf-8", "replace").encode()))

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._size + len(self._unfinished)

    @property
    def start(self) -> int:
        """The position of the first byte that is kept."""
        return self.end - self.size

    @property
    def truncated(self) -> bool:
        """Whether `text` lacks its beginning."""
        return self._text_bytes > self.limit

    @property
    def is_cut(self) -> bool:
        """Whether `kept_text` lacks its beginning."""
        return self._text_bytes > self._kept_bytes

    def text(self) -> str:
        """The last `limit` bytes of the text, fewer where that would cut a character."""
        return self.last_text(self.limit)

    def kept_text(self) -> str:
        """All text that is kept, which may be more than an agent gets."""
        return self.last_text(self._kept_bytes)

    def since(self, position: int) -> tuple[bytes, int]:
        """The bytes from a position on, and how many between it and them are no longer kept."""
        begin = max(position, self.start)
        wanted = self.end - begin
        pieces: list[bytes | bytearray] = [self._unfinished[-wanted:]] if wanted and self._unfinished else []
        wanted -= sum(map(len, pieces))
        for block in reversed(self._blocks):
            if not wanted:
                break
            pieces.append(block[-wanted:])
            wanted -= len(pieces[-1])
        return b"".join(reversed(pieces)), begin - position

    def _take(self, data: bytes) -> None:
        self.end += len(data)
        self.lines += data.count(b"\n")
        if self._unfinished:
            data = self._unfinished + data
        whole = length = len(data)
        if not data.isascii():
            try:
                _, whole = codecs.utf_8_decode(data, "strict", False)
                length = whole
            except UnicodeDecodeError:
                text, whole = codecs.utf_8_decode(data, "replace", False)
                length = len(text.encode())
                self._is_sound = False
        self._unfinished = data[whole:]
        self._keep(data[:whole], length)

    def _keep(self, data: bytes, text_bytes: int) -> None:
        """Adds whole characters, and drops what is too old."""
        self._text_bytes += text_bytes
        self._size += len(data)
        if self._blocks and len(self._blocks[-1]) + len(data) <= BLOCK_BYTES:
            self._blocks[-1] += data
        elif data:
            self._blocks.append(bytearray(data))
        while self._blocks and self._size - len(self._blocks[0]) >= self._kept_bytes:
            self._size -= len(self._blocks.popleft())

    def last_text(self, limit: int) -> str:
        """The last so many bytes of the text that is kept, fewer where that would cut a character."""
        data = b"".join(reversed(list(self._last_blocks(limit))))
        if not self._is_sound:
            data = data.decode("utf-8", "replace").encode()
        begin = max(0, len(data) - limit)
        while begin < len(data) and data[begin] & 0xC0 == 0x80:  # inside a character
            begin += 1
        return data[begin:].decode()

    def _last_blocks(self, size: int) -> Iterator[bytearray]:
        """The last blocks, the very last first, that together have a size; all there are if they have not."""
        for block in reversed(self._blocks):
            if size <= 0:
                return
            yield block
            size -= len(block)
