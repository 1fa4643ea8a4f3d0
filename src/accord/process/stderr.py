"""Read the standard error of a child and keep its tail.

It is always read, because the child blocks when the pipe is full."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

KEPT_BYTES = 64 * 1024
MAX_LINE_CHARACTERS = 64 * 1024
MAX_WORD_CHARACTERS = 4 * 1024
"""How far from its end an overlong line may be split at a space."""
READ_BYTES = 64 * 1024
READS_PER_WAKE = 16


class Tail:
    """The last part of a stream of text, and a listener for its lines."""

    def __init__(self, on_line: Callable[[str], None] | None = None, kept_bytes: int = KEPT_BYTES) -> None:
        self._on_line = on_line
        self._kept_bytes = kept_bytes
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._is_truncated = False
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._line = ""  # an incomplete last line

    def feed(self, data: bytes) -> None:
        """Add output."""
        self._parts.append(data)
        self._size += len(data)
        while self._size - len(self._parts[0]) >= self._kept_bytes:
            self._size -= len(self._parts.popleft())
            self._is_truncated = True
        if len(self._parts) > 1024:  # many small writes: join them
            whole = b"".join(self._parts)
            self._parts.clear()
            self._parts.append(whole)
        if self._on_line is not None:
            self._listen(self._decode(data))

    def finish(self) -> None:
        """Handle the end of the stream; the last line may lack its newline."""
        if self._on_line is not None:
            self._listen(self._decode(b"", True))
            if self._line:
                line, self._line = self._line, ""
                self._on_line(line)

    def text(self) -> str:
        """Return the last part, without the final newline. If it is truncated, it starts at a line."""
        data = b"".join(self._parts)
        if self._is_truncated or len(data) > self._kept_bytes:
            data = data[-self._kept_bytes :]
            first_end = data.find(b"\n")
            if 0 <= first_end < len(data) - 1:
                data = data[first_end + 1 :]
        return data.decode("utf-8", "replace").rstrip()

    def _listen(self, text: str) -> None:
        assert self._on_line is not None
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._on_line(line.removesuffix("\r"))
        if len(self._line) > MAX_LINE_CHARACTERS:
            # Split between two words if possible: listeners redact line by line, and would miss a split secret.
            end = self._line.rfind(" ", len(self._line) - MAX_WORD_CHARACTERS) + 1 or len(self._line)
            line, self._line = self._line[:end], self._line[end:]
            self._on_line(line)


class Sink(Protocol):
    """Consumer of a `Drain`: a `Tail`, or a terminal."""

    def feed(self, data: bytes, /) -> None: ...

    def finish(self) -> None:
        """Called at the end of the stream."""


class Drain:
    """Reads a descriptor into a sink until its end, with the event loop if possible, else with a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, sink: Sink) -> None:
        self._loop = loop
        self._fd = fd
        self._sink = sink
        self._is_open = True
        self._watching = False
        self._ended = asyncio.Event()
        try:
            loop.add_reader(fd, self.read_available)
        except (NotImplementedError, OSError, ValueError):
            threading.Thread(target=self._run, name="accord-stderr", daemon=True).start()
        else:
            self._watching = True
            if sys.platform != "win32":  # its event loop can't watch pipes
                os.set_blocking(fd, False)

    def read_available(self) -> None:
        """Read the available data, without waiting."""
        if not self._watching:
            return
        for _ in range(READS_PER_WAKE):
            try:
                data = os.read(self._fd, READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                return
            self._sink.feed(data)
            if len(data) < READ_BYTES:
                return

    async def wait_until_ended(self, timeout: float) -> None:
        """Wait for the end of the stream. It follows the writer's exit, unless another process keeps the pipe open."""
        self.read_available()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), timeout)

    def close(self) -> None:
        """Stop reading. Idempotent."""
        if not self._is_open:
            return
        self._is_open = False
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
        self._sink.finish()
        self._ended.set()

    def _run(self) -> None:
        """Read in a thread."""
        with suppress(RuntimeError, OSError):  # the loop is closed; the pipe is gone
            while self._is_open and (data := os.read(self._fd, READ_BYTES)):
                self._loop.call_soon_threadsafe(self._sink.feed, data)
            self._loop.call_soon_threadsafe(self.close)
        os.close(self._fd)
