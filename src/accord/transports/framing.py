"""Framing: turn a stream of bytes into whole lines within a size limit. No I/O and no decoding.

Lines are returned in blocks: everything up to the last newline, as one `bytes`. A line that exceeds the limit is
skipped up to its newline and recorded, and framing continues after it. Every byte is scanned once and copied at most
twice, regardless of how the stream is split."""

from __future__ import annotations

from typing import NamedTuple

from accord.transports.base import Receiver

HEAD_BYTES = 4096
"""How many bytes of a skipped line are kept, to find its request id."""

SMALL_BYTES = 4096
PIECE_BYTES = 64 * 1024


class Oversized(NamedTuple):
    """A line that was skipped because it is too long."""

    head: bytes
    """Its first bytes."""
    size: int
    """Its length without the newline; at the end of the stream, the bytes received."""
    at: int
    """Its position: the number of bytes before it in the block returned by the same call."""


class LineFramer:
    """Finds whole lines in a stream that arrives in chunks."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.oversized: list[Oversized] = []
        """Skipped lines; the reader must clear it."""
        self._tail: list[bytes | bytearray] = []  # the start of an incomplete line
        self._size = 0  # length of the incomplete line so far, including skipped bytes
        self._head: bytes | None = None  # its first bytes, set while it is being skipped

    def feed(self, chunk: bytes) -> bytes:
        """Add a chunk, and return the lines that are now complete as one block; empty if there are none."""
        if not self._size and chunk.endswith(b"\n") and len(chunk) <= self.max_bytes:
            return chunk
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            self._keep(chunk)
            return b""
        if self._size + cut > self.max_bytes:
            return self._feed_carefully(chunk, cut)
        self._tail.append(chunk[:cut])
        block = b"".join(self._tail)
        self._tail.clear()
        self._size = 0
        if cut < len(chunk):
            self._keep(chunk[cut:])
        return block

    def finish(self) -> bytes:
        """End the stream, and return a last line without a newline; empty if there is none."""
        if self._head is not None:
            self._note(self._head, self._size, 0)
        last = b"".join(self._tail)
        self._forget()
        return last

    def _keep(self, part: bytes) -> None:
        """Add to the incomplete line, or skip it if it has become too long."""
        self._size += len(part)
        if self._head is not None:
            self._head += part[: HEAD_BYTES - len(self._head)]
        elif self._size > self.max_bytes:
            self._tail.append(part[:HEAD_BYTES])
            self._head = self._start_of_tail()
            self._tail.clear()
        elif len(part) >= SMALL_BYTES:
            self._tail.append(part)
        elif part:
            # Join small parts: a line that arrives byte by byte must not become a list of millions of objects.
            last = self._tail[-1] if self._tail else b""
            if isinstance(last, bytearray) and len(last) < PIECE_BYTES:
                last += part
            else:
                self._tail.append(bytearray(part))

    def _feed_carefully(self, chunk: bytes, cut: int) -> bytes:
        """Like `feed`, if the block is so long that a line in it may exceed the limit."""
        block: list[bytes] = []
        size = 0
        begin = 0
        while begin < cut:
            end = chunk.index(b"\n", begin) + 1
            if self._size + end - 1 - begin > self.max_bytes:
                self._keep(chunk[begin : end - 1])
                self._note(self._head or b"", self._size, size)
            else:
                self._tail.append(chunk[begin:end])
                block.append(b"".join(self._tail))
                size += len(block[-1])
            self._forget()
            begin = end
        self._keep(chunk[cut:])
        return b"".join(block)

    def _start_of_tail(self) -> bytes:
        start = b""
        for part in self._tail:
            start += part[: HEAD_BYTES - len(start)]
            if len(start) == HEAD_BYTES:
                break
        return start

    def _note(self, head: bytes, size: int, at: int) -> None:
        self.oversized.append(Oversized(head, size, at))

    def _forget(self) -> None:
        self._tail.clear()
        self._size = 0
        self._head = None


def hand_over(framer: LineFramer, block: bytes, receiver: Receiver) -> None:
    """Pass a block, and the skipped lines before, within and after it, to the receiver in wire order."""
    if framer.oversized:
        skipped, framer.oversized = framer.oversized, []
        done = 0
        for line in skipped:
            if line.at > done:
                receiver.on_lines(block[done : line.at])
                done = line.at
            receiver.on_oversized(line.head, line.size)
        block = block[done:]
    if block:
        receiver.on_lines(block)
