"""Watching a terminal: what is new, and never the whole again.

A watcher is a position in the output and nothing else. However slow it is, it costs no memory, holds up nobody, and
next time gets all that came meanwhile in one piece. One that comes late gets what is kept, in one piece, then what is
new. One that is so slow that the beginning of its next piece is no longer kept is told how much it missed."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from accord.model.tool import ExitStatus
from accord.workspace.output import OutputBuffer


class Delta(NamedTuple):
    """What is new: bytes that were printed (a character may be split between two deltas), or the command's end."""

    data: bytes
    skipped: int = 0
    """How many bytes before `data` are lost to this watcher."""
    exit: ExitStatus | None = None
    """Set once, when the command has ended. Those it left behind may still print."""


class Source:
    """Output that grows and the end of its command: what a watcher looks at."""

    def __init__(self, output: OutputBuffer) -> None:
        self.output = output
        self.exit: ExitStatus | None = None
        self.listener: Callable[[], None] | None = None
        """Called at once when there is something new; it must be quick."""
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """Wakes everyone who waits for something new."""
        self._changed.set()
        if self.listener is not None:
            self.listener()

    async def change(self) -> None:
        """Waits for something new. Look before waiting, without a pause between the two."""
        self._changed.clear()
        await self._changed.wait()


class Subscription:
    """One watcher: `async for delta in subscription`, until the command has ended and nothing more can be printed."""

    def __init__(self, source: Source) -> None:
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
            await source.change()

    async def texts(self) -> AsyncIterator[str]:
        """The same as text, whole characters only. What was missed is left out."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        async for delta in self:
            if delta.skipped:
                decoder.reset()
            if text := decoder.decode(delta.data):
                yield text
        if text := decoder.decode(b"", True):
            yield text
