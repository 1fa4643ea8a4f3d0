"""Connects two transports: each sends the messages that the other receives, with back-pressure in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from accord.errors import ConnectionClosed
from accord.remote.message import read_fields, read_text, write
from accord.transports.base import READY, YIELD, Interruption, Transport

Change = Callable[[bytes], bytes]

INTERRUPTION = "_accord/interruption"
"""Informs a client that the network connection was lost or resumed."""


class RelayEnd(NamedTuple):
    """The side that ended, and the reason."""

    is_left: bool
    error: Exception | None


class Relay:
    """Passes lines between a left side, which sends requests, and a right side, which may take a while to connect.

    `outgoing` changes the lines from left to right, `incoming` those from right to left. `on_skip` is called with the
    size of a message that is too long to be passed on."""

    def __init__(
        self,
        left: Transport,
        *,
        outgoing: Change | None = None,
        incoming: Change | None = None,
        on_skip: Callable[[int], None] | None = None,
    ) -> None:
        self._left = left
        self._incoming = incoming
        self._on_skip = on_skip
        self._ended: asyncio.Future[RelayEnd] = asyncio.get_running_loop().create_future()
        self._to_right = _Half(left, outgoing, self._end_left, on_skip)

    def start(self) -> None:
        """Start receiving from the left side. Lines are buffered until there is a right side."""
        self._left.start(self._to_right)

    async def run(self, right: Transport) -> RelayEnd:
        """Pass lines on until one side ends, then close both."""
        to_left = _Half(right, self._incoming, self._end_right, self._on_skip)
        to_left.join(self._left)
        right.start(to_left)
        self._to_right.join(right)
        try:
            return await self._ended
        finally:
            await right.close()
            await to_left.wait_sent()
            await self._left.close()

    def report_interruption(self, change: Interruption) -> None:
        """Inform the left side that the connection of the right side was lost or resumed. The left side must be one of
        our clients, because the notification isn't part of the protocol."""
        with suppress(ConnectionClosed):
            self._left.send(write({"jsonrpc": "2.0", "method": INTERRUPTION, "params": change._asdict()}))

    async def refuse(self, code: int, message: str, seconds: float) -> None:
        """Answer the first requests of the left side with an error, instead of `run`. Waits this long for them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._to_right.wait_received()
        for line in self._to_right.take().splitlines():
            request = read_fields(line)
            if request is not None and "id" in request and read_text(request, "method"):
                error = {"code": code, "message": message}
                with suppress(ConnectionClosed):
                    self._left.send(write({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        await self._left.close()

    def _end_left(self, error: Exception | None) -> None:
        self._end(RelayEnd(True, error))

    def _end_right(self, error: Exception | None) -> None:
        self._end(RelayEnd(False, error))

    def _end(self, end: RelayEnd) -> None:
        if not self._ended.done():
            self._ended.set_result(end)


class _Half:
    """Receives from one side and sends to the other, once there is one."""

    def __init__(
        self,
        source: Transport,
        change: Change | None,
        end: Callable[[Exception | None], None],
        on_skip: Callable[[int], None] | None,
    ) -> None:
        self._source = source
        self._target: Transport | None = None
        self._change = change
        self._end = end
        self._on_skip = on_skip
        self._early: list[bytes] = []
        self._received = asyncio.Event()
        self._waiting: asyncio.Task[None] | None = None

    def join(self, target: Transport) -> None:
        """Send to this side from now on."""
        self._target = target
        early = self.take()
        if early:
            self.on_lines(early)
            self._source.resume()

    def take(self) -> bytes:
        """Return and remove the messages that were received early."""
        early, self._early = self._early, []
        return b"".join(early)

    async def wait_received(self) -> None:
        """Wait until something is received, or the source has ended."""
        await self._received.wait()

    async def wait_sent(self) -> None:
        """Wait until the other side has accepted everything, or has disconnected."""
        if self._waiting is not None:
            await asyncio.wait([self._waiting])

    def on_lines(self, block: bytes) -> None:
        if not block.endswith(b"\n"):
            block += b"\n"
        if self._target is None:
            self._early.append(block)
            self._received.set()
            self._source.pause()  # one block is enough until there is a right side
            return
        if self._change is not None:
            block = self._change(block)
            if not block:
                return
        try:
            waiting = self._target.send(block)
        except ConnectionClosed:
            return  # its `on_end` ends the relay
        if waiting is not READY and waiting is not YIELD and self._waiting is None:
            self._source.pause()
            self._waiting = asyncio.get_running_loop().create_task(self._wait(waiting))

    async def _wait(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except ConnectionClosed:
            return
        self._waiting = None
        self._source.resume()

    def on_oversized(self, head: bytes, size: int) -> None:
        if self._on_skip is not None:
            self._on_skip(size)

    def on_end(self, error: Exception | None) -> None:
        self._received.set()
        self._end(error)
