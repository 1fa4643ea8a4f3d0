"""Reading and writing by threads: for what the event loop cannot watch.

That is a regular file as standard input, a terminal that cannot be opened again, and every pipe on Windows, whose
usual loop watches no descriptors. Bytes go to and from the loop with `call_soon_threadsafe`, a bounded number at a
time; a descriptor is closed by the thread that uses it, so that its number is never taken over under its hands."""

from __future__ import annotations

import os
import select
import threading
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from errno import EIO
from time import perf_counter

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.reading import READ_BYTES, Deliver, Ended
from accord.transports.writing import HIGH_WATER, LARGE, YIELD_SECONDS, Collector, Failed

CHUNKS_IN_FLIGHT = 8


class ThreadSource:
    """Reads in a thread of its own, a few chunks ahead at most."""

    def __init__(self, loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: Ended) -> None:
        self._loop = loop
        self._inlet = inlet
        self._deliver = deliver
        self._ended = ended
        self._arrived: deque[bytes | OSError | None] = deque()
        self._room = threading.Semaphore(CHUNKS_IN_FLIGHT)
        self._paused = False
        self._stopped = False
        # A thread that can wait for two things at once stops at once; on Windows it stops with its next read.
        self._wake = os.pipe() if hasattr(select, "poll") else None

    def start(self) -> None:
        threading.Thread(target=self._run, name="accord-reader", daemon=True).start()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._hand_over)

    def drain(self) -> None:
        self._hand_over()

    def stop(self) -> None:
        if not self._stopped:
            self._stopped = True
            self._room.release()
            if self._wake is not None:
                os.close(self._wake[1])

    def _hand_over(self) -> None:
        while self._arrived and not self._paused and not self._stopped:
            chunk = self._arrived.popleft()
            self._room.release()
            if isinstance(chunk, bytes):
                self._deliver(chunk)
            else:
                self.stop()
                self._ended(chunk)

    def _run(self) -> None:
        """The thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while self._may_read():
                chunk: bytes | OSError | None
                try:
                    chunk = self._inlet.read(self._inlet.fd, READ_BYTES) or None
                except (BlockingIOError, InterruptedError):
                    self._room.release()
                    continue
                except OSError as error:
                    chunk = None if error.errno == EIO else error
                self._arrived.append(chunk)
                self._loop.call_soon_threadsafe(self._hand_over)
                if not isinstance(chunk, bytes):
                    break
        self._inlet.close()
        if self._wake is not None:
            os.close(self._wake[0])

    def _may_read(self) -> bool:
        """Waits for room, and for something to read: `stop` must not be heard only after another line is swallowed."""
        self._room.acquire()
        if self._wake is not None and not self._stopped:
            poll = select.poll()
            poll.register(self._wake[0], select.POLLIN)
            poll.register(self._inlet.fd, select.POLLIN)
            poll.poll()
        return not self._stopped


class ThreadSink(Collector):
    """Writes in a thread of its own, where waiting holds up nobody."""

    def __init__(self, loop: AbstractEventLoop, outlet: Outlet, failed: Failed, high_water: int = HIGH_WATER) -> None:
        super().__init__(loop, outlet, failed, high_water)
        self._parts: deque[bytes | bytearray] = deque()
        self._more = threading.Semaphore(0)
        self._unwritten = 0
        self._thread: threading.Thread | None = None

    def send(self, data: bytes) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        size = len(data)
        self._unwritten += size
        if size >= LARGE:
            self.flush()
            self._pass_on(bytes(data))
        else:
            self._collected += data
            if len(self._collected) >= LARGE:
                self.flush()
            else:
                self._schedule()
        if self._unwritten > self._high_water:
            self._gate.shut()
            return self._gate
        now = perf_counter()
        self._unyielded += size
        if self._unyielded >= LARGE or now - self._yielded_at >= YIELD_SECONDS:
            self._unyielded = 0
            self._yielded_at = now
            return YIELD
        return READY

    def flush(self) -> None:
        if self._collected and not self._broken:
            collected, self._collected = self._collected, bytearray()
            self._pass_on(collected)

    def rested(self) -> None:
        """Nothing to do: the thread is woken at the end of the pass in any case."""

    async def drained(self, timeout: float) -> bool:
        self.flush()
        return await self._until_empty(timeout) if self._unwritten and not self._broken else not self._broken

    def stop(self) -> None:
        self._broken = True
        self._give_up("the connection was closed on this side")
        self._more.release()
        if self._thread is None:
            self._outlet.close()

    def _pass_on(self, part: bytes | bytearray) -> None:
        self._parts.append(part)
        self._more.release()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="accord-writer", daemon=True)
            self._thread.start()

    def _written(self, size: int) -> None:
        self._unwritten -= size
        if not self._gate.is_open and self._unwritten <= self._low_water:
            self._gate.open()
        if not self._unwritten:
            self._empty.open()

    def _run(self) -> None:
        """The thread."""
        with suppress(RuntimeError):  # the loop is closed
            try:
                while self._next_is_due():
                    part = self._parts.popleft()
                    self._write_all(part)
                    self._loop.call_soon_threadsafe(self._written, len(part))
            except OSError as error:
                self._loop.call_soon_threadsafe(self._fail, error)
                self._more.acquire()  # until `stop`
        self._outlet.close()

    def _next_is_due(self) -> bool:
        self._more.acquire()
        return not self._broken

    def _write_all(self, part: bytes | bytearray) -> None:
        rest = memoryview(part)
        while rest and not self._broken:
            try:
                rest = rest[self._outlet.write(self._outlet.fd, rest) :]
            except InterruptedError:
                continue
            except BlockingIOError:
                select.select([], [self._outlet.fd], [], 1.0)
