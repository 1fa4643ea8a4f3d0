"""Bytes in, whole lines out, within a size limit. Nothing here reads, waits or decodes.

What comes in is handed on in blocks: everything up to the last newline, as one piece. A line that is longer than the
limit is skipped up to its newline and noted, and framing goes on behind it. Every byte is looked at once and copied at
most twice, however a long line is cut up."""

from __future__ import annotations

from typing import NamedTuple

from accord.transports.base import Receiver

HEAD_BYTES = 4096
"""How much of a skipped line is kept, so that its id can still be found."""

SMALL = 4096
PIECE = 64 * 1024


class Oversized(NamedTuple):
    """A line that was skipped because it is too long."""

    head: bytes
    """Its first bytes."""
    size: int
    """Its length without the newline; at the end of the stream, as much as came."""
    at: int
    """How many bytes of the block returned by the same call came before it."""


class LineFramer:
    """Finds whole lines in a stream that arrives in pieces."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.oversized: list[Oversized] = []
        """What was skipped; whoever reads it empties it."""
        self._tail: list[bytes | bytearray] = []  # the beginning of a line whose newline has not come yet
        self._size = 0  # how long that line is so far, what was skipped of it included
        self._head: bytes | None = None  # set while a line is being skipped

    def feed(self, chunk: bytes) -> bytes:
        """The whole lines there are now, as one block; empty when no line is complete."""
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
        """The last line, when the stream ended without a newline."""
        if self._head is not None:
            self._note(self._head, self._size, 0)
        last = b"".join(self._tail)
        self._forget()
        return last

    def _keep(self, part: bytes) -> None:
        """Adds to the line that is not complete, or skips when it has become too long."""
        self._size += len(part)
        if self._head is not None:
            self._head += part[: HEAD_BYTES - len(self._head)]
        elif self._size > self.max_bytes:
            self._tail.append(part[:HEAD_BYTES])
            self._head = self._start_of_tail()
            self._tail.clear()
        elif len(part) >= SMALL:
            self._tail.append(part)
        elif part:
            # A line that trickles in by single bytes must not become a list of millions of objects.
            last = self._tail[-1] if self._tail else b""
            if isinstance(last, bytearray) and len(last) < PIECE:
                last += part
            else:
                self._tail.append(bytearray(part))

    def _feed_carefully(self, chunk: bytes, cut: int) -> bytes:
        """As `feed`, for a block long enough that a line of it may be past the limit."""
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
    """Gives a block, and what was skipped before, within and after it, to the receiver in wire order."""
    if framer.oversized:
        skipped, framer.oversized = framer.oversized, []
        done = 0
        for line in skipped:
            if line.at > done:
                receiver.lines(block[done : line.at])
                done = line.at
            receiver.oversized(line.head, line.size)
        block = block[done:]
    if block:
        receiver.lines(block)
