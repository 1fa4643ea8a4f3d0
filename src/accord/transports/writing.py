"""Putting bytes into a descriptor: at once when alone, collected in a burst, never out of order.

A message that comes alone is written when `send` is called. In a burst (the last write ended less than 200 µs ago)
messages are collected and written together: at the end of the pass of the event loop, at 64 KiB, or with the next
message once the oldest is 1 ms old. What the operating system does not take yet waits; past the high-water mark, so do
senders."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Protocol

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD
from accord.transports.descriptors import Outlet
from accord.transports.gate import Gate

HIGH_WATER = 1024 * 1024
LARGE = 64 * 1024
BURST_SECONDS = 200e-6
AGE_SECONDS = 1e-3
"""How long what is collected may wait for more, when the sender does not let the loop run in between."""
YIELD_SECONDS = 10e-3
"""A sender that never truly waits lets the loop run at least this often, and every 64 KiB."""

Failed = Callable[[OSError], None]


class Sink(Protocol):
    """Takes whole messages and gets them out in order."""

    def send(self, data: bytes) -> Awaitable[None]:
        """As `Transport.send`."""

    def flush(self) -> None:
        """As `Transport.flush`."""

    def rested(self) -> None:
        """The next message is no part of an earlier burst: something came in meanwhile."""

    def refuse(self, why: str) -> None:
        """Takes no more: `send` raises `ConnectionClosed` with these words. What was taken still goes out."""

    async def drained(self, timeout: float) -> bool:
        """Waits until all that was taken is out; false when it took too long, or cannot be."""

    def stop(self) -> None:
        """Lets go of the descriptor. What is still unwritten is lost, and those who wait are told."""


class Collector:
    """What every sink does alike: collecting, refusing, and making senders wait."""

    def __init__(self, loop: AbstractEventLoop, outlet: Outlet, failed: Failed, high_water: int) -> None:
        self._loop = loop
        self._outlet = outlet
        self._failed = failed
        self._high_water = high_water
        self._low_water = high_water // 4
        self._gate = Gate(loop)  # shut while too much is unwritten
        self._empty = Gate(loop)  # shut while anything is, once somebody wants to know
        self._collected = bytearray()
        self._scheduled = False  # a flush at the end of this pass of the loop
        self._refusal: str | None = None
        self._broken = False
        self._yielded_at = 0.0
        self._unyielded = 0

    def refuse(self, why: str) -> None:
        if self._refusal is None:
            self._refusal = why

    def flush(self) -> None:
        raise NotImplementedError

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._end_of_pass)

    def _end_of_pass(self) -> None:
        self._scheduled = False
        self.flush()

    def _fail(self, error: OSError) -> None:
        """The peer takes no more. Whoever waits is told now; the owner in the next pass: this may be inside `send`."""
        if not self._broken:
            self._broken = True
            self._give_up(f"nothing more can be sent: {error.strerror or error}")
            self._loop.call_soon(self._failed, error)

    def _give_up(self, why: str) -> None:
        self.refuse(why)
        self._collected = bytearray()
        error = ConnectionClosed(self._refusal)
        self._gate.open(error)
        self._empty.open(error)

    async def _until_empty(self, timeout: float) -> bool:
        async def wait() -> None:
            await self._empty

        self._empty.shut()
        try:
            await asyncio.wait_for(wait(), timeout)
        except (TimeoutError, ConnectionClosed):
            return False
        return True


class LoopSink(Collector):
    """Writes without waiting, and lets the loop say when there is room again."""

    def __init__(self, loop: AbstractEventLoop, outlet: Outlet, failed: Failed, high_water: int = HIGH_WATER) -> None:
        super().__init__(loop, outlet, failed, high_water)
        self._fd = outlet.fd
        self._write = outlet.write
        self._backlog: deque[memoryview] = deque()  # what was not taken yet; goes before what is collected
        self._backlog_bytes = 0
        self._waiting = False  # for room to write
        self._written_at = 0.0
        self._collected_at = 0.0

    def send(self, data: bytes) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        collected = self._collected
        if collected and not self._waiting and len(data) < LARGE:  # a burst goes on
            collected += data
            now = perf_counter()
            if len(collected) < LARGE and now - self._collected_at < AGE_SECONDS:
                return READY
            self.flush()
            self._written_at = perf_counter()
            return self._after_writing(now, rest=True)
        now = perf_counter()
        if len(data) >= LARGE:
            self._written_at = now
            self._take_large(data)
            return self._after_writing(now, rest=True)
        if self._waiting:
            collected += data
        elif now - self._written_at >= BURST_SECONDS:  # alone
            self._put(data)
            self._written_at = perf_counter()  # afterwards: a write wakes the peer, and may wait for the processor
        else:
            collected += data
            self._collected_at = now
            self._schedule()
        return self._after_writing(now, rest=False)

    def _after_writing(self, now: float, *, rest: bool) -> Awaitable[None]:
        """What a sender has to wait for: room, or, now and then, that others get their turn."""
        if self._broken:
            raise ConnectionClosed(self._refusal)
        if self._waiting and self._backlog_bytes + len(self._collected) > self._high_water:
            self._gate.shut()
            return self._gate
        if rest or now - self._yielded_at >= YIELD_SECONDS:
            self._yielded_at = now
            return YIELD
        return READY

    def flush(self) -> None:
        if self._collected and not self._waiting and not self._broken:
            collected, self._collected = self._collected, bytearray()
            self._put(collected)

    def rested(self) -> None:
        self._written_at = 0.0

    async def drained(self, timeout: float) -> bool:
        self.flush()
        return await self._until_empty(timeout) if self._waiting else not self._broken

    def stop(self) -> None:
        self._broken = True
        self._forget_backlog()
        self._give_up("the connection was closed on this side")
        self._outlet.close()

    def _take_large(self, data: bytes) -> None:
        """A large message is written from where it lies, not copied to what is collected."""
        data = bytes(data)  # copies only what the caller could still change
        self.flush()
        if self._waiting:
            self._hold_back_collected()
            self._hold_back(memoryview(data))
        elif not self._broken:
            self._put(data)

    def _put(self, data: bytes | bytearray) -> None:
        """Writes what the operating system takes, and keeps the rest for when there is room."""
        try:
            done = self._write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            done = 0
        except OSError as error:
            self._fail(error)
            return
        if done < len(data):
            self._hold_back(memoryview(data)[done:])
            self._wait_for_room()

    def _hold_back(self, rest: memoryview) -> None:
        self._backlog.append(rest)
        self._backlog_bytes += len(rest)

    def _hold_back_collected(self) -> None:
        if self._collected:
            collected, self._collected = self._collected, bytearray()
            self._hold_back(memoryview(collected))

    def _wait_for_room(self) -> None:
        try:
            self._loop.add_writer(self._fd, self._on_writable)
            self._waiting = True
        except (OSError, ValueError):
            # The loop cannot watch a file; but a file never says "later" either, so this ends.
            while self._backlog:
                self._write_backlog()

    def _on_writable(self) -> None:
        self._write_backlog()
        if not self._backlog:
            self._hold_back_collected()
            self._write_backlog()
        if not self._backlog and self._waiting:
            self._forget_backlog()
            self._empty.open()
        if not self._gate.is_open and self._backlog_bytes + len(self._collected) <= self._low_water:
            self._gate.open()

    def _write_backlog(self) -> None:
        while self._backlog:
            rest = self._backlog[0]
            try:
                done = self._write(self._fd, rest)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._forget_backlog()
                self._fail(error)
                return
            self._backlog_bytes -= done
            if done < len(rest):
                self._backlog[0] = rest[done:]
                return
            self._backlog.popleft()

    def _forget_backlog(self) -> None:
        self._backlog.clear()
        self._backlog_bytes = 0
        if self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._fd)
