"""Ways to read and write a file descriptor without waiting, and without changing it for anyone else.

Whether a descriptor blocks is a property of what was opened, shared with every process that inherited it: a terminal
set to non-blocking stays so in the user's shell after we are gone, and standard error changes along with standard
output. So what is not ours alone is left as it is. A socket is asked not to wait in each call; a pipe or terminal is
opened once more, for ourselves; only where that is refused is a pipe switched over, and switched back at the end."""

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
        """A read when nothing is there would wait: read once for each time it is ready."""
        self._close: Callable[[], None] | None = close

    @classmethod
    def own(cls, fd: int) -> Inlet:
        """A descriptor that is ours alone, such as our end of a pipe to a child."""
        set_non_blocking(fd)
        return cls(fd, close=lambda: os.close(fd))

    @classmethod
    def shared(cls, fd: int) -> Inlet:
        """A descriptor that others may hold as well, such as standard input. It stays open and unchanged."""
        mode = os.fstat(fd).st_mode
        if stat.S_ISSOCK(mode):
            import socket

            sock = socket.socket(fileno=os.dup(fd))
            return cls(sock.fileno(), lambda _, size: sock.recv(size, socket.MSG_DONTWAIT), close=sock.close)
        own = opened_again(fd, os.O_RDONLY) if stat.S_ISFIFO(mode) or os.isatty(fd) else None
        if own is not None:
            return cls(own, close=lambda: os.close(own))
        copy = os.dup(fd)
        return cls(copy, may_block=True, close=lambda: os.close(copy))

    def close(self) -> None:
        """Lets go of it. Repeating changes nothing."""
        close, self._close = self._close, None
        if close is not None:
            close()


class Outlet:
    """A descriptor to write to."""

    def __init__(self, fd: int, write: Write = os.write, *, threaded: bool = False, close: Callable[[], None]) -> None:
        self.fd = fd
        self.write = write
        self.threaded = threaded
        """A write may wait, so it belongs in a thread."""
        self._close: Callable[[], None] | None = close

    @classmethod
    def own(cls, fd: int) -> Outlet:
        """A descriptor that is ours alone."""
        set_non_blocking(fd)
        return cls(fd, close=lambda: os.close(fd))

    @classmethod
    def shared(cls, fd: int) -> Outlet:
        """A descriptor that others may hold as well, such as standard output. It stays open and unchanged."""
        mode = os.fstat(fd).st_mode
        if stat.S_ISSOCK(mode):
            import socket

            sock = socket.socket(fileno=os.dup(fd))
            return cls(sock.fileno(), lambda _, data: sock.send(data, socket.MSG_DONTWAIT), close=sock.close)
        is_pipe, is_terminal = stat.S_ISFIFO(mode), os.isatty(fd)
        own = opened_again(fd, os.O_WRONLY) if is_pipe or is_terminal else None
        if own is not None:
            return cls(own, close=lambda: os.close(own))
        copy = os.dup(fd)
        if not is_pipe or sys.platform == "win32" or not os.get_blocking(copy):
            # A file takes everything at once and never says "later".
            return cls(copy, threaded=is_terminal, close=lambda: os.close(copy))
        os.set_blocking(copy, False)

        def restore() -> None:
            os.set_blocking(copy, True)
            os.close(copy)

        return cls(copy, close=restore)

    def close(self) -> None:
        """Lets go of it. Repeating changes nothing."""
        close, self._close = self._close, None
        if close is not None:
            close()


def opened_again(fd: int, access: int) -> int | None:
    """The same pipe or terminal as a new, non-blocking description of our own; None where the system has no way."""
    if sys.platform != "linux":
        return None  # elsewhere /dev/fd only duplicates
    try:
        return os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None  # no /proc, made by another user, or a pipe whose reader is gone


def set_non_blocking(fd: int) -> None:
    """Where pipes can be non-blocking; elsewhere (Windows) they are read and written by threads."""
    with suppress(OSError, AttributeError):
        os.set_blocking(fd, False)
