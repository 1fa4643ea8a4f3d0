"""In-memory transport between two ends in one process, with real bytes, framing, limits and back-pressure.

A message arrives in the next iteration of the event loop, never inside `send`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from threading import get_ident

from accord.errors import ConnectionClosed
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES, READY, YIELD, Receiver, Transport, check_thread
from accord.transports.framing import LineFramer, hand_over
from accord.transports.gate import Gate

HIGH_WATER = 1024 * 1024
YIELD_BYTES = 64 * 1024


def pair(
    *, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES, high_water: int = HIGH_WATER
) -> tuple[MemoryTransport, MemoryTransport]:
    """Create two connected transports. Both must be started in the same event loop."""
    left = MemoryTransport(max_message_bytes, high_water)
    right = MemoryTransport(max_message_bytes, high_water)
    left.other, right.other = right, left
    return left, right


class MemoryTransport(Transport):
    """One end of a pair."""

    other: MemoryTransport

    def __init__(self, max_message_bytes: int, high_water: int) -> None:
        self.max_message_bytes = max_message_bytes
        self._high_water = high_water
        self._framer: LineFramer
        self._receiver: Receiver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._gate: Gate | None = None  # where the other end waits while this inbox is full
        self._inbox: list[bytes] = []
        self._inbox_bytes = 0
        self._unyielded = 0
        self._scheduled = False
        self._paused = False
        self._other_is_gone = False
        self._closed_reason = ""  # why sending is no longer possible; empty while it is

    def start(self, receiver: Receiver) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), get_ident()
        self._receiver = receiver
        self._framer = LineFramer(self.max_message_bytes)
        self._schedule()

    def send(self, data: bytes) -> Awaitable[None]:
        if self._closed_reason:
            raise ConnectionClosed(self._closed_reason)
        return self.other._take(data)

    def flush(self) -> None:
        """Do nothing: messages aren't buffered."""

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._schedule()

    async def close(self) -> None:
        if self._receiver is not None or not self._closed_reason:
            self._end("the connection was closed on this side")
            self._empty_inbox(ConnectionClosed("the other end is closed"))
            self.other._lose_other()

    def describe(self) -> str:
        return "the in-memory peer"

    def _take(self, data: bytes) -> Awaitable[None]:
        """Add a message of the other end to the inbox, and return the awaitable for the sender."""
        if self._loop is not None and not self._scheduled:  # not for every message of a burst
            check_thread(self._thread)
        self._inbox.append(bytes(data))
        self._inbox_bytes += len(data)
        self._unyielded += len(data)
        self._schedule()
        if self._inbox_bytes > self._high_water:
            if self._gate is None:
                self._gate = Gate(asyncio.get_running_loop())
            self._gate.shut()
            return self._gate
        if self._unyielded >= YIELD_BYTES:
            self._unyielded = 0
            return YIELD
        return READY

    def _schedule(self) -> None:
        if self._loop is not None and not self._scheduled and not self._paused:
            self._scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        if self._receiver is None or self._paused:
            return
        if self._inbox:
            chunk = b"".join(self._inbox)
            self._empty_inbox(None)
            hand_over(self._framer, self._framer.feed(chunk), self._receiver)
        if self._other_is_gone and not self._inbox and not self._paused and self._receiver is not None:
            hand_over(self._framer, self._framer.finish(), self._receiver)
            self._end("the other end is closed")

    def _empty_inbox(self, error: ConnectionClosed | None) -> None:
        self._inbox.clear()
        self._inbox_bytes = 0
        if self._gate is not None:
            self._gate.open(error)

    def _lose_other(self) -> None:
        self._other_is_gone = True
        self._closed_reason = self._closed_reason or "the other end is closed"
        self._schedule()

    def _end(self, why: str) -> None:
        self._closed_reason = self._closed_reason or why
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_end(None)
