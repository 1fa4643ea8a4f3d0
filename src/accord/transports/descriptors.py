"""Read and write file descriptors without blocking, and without changing them for other processes.

`O_NONBLOCK` belongs to the open file description, which is shared with every process that inherited it: a terminal set
to non-blocking stays so in the user's shell after we exit, and standard error changes along with standard output.
Therefore shared descriptors are left unchanged. For a socket, each call is made non-blocking. A pipe or terminal is
opened again, as our own description. If that is refused, a pipe is set to non-blocking, and reset when it is closed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress

Read = Callable[[int, int], bytes]
Write = Callable[[int, "bytes | bytearray | memoryview"], int]


class Inlet:
    """A descriptor to read from."""

    def __init__(self, fd: int, read: Read = os.read, *, may_block: bool = False, close: Callable[[], None]) -> None:
        self.fd = fd
        self.read = read
        self.may_block = may_block
        """Whether a read blocks if there is no data, so that only one read per readiness event is safe."""
        self._close: Callable[[], None] | None = close

    @classmethod
    def open_own(cls, fd: int) -> Inlet:
        """Use a descriptor that only we hold, such as our end of a pipe to a child."""
        set_non_blocking(fd)
        return cls(fd, close=lambda: os.close(fd))

    @classmethod
    def open_shared(cls, fd: int) -> Inlet:
        """Use a descriptor that other processes may hold, such as standard input. It stays open and unchanged."""
        mode = os.fstat(fd).st_mode
        if stat.S_ISSOCK(mode) and sys.platform != "win32":  # where single calls can't be non-blocking
            import socket

            sock = socket.socket(fileno=os.dup(fd))
            return cls(sock.fileno(), lambda _, size: sock.recv(size, socket.MSG_DONTWAIT), close=sock.close)
        own = reopen(fd, os.O_RDONLY) if stat.S_ISFIFO(mode) or os.isatty(fd) else None
        if own is not None:
            return cls(own, close=lambda: os.close(own))
        copy = os.dup(fd)
        return cls(copy, may_block=True, close=lambda: os.close(copy))

    def close(self) -> None:
        """Close it. Idempotent."""
        close, self._close = self._close, None
        if close is not None:
            close()


class Outlet:
    """A descriptor to write to."""

    def __init__(self, fd: int, write: Write = os.write, *, threaded: bool = False, close: Callable[[], None]) -> None:
        self.fd = fd
        self.write = write
        self.threaded = threaded
        """Whether a write may block, so that it needs a thread."""
        self._close: Callable[[], None] | None = close

    @classmethod
    def open_own(cls, fd: int) -> Outlet:
        """Use a descriptor that only we hold."""
        set_non_blocking(fd)
        return cls(fd, close=lambda: os.close(fd))

    @classmethod
    def open_shared(cls, fd: int) -> Outlet:
        """Use a descriptor that other processes may hold, such as standard output. It stays open and unchanged."""
        mode = os.fstat(fd).st_mode
        if stat.S_ISSOCK(mode) and sys.platform != "win32":
            import socket

            sock = socket.socket(fileno=os.dup(fd))
            return cls(sock.fileno(), lambda _, data: sock.send(data, socket.MSG_DONTWAIT), close=sock.close)
        is_pipe, is_terminal = stat.S_ISFIFO(mode), os.isatty(fd)
        own = reopen(fd, os.O_WRONLY) if is_pipe or is_terminal else None
        if own is not None:
            return cls(own, close=lambda: os.close(own))
        copy = os.dup(fd)
        if not is_pipe or sys.platform == "win32" or not os.get_blocking(copy):
            # A regular file accepts everything and never returns EAGAIN.
            return cls(copy, threaded=is_terminal, close=lambda: os.close(copy))
        os.set_blocking(copy, False)

        def restore() -> None:
            os.set_blocking(copy, True)
            os.close(copy)

        return cls(copy, close=restore)

    def close(self) -> None:
        """Close it. Idempotent."""
        close, self._close = self._close, None
        if close is not None:
            close()


def reopen(fd: int, access: int) -> int | None:
    """Open the same pipe or terminal as a new, non-blocking description; None if the system can't."""
    if sys.platform != "linux":
        return None  # elsewhere opening /dev/fd only duplicates the descriptor
    try:
        return os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None  # no /proc, opened by another user, or a pipe without a reader


def set_non_blocking(fd: int) -> None:
    """Make a descriptor non-blocking, except on Windows.

    There pipes are read and written by threads, which rely on blocking calls. Since Python 3.12 `os.set_blocking` works
    on Windows pipes too: a reader would spin, and a full pipe would end the connection."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.set_blocking(fd, False)
