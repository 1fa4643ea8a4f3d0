"""Read bytes from a descriptor when the event loop reports that it is readable."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from errno import EIO
from typing import Protocol

from accord.transports.descriptors import Inlet

READ_BYTES = 64 * 1024
"""Larger reads are slower: above 128 KiB, the allocator maps and unmaps memory for each one."""

READS_PER_WAKE = 16

Deliver = Callable[[bytes], None]
OnEnd = Callable[["OSError | None"], None]


class Source(Protocol):
    """Delivers chunks until the end, which it reports once. Nothing is delivered while paused or after `stop`."""

    def start(self) -> None:
        """Start reading."""

    def pause(self) -> None:
        """Stop delivering until `resume`."""

    def resume(self) -> None:
        """Continue."""

    def drain(self) -> None:
        """Read the available data (at most the size of a pipe) without waiting, unless paused."""

    def stop(self) -> None:
        """Stop reading without reporting the end, and close the descriptor."""


class LoopSource:
    """Reads when the event loop reports that the descriptor is readable."""

    def __init__(self, loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: OnEnd) -> None:
        self._loop = loop
        self._inlet = inlet
        self._fd = inlet.fd
        self._read = inlet.read
        self._reads = 1 if inlet.may_block else READS_PER_WAKE
        self._deliver = deliver
        self._ended = ended
        self._watching = False
        self._stopped = False

    def start(self) -> None:
        self._loop.add_reader(self._fd, self._on_readable)
        self._watching = True

    def pause(self) -> None:
        if self._watching:
            self._loop.remove_reader(self._fd)
            self._watching = False

    def resume(self) -> None:
        if not self._watching and not self._stopped:
            self.start()

    def drain(self) -> None:
        if self._watching and self._reads > 1:  # a descriptor that may block is only read when the loop reports it
            self._on_readable()

    def stop(self) -> None:
        if not self._stopped:
            self.pause()
            self._stopped = True
            self._inlet.close()

    def _on_readable(self) -> None:
        """Read a bounded number of times, so that one fast peer can't starve the event loop."""
        for _ in range(self._reads):
            try:
                chunk = self._read(self._fd, READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._end(None if error.errno == EIO else error)  # EIO means that the terminal was hung up
                return
            if not chunk:
                self._end(None)
                return
            self._deliver(chunk)
            if len(chunk) < READ_BYTES or not self._watching:
                return

    def _end(self, error: OSError | None) -> None:
        self.stop()
        self._ended(error)
