"""Taking bytes out of a descriptor as they arrive and pushing them on, told by the event loop when there are some."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from errno import EIO
from typing import Protocol

from accord.transports.descriptors import Inlet

READ_BYTES = 64 * 1024
"""More is slower: past 128 KiB the allocator maps and unmaps memory for each read."""

READS_PER_WAKE = 16

Deliver = Callable[[bytes], None]
Ended = Callable[["OSError | None"], None]


class Source(Protocol):
    """Pushes chunks until the end, which it announces once. Nothing is pushed while paused or after `stop`."""

    def start(self) -> None:
        """Begins to read."""

    def pause(self) -> None:
        """Holds back until `resume`."""

    def resume(self) -> None:
        """Goes on."""

    def drain(self) -> None:
        """Reads what is there already (as much as fits into a pipe), without waiting for more, unless paused."""

    def stop(self) -> None:
        """Ends reading without announcing it, and lets go of the descriptor."""


class LoopSource:
    """Reads when the loop says that there is something."""

    def __init__(self, loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: Ended) -> None:
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
        if self._watching and self._reads > 1:  # what may block cannot be asked; the loop brings it
            self._on_readable()

    def stop(self) -> None:
        if not self._stopped:
            self.pause()
            self._stopped = True
            self._inlet.close()

    def _on_readable(self) -> None:
        """Reads a bounded number of times, so that others get their turn."""
        for _ in range(self._reads):
            try:
                chunk = self._read(self._fd, READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._end(None if error.errno == EIO else error)  # EIO: the terminal was hung up
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
