"""Outgoing messages of a WebSocket, until its writer has sent them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD
from accord.transports.gate import Gate

YIELD_BYTES = 64 * 1024


class Outbox:
    """A queue of messages for one writer. Senders wait at its gate while too much is unsent.

    A server has one for each of its connections, most of which are idle, so objects that only a busy or slow connection
    needs are created on first use."""

    def __init__(self, waiting_bytes: int, max_bytes: int, on_change: Callable[[], None] | None = None) -> None:
        """`on_change` is called when there is something to write, or no more messages will follow. Without it, the
        writer waits in `next`."""
        self._waiting_bytes = waiting_bytes
        self._max_bytes = max_bytes
        # Two stacks make a queue: messages are added to the first, and taken from the end of the second.
        self._added: list[bytes] = []
        self._taken: list[bytes] = []
        self._bytes = 0
        self._unyielded = 0
        self._gate = Gate(asyncio.get_running_loop())
        self._on_change = on_change or self._wake
        self._waiting: list[asyncio.Future[None]] = []
        self._emptied: list[asyncio.Future[None]] = []
        self._refusal: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether everything has been sent and no more messages will follow."""
        return self._refusal is not None and not self._bytes

    def send(self, data: bytes) -> Awaitable[None]:
        """Like `Transport.send`."""
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        self._added.extend(line for line in data.split(b"\n") if line)
        self._bytes += len(data)
        if self._bytes > self._max_bytes:
            self.close(f"the peer reads nothing: {self._bytes} bytes are unsent")
            raise ConnectionClosed(self._refusal)
        self._on_change()
        if self._bytes > self._waiting_bytes:
            self._gate.shut()
            return self._gate
        self._unyielded += len(data)
        if self._unyielded >= YIELD_BYTES:
            self._unyielded = 0
            return YIELD
        return READY

    def take(self) -> bytes | None:
        """Return the next message; None if there is none. Call `note_sent` when it has been sent."""
        if not self._taken:
            self._added, self._taken = self._taken, self._added
            self._taken.reverse()
        return self._taken.pop() if self._taken else None

    async def next(self) -> bytes | None:
        """Wait for the next message; None if no more will follow. Call `note_sent` when it has been sent."""
        while (line := self.take()) is None:
            if self._refusal is not None:
                return None
            await _wait_in(self._waiting)
        return line

    def note_sent(self, line: bytes) -> None:
        """Record that a message has been sent."""
        self._bytes = max(self._bytes - len(line) - 1, 0)
        if not self._taken and not self._added:
            self._bytes = 0
            _release(self._emptied)
        if not self._gate.is_open and self._bytes <= self._waiting_bytes // 4:
            self._gate.open()

    def refuse(self, why: str) -> None:
        """Accept no more messages. Accepted ones are still sent."""
        if self._refusal is None:
            self._refusal = why
            self._on_change()

    def close(self, why: str) -> None:
        """Accept no more messages, and drop unsent ones. Waiting senders get an error."""
        self._added.clear()
        self._taken.clear()
        self._bytes = 0
        _release(self._emptied)
        self.refuse(why)
        self._gate.open(ConnectionClosed(self._refusal))

    async def wait_sent(self, seconds: float) -> bool:
        """Wait until everything has been sent; False if that takes too long."""
        try:
            async with asyncio.timeout(seconds):
                while self._bytes:
                    await _wait_in(self._emptied)
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        _release(self._waiting)


async def _wait_in(waiting: list[asyncio.Future[None]]) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting.append(future)
    await future


def _release(waiting: list[asyncio.Future[None]]) -> None:
    while waiting:
        future = waiting.pop()
        if not future.done():
            future.set_result(None)
