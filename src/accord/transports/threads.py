"""Read and write with threads, for descriptors that the event loop can't watch.

These are a regular file as standard input, a terminal that can't be opened again, and every pipe on Windows, whose
default event loop can't watch descriptors. Chunks are passed to the event loop with `call_soon_threadsafe`, a bounded
number at a time. A descriptor is closed by the thread that uses it: if another thread closed it, its number could be
reused while the first one is still reading from it."""

from __future__ import annotations

import os
import select
import sys
import threading
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from errno import EIO
from time import perf_counter

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD, check_thread
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.sink import HIGH_WATER, LARGE_BYTES, YIELD_SECONDS, BufferedSink, OnFailure
from accord.transports.source import READ_BYTES, READS_PER_WAKE, Deliver, OnEnd

CHUNKS_IN_FLIGHT = 8

DRAIN_SECONDS = 1.0
"""How long `drain` waits for the thread. A read blocks only if another process reads the bytes first."""


class ThreadSource:
    """Reads in a thread, at most a few chunks ahead."""

    def __init__(self, loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: OnEnd) -> None:
        self._loop = loop
        self._inlet = inlet
        self._deliver = deliver
        self._ended = ended
        self._arrived: deque[bytes | OSError | None] = deque()
        self._room = threading.Semaphore(CHUNKS_IN_FLIGHT)
        self._paused = False
        self._stopped = False
        self._reading = threading.Lock()
        """Held while a chunk is read and queued, so that `drain` can read instead of the thread without reordering."""
        self._closed = False
        # `stop` closes this pipe to wake the thread. On Windows the thread can't wait for two things, so it stops after
        # its next read.
        self._wake = None if sys.platform == "win32" else os.pipe()

    def start(self) -> None:
        threading.Thread(target=self._run, name="accord-reader", daemon=True).start()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._deliver_chunks)

    def drain(self) -> None:
        """Read the available data. On Windows, only data that the thread has read, because a pipe can't be polled
        there."""
        if self._wake is not None and not self._paused and self._reading.acquire(timeout=DRAIN_SECONDS):
            try:
                for _ in range(READS_PER_WAKE):
                    if self._closed or not self._readable(0) or not self._read():
                        break
            finally:
                self._reading.release()
        self._deliver_chunks()

    def stop(self) -> None:
        if not self._stopped:
            self._stopped = True
            self._room.release()
            if self._wake is not None:
                os.close(self._wake[1])

    def _deliver_chunks(self) -> None:
        while self._arrived and not self._paused and not self._stopped:
            chunk = self._arrived.popleft()
            self._room.release()
            if isinstance(chunk, bytes):
                self._deliver(chunk)
            else:
                self.stop()
                self._ended(chunk)

    def _run(self) -> None:
        """Body of the thread."""
        with suppress(RuntimeError):  # the event loop is closed
            reading = True
            while reading and self._may_read():
                with self._reading:
                    if self._readable(0):  # otherwise `drain` has read it
                        reading = self._read()
                    else:
                        self._room.release()
                self._loop.call_soon_threadsafe(self._deliver_chunks)
        with self._reading:
            self._closed = True
            self._inlet.close()
        if self._wake is not None:
            os.close(self._wake[0])

    def _read(self) -> bool:
        """Queue a chunk, or the end, and return whether there may be more."""
        chunk: bytes | OSError | None
        try:
            chunk = self._inlet.read(self._inlet.fd, READ_BYTES) or None
        except (BlockingIOError, InterruptedError):
            self._room.release()
            return True
        except OSError as error:
            chunk = None if error.errno == EIO else error
        self._arrived.append(chunk)
        return chunk is not None and not isinstance(chunk, OSError)

    def _may_read(self) -> bool:
        """Wait for room and for something to read, so that no line is read and lost after `stop`."""
        self._room.acquire()
        if not self._stopped:
            self._readable(None)
        return not self._stopped

    def _readable(self, timeout: int | None) -> bool:
        """Wait at most this many milliseconds for input or `stop`. On Windows nothing can wait: always `True`."""
        if sys.platform == "win32" or self._wake is None:
            return True
        poll = select.poll()
        poll.register(self._wake[0], select.POLLIN)
        poll.register(self._inlet.fd, select.POLLIN)
        return any(fd == self._inlet.fd for fd, _ in poll.poll(timeout))


class ThreadSink(BufferedSink):
    """Writes in a thread, where blocking calls don't stop the event loop."""

    def __init__(
        self, loop: AbstractEventLoop, outlet: Outlet, on_failure: OnFailure, high_water: int = HIGH_WATER
    ) -> None:
        super().__init__(loop, outlet, on_failure, high_water)
        self._parts: deque[bytes | bytearray] = deque()
        self._more = threading.Semaphore(0)
        self._unwritten = 0
        self._thread: threading.Thread | None = None

    def send(self, data: bytes, id: int | None = None) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        size = len(data)
        self._unwritten += size
        if size >= LARGE_BYTES:
            self.flush()
            self._enqueue(bytes(data))
        else:
            self._collected += data
            if len(self._collected) >= LARGE_BYTES:
                self.flush()
            else:
                if not self._scheduled:
                    check_thread(self._loop_thread)
                self._schedule()
        if self._unwritten > self._high_water:
            self._gate.shut()
            return self._gate
        now = perf_counter()
        self._unyielded += size
        if self._unyielded >= LARGE_BYTES or now - self._yielded_at >= YIELD_SECONDS:
            self._unyielded = 0
            self._yielded_at = now
            return YIELD
        return READY

    def flush(self) -> None:
        if self._collected and not self._broken:
            collected, self._collected = self._collected, bytearray()
            self._enqueue(collected)

    def end_burst(self) -> None:
        """Do nothing: the thread writes at the end of each iteration anyway."""

    async def wait_until_sent(self, timeout: float) -> bool:
        self.flush()
        return await self._wait_until_empty(timeout) if self._unwritten and not self._broken else not self._broken

    def stop(self) -> None:
        self._broken = True
        self._fail_waiters("the connection was closed on this side")
        self._more.release()
        if self._thread is None:
            self._outlet.close()

    def _enqueue(self, part: bytes | bytearray) -> None:
        self._parts.append(part)
        self._more.release()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="accord-writer", daemon=True)
            self._thread.start()

    def _on_written(self, size: int) -> None:
        self._unwritten -= size
        if not self._gate.is_open and self._unwritten <= self._low_water:
            self._gate.open()
        if not self._unwritten:
            self._empty.open()

    def _run(self) -> None:
        """Body of the thread."""
        with suppress(RuntimeError):  # the loop is closed
            try:
                while self._wait_for_part():
                    part = self._parts.popleft()
                    self._write_all(part)
                    self._loop.call_soon_threadsafe(self._on_written, len(part))
            except OSError as error:
                self._loop.call_soon_threadsafe(self._fail, error)
                self._more.acquire()  # until `stop`
        self._outlet.close()

    def _wait_for_part(self) -> bool:
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
