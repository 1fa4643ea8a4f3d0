"""Output of terminals: store it, subscribe to it, and report it to a client.

`OutputBuffer` keeps the last bytes and decodes them on request. A limit counts bytes of UTF-8 text, in which an invalid
byte becomes U+FFFD (three bytes). Text is never shorter than the bytes it is decoded from, so the last `n` bytes are
always enough for the last `n` bytes of text. Adding bytes, and reading those after a position, take the same time
regardless of its length.

A `Subscription` is only a position in the output. A slow reader needs no memory and delays no one, because the next
read returns all new output at once. If the start of that is no longer kept, the reader gets the number of missed bytes.

`Display` turns deltas into updates for a client (version 2). It combines many small pieces into few larger ones: an
update is due when enough bytes have arrived or enough time has passed. If bytes were lost because the client is slow,
the update replaces the whole output with the part that is kept."""

from __future__ import annotations

import asyncio
import codecs
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import NamedTuple, Union

from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
"""The maximum output that is kept per command, even if the agent requests more."""

MIN_KEPT_BYTES = 4 * 1024 * 1024
"""The minimum output that is kept (within the maximum) for display, even if the agent requests less."""

BLOCK_BYTES = 64 * 1024


class OutputBuffer:
    """The last part of a stream of bytes. `limit` applies to the text for the agent (None: the maximum)."""

    def __init__(
        self, limit: int | None = None, *, ceiling: int = MAX_OUTPUT_BYTES, window: int = MIN_KEPT_BYTES
    ) -> None:
        self.limit: int = ceiling if limit is None else min(max(limit, 0), ceiling)
        self.end: int = 0
        """The number of bytes received so far: the position after the last one."""
        self.lines: int = 0
        """The number of complete lines so far."""
        self.finished: bool = False
        """Whether the stream has ended."""
        self._kept_bytes = min(ceiling, max(self.limit, window))
        # Each block starts and ends at a character boundary, so that decoding can start at any block.
        self._blocks: deque[bytearray] = deque()
        self._size = 0  # total size of the blocks
        self._unfinished = b""  # an incomplete character, at most three bytes
        self._text_bytes = 0  # size of all text so far, in UTF-8
        self._is_valid_utf8 = True  # whether all bytes so far were valid UTF-8

    def feed(self, data: bytes) -> None:
        """Add output."""
        for start in range(0, len(data), BLOCK_BYTES):
            self._take(data[start : start + BLOCK_BYTES])

    def finish(self) -> None:
        """End the stream. An incomplete character becomes U+FFFD. Idempotent."""
        self.finished = True
        if self._unfinished:
            rest, self._unfinished = self._unfinished, b""
            self._is_valid_utf8 = False
            self._keep(rest, len(rest.decode("utf-8", "replace").encode()))

    @property
    def size(self) -> int:
        """The number of bytes that are kept."""
        return self._size + len(self._unfinished)

    @property
    def start(self) -> int:
        """The position of the first kept byte."""
        return self.end - self.size

    @property
    def truncated(self) -> bool:
        """Whether `text` is truncated at the start."""
        return self._text_bytes > self.limit

    @property
    def is_kept_text_truncated(self) -> bool:
        """Whether `kept_text` is truncated at the start."""
        return self._text_bytes > self._kept_bytes

    def text(self) -> str:
        """Return the last `limit` bytes of the text, without splitting a character."""
        return self.last_text(self.limit)

    def kept_text(self) -> str:
        """Return all text that is kept, which may exceed the agent's limit."""
        return self.last_text(self._kept_bytes)

    def since(self, position: int) -> tuple[bytes, int]:
        """Return the bytes from a position on, and the number of bytes after the position that are no longer kept."""
        begin = max(position, self.start)
        missing = self.end - begin
        pieces: list[bytes | bytearray] = [self._unfinished[-missing:]] if missing and self._unfinished else []
        missing -= sum(map(len, pieces))
        for block in reversed(self._blocks):
            if not missing:
                break
            pieces.append(block[-missing:])
            missing -= len(pieces[-1])
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
                self._is_valid_utf8 = False
        self._unfinished = data[whole:]
        self._keep(data[:whole], length)

    def _keep(self, data: bytes, text_bytes: int) -> None:
        """Add whole characters, and drop the oldest blocks."""
        self._text_bytes += text_bytes
        self._size += len(data)
        if self._blocks and len(self._blocks[-1]) + len(data) <= BLOCK_BYTES:
            self._blocks[-1] += data
        elif data:
            self._blocks.append(bytearray(data))
        while self._blocks and self._size - len(self._blocks[0]) >= self._kept_bytes:
            self._size -= len(self._blocks.popleft())

    def last_text(self, limit: int) -> str:
        """Return the last `limit` bytes of the kept text, without splitting a character."""
        data = b"".join(reversed(list(self._last_blocks(limit))))
        if not self._is_valid_utf8:
            data = data.decode("utf-8", "replace").encode()
        begin = max(0, len(data) - limit)
        while begin < len(data) and data[begin] & 0xC0 == 0x80:  # continuation byte
            begin += 1
        return data[begin:].decode()

    def _last_blocks(self, size: int) -> Iterator[bytearray]:
        """Yield blocks from the end until they have the given total size."""
        for block in reversed(self._blocks):
            if size <= 0:
                return
            yield block
            size -= len(block)


class Delta(NamedTuple):
    """New output (a character may be split between two deltas), or the exit of the command."""

    data: bytes
    skipped: int = 0
    """The number of bytes before `data` that this subscriber missed."""
    exit: ExitStatus | None = None
    """Set once, after the command's exit. Its descendants may still write output."""


class OutputSource:
    """The growing output of a command and its exit status, for subscriptions."""

    def __init__(self, output: OutputBuffer) -> None:
        self.output = output
        self.exit: ExitStatus | None = None
        self.listener: Callable[[], None] | None = None
        """Called synchronously on every change; must be fast."""
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all subscribers."""
        self._changed.set()
        if self.listener is not None:
            self.listener()

    async def wait_for_change(self) -> None:
        """Wait for a change. Check the state right before, without an await in between, or a change can be missed."""
        self._changed.clear()
        await self._changed.wait()


class Subscription:
    """A subscription: `async for delta in subscription`, until the command has exited and the output has ended."""

    def __init__(self, source: OutputSource) -> None:
        self._source = source
        self._position = 0
        self._knows_exit = False

    def __aiter__(self) -> AsyncIterator[Delta]:
        return self

    async def __anext__(self) -> Delta:
        source = self._source
        while True:
            data, skipped = source.output.since(self._position)
            news = source.exit if not self._knows_exit else None
            if data or skipped or news is not None:
                self._position = source.output.end
                self._knows_exit = self._knows_exit or news is not None
                return Delta(data, skipped, news)
            if source.output.finished and self._knows_exit:
                raise StopAsyncIteration
            await source.wait_for_change()

    async def texts(self) -> AsyncIterator[str]:
        """Iterate over the output as text, in whole characters. Missed output is skipped."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        async for delta in self:
            if delta.skipped:
                decoder.reset()
            if text := decoder.decode(delta.data):
                yield text
        if text := decoder.decode(b"", True):
            yield text


UPDATE_BYTES = 16 * 1024
"""Bytes that cause an update at once."""

MAX_UPDATE_BYTES = 64 * 1024
"""The maximum number of bytes in an update."""

UPDATE_SECONDS = 0.05
"""How long output may be delayed, to combine it with more."""

TerminalUpdate = Union[TerminalPatch, TerminalData]


class OutputReporter:
    """Creates the updates for a terminal. The caller passes the time, so that tests can control it."""

    def __init__(
        self,
        id: str,
        *,
        enough_bytes: int = UPDATE_BYTES,
        most_bytes: int = MAX_UPDATE_BYTES,
        enough_seconds: float = UPDATE_SECONDS,
    ) -> None:
        self.id = id
        self._enough_bytes = enough_bytes
        self._most_bytes = most_bytes
        self._enough_seconds = enough_seconds
        self._waiting = bytearray()
        self._oldest = 0.0  # when the oldest waiting byte arrived

    def take(self, delta: Delta, now: float) -> list[TerminalUpdate]:
        """Add a delta, and return the updates that are due."""
        updates: list[TerminalUpdate] = []
        if delta.skipped:
            # Output was lost before this delta, which contains everything that is kept, so replace the whole output.
            updates.append(TerminalPatch(id=self.id, output=delta.data[: self._most_bytes]))
            self._waiting = bytearray(delta.data[self._most_bytes :])
            updates += self.flush()
        elif delta.data:
            if not self._waiting:
                self._oldest = now
            self._waiting += delta.data
            if len(self._waiting) >= self._enough_bytes or now >= self._oldest + self._enough_seconds:
                updates += self.flush()
        if delta.exit is not None:
            updates += self.on_exit(delta.exit)
        return updates

    def due(self) -> float | None:
        """Return when `flush` must be called at the latest; None if nothing is waiting."""
        return self._oldest + self._enough_seconds if self._waiting else None

    def flush(self) -> list[TerminalUpdate]:
        """Return updates for the waiting output."""
        data, self._waiting = bytes(self._waiting), bytearray()
        return [
            TerminalData(id=self.id, data=data[start : start + self._most_bytes])
            for start in range(0, len(data), self._most_bytes)
        ]

    def on_exit(self, exit: ExitStatus) -> list[TerminalUpdate]:
        """Return updates for the waiting output and the exit."""
        return [*self.flush(), TerminalPatch(id=self.id, exit=exit, can_cancel=False)]


async def report_output(
    watched: Subscription,
    display: OutputReporter,
    say: Callable[[TerminalUpdate], Awaitable[None]],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Report the output of a terminal until its end. While `say` waits for a slow client, output is combined."""
    while True:
        due = display.due()
        try:
            async with asyncio.timeout(None if due is None else max(0.0, due - clock())):
                delta = await anext(watched)
        except StopAsyncIteration:
            break
        except TimeoutError:
            updates = display.flush()
        else:
            updates = display.take(delta, clock())
        for statement in updates:
            await say(statement)
    for statement in display.flush():
        await say(statement)
