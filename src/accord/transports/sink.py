"""Write messages to a descriptor, in order: at once if they are alone, combined if they arrive in a burst.

A single message is written when `send` is called. In a burst (the last write was less than 200 µs ago) messages are
collected and written together: at the end of the event loop iteration, when there are enough of them, or with the next
message once the oldest is 1 ms old. Enough is 2 KiB at first and doubles with each write up to 64 KiB: the peer starts
early, and works while the rest is encoded, but a long stream needs few system calls.

Bytes that the operating system doesn't accept yet are queued. Above the high-water mark, senders have to wait."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Awaitable, Callable
from threading import get_ident
from time import perf_counter
from typing import Protocol

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD, check_thread
from accord.transports.descriptors import Outlet
from accord.transports.gate import Gate

HIGH_WATER = 4 * 1024 * 1024
"""How many bytes are queued before senders wait. A thousand sessions that answer at once fill 1 MiB before their client
has sent all prompts; that they then wait for each other makes each of them a third slower."""
LARGE_BYTES = 64 * 1024
FIRST_BURST_BYTES = 2 * 1024
"""The first writes of a burst. With 64 KiB, a turn of tool calls and requests takes a fifth longer, and pipelined
requests a third: agent and client then take turns instead of working at the same time."""
BURST_SECONDS = 200e-6
AGE_SECONDS = 1e-3
"""How long collected messages may wait for more, if the sender doesn't let the event loop run in between."""
YIELD_SECONDS = 10e-3
"""How often a sender that never has to wait yields to the event loop; it also yields every 64 KiB."""

OnFailure = Callable[[OSError], None]


class Sink(Protocol):
    """Writes whole messages in order."""

    def send(self, data: bytes, id: int | None = None) -> Awaitable[None]:
        """Like `Transport.send`, and `Transport.send_request`. The id of a request makes no difference here."""

    def flush(self) -> None:
        """Like `Transport.flush`."""

    def end_burst(self) -> None:
        """Treat the next message as the first of a new burst, because something was received in the meantime."""

    def refuse(self, why: str) -> None:
        """Accept no more messages: `send` raises `ConnectionClosed` with this text. Accepted messages are still
        written."""

    async def wait_until_sent(self, timeout: float) -> bool:
        """Wait until all accepted messages are written; return False on a timeout or an error."""

    def stop(self) -> None:
        """Close the descriptor. Unwritten messages are lost, and waiting senders get an error."""


class BufferedSink:
    """Base class of sinks: collects messages, and makes senders wait."""

    def __init__(self, loop: AbstractEventLoop, outlet: Outlet, on_failure: OnFailure, high_water: int) -> None:
        self._loop = loop
        self._loop_thread = get_ident()
        self._outlet = outlet
        self._on_failure = on_failure
        self._high_water = high_water
        self._low_water = high_water // 4
        self._gate = Gate(loop)  # shut while too many bytes are unwritten
        self._empty = Gate(loop)  # shut while any byte is unwritten, once `wait_until_sent` is called
        self._collected = bytearray()
        self._scheduled = False  # a flush is scheduled for the end of this loop iteration
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
        """Handle a write error. Waiters get it now, the owner in the next iteration: this may run inside `send`."""
        if not self._broken:
            self._broken = True
            self._fail_waiters(f"can't send: {error.strerror or error}")
            self._loop.call_soon(self._on_failure, error)

    def _fail_waiters(self, why: str) -> None:
        self.refuse(why)
        self._collected = bytearray()
        error = ConnectionClosed(self._refusal)
        self._gate.open(error)
        self._empty.open(error)

    async def _wait_until_empty(self, timeout: float) -> bool:
        async def wait() -> None:
            await self._empty

        self._empty.shut()
        try:
            await asyncio.wait_for(wait(), timeout)
        except (TimeoutError, ConnectionClosed):
            return False
        return True


class LoopSink(BufferedSink):
    """Writes without blocking, and continues when the event loop reports room."""

    def __init__(
        self, loop: AbstractEventLoop, outlet: Outlet, on_failure: OnFailure, high_water: int = HIGH_WATER
    ) -> None:
        super().__init__(loop, outlet, on_failure, high_water)
        self._fd = outlet.fd
        self._write = outlet.write
        self._backlog: deque[memoryview] = deque()  # bytes that weren't accepted yet; written before `_collected`
        self._backlog_bytes = 0
        self._waiting = False  # for room to write
        self._written_at = 0.0
        self._collected_at = 0.0
        self._burst_bytes = FIRST_BURST_BYTES  # the next write of this burst

    def send(self, data: bytes, id: int | None = None) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        collected = self._collected
        if collected and not self._waiting and len(data) < LARGE_BYTES:  # the burst continues
            collected += data
            now = perf_counter()
            if len(collected) < self._burst_bytes and now - self._collected_at < AGE_SECONDS:
                return READY
            self.flush()
            self._written_at = perf_counter()
            if self._burst_bytes < LARGE_BYTES:
                self._burst_bytes *= 2
                return self._after_writing(now, rest=False)
            return self._after_writing(now, rest=True)
        if get_ident() != self._loop_thread:  # not for every message of a burst: this is the hot path of every agent
            check_thread(self._loop_thread)
        now = perf_counter()
        if len(data) >= LARGE_BYTES:
            self._written_at = now
            self._send_large(data)
            return self._after_writing(now, rest=True)
        if self._waiting:
            collected += data
            if len(collected) >= LARGE_BYTES:  # the peer may have made room in the meantime
                self._queue_collected()
                self._on_writable()
        elif now - self._written_at >= BURST_SECONDS:  # alone
            self._put(data)
            # Measured after the write, which wakes the peer and may suspend this process.
            self._written_at = perf_counter()
            self._burst_bytes = FIRST_BURST_BYTES
            if not self._waiting and not self._broken and now - self._yielded_at < YIELD_SECONDS:
                return READY
        else:
            collected += data
            self._collected_at = now
            self._schedule()
        return self._after_writing(now, rest=False)

    def _after_writing(self, now: float, *, rest: bool) -> Awaitable[None]:
        """Return the awaitable for a sender: for room, or occasionally for one iteration of the event loop."""
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

    def end_burst(self) -> None:
        self._written_at = 0.0

    async def wait_until_sent(self, timeout: float) -> bool:
        self.flush()
        return await self._wait_until_empty(timeout) if self._waiting else not self._broken

    def stop(self) -> None:
        self._broken = True
        self._forget_backlog()
        self._fail_waiters("the connection was closed on this side")
        self._outlet.close()

    def _send_large(self, data: bytes) -> None:
        """Write a large message from its own buffer, instead of copying it."""
        data = bytes(data)  # copies only if it is mutable
        self.flush()
        if self._waiting:
            self._queue_collected()
            self._queue(memoryview(data))
        elif not self._broken:
            self._put(data)

    def _put(self, data: bytes | bytearray) -> None:
        """Write what the operating system accepts, and queue the rest."""
        try:
            done = self._write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            done = 0
        except OSError as error:
            self._fail(error)
            return
        if done < len(data):
            self._queue(memoryview(data)[done:])
            self._wait_for_room()

    def _queue(self, rest: memoryview) -> None:
        self._backlog.append(rest)
        self._backlog_bytes += len(rest)

    def _queue_collected(self) -> None:
        if self._collected:
            collected, self._collected = self._collected, bytearray()
            self._queue(memoryview(collected))

    def _wait_for_room(self) -> None:
        try:
            self._loop.add_writer(self._fd, self._on_writable)
            self._waiting = True
        except (OSError, ValueError):
            # The loop can't watch a regular file; but a file never returns EAGAIN, so this loop ends.
            while self._backlog:
                self._write_backlog()

    def _on_writable(self) -> None:
        self._write_backlog()
        if not self._backlog:
            self._queue_collected()
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
