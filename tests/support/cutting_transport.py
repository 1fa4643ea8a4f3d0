"""A transport that breaks before chosen messages, counted over all connections and both directions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from accord.errors import ConnectionClosed
from accord.transports.base import READY, Receiver, Transport

Open = Callable[[], Awaitable[Transport]]


class Scissors:
    """Counts messages, and cuts before those with the chosen numbers. The message itself is lost."""

    def __init__(self, cuts: set[int]) -> None:
        self.cuts = set(cuts)
        self.messages = 0
        self.done = 0

    def count(self) -> bool:
        """Count a message; return whether the connection breaks before it."""
        self.messages += 1
        if self.messages in self.cuts:
            self.cuts.discard(self.messages)
            self.done += 1
            return True
        return False

    def wrap(self, open: Open) -> Open:
        async def open_and_wrap() -> Transport:
            return CuttingTransport(await open(), self)

        return open_and_wrap


class CuttingTransport(Transport):
    """Wraps a transport. After the cut nothing passes, and the inner transport is closed."""

    def __init__(self, inner: Transport, scissors: Scissors) -> None:
        self.inner = inner
        self.scissors = scissors
        self.is_cut = False
        self._receiver: Receiver | None = None
        self._closing: asyncio.Task[None] | None = None

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self.inner.max_message_bytes = self.max_message_bytes
        self.inner.start(self)

    def send(self, data: bytes) -> Awaitable[None]:
        if self.is_cut:
            raise ConnectionClosed("the connection was cut")
        waiting: Awaitable[None] = READY
        for line in data.splitlines(keepends=True):
            if self.scissors.count():
                self._cut()
                return READY
            waiting = self.inner.send(line)
        return waiting

    def on_lines(self, block: bytes) -> None:
        for line in block.splitlines(keepends=True):
            if self.is_cut:
                return
            if self.scissors.count():
                self._cut()
                return
            if self._receiver is not None:
                self._receiver.on_lines(line)

    def on_oversized(self, head: bytes, size: int) -> None:
        if self._receiver is not None and not self.is_cut:
            self._receiver.on_oversized(head, size)

    def on_end(self, error: Exception | None) -> None:
        if not self.is_cut and self._receiver is not None:
            self._receiver.on_end(error)

    def _cut(self) -> None:
        self.is_cut = True
        loop = asyncio.get_running_loop()
        self._closing = loop.create_task(self.inner.close())
        loop.call_soon(self._end)

    def _end(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_end(ConnectionClosed("the connection was cut"))

    def flush(self) -> None:
        self.inner.flush()

    def pause(self) -> None:
        self.inner.pause()

    def resume(self) -> None:
        self.inner.resume()

    async def close(self) -> None:
        await self.inner.close()
