"""Reserve the real standard input and output for the protocol, so that printed text can't corrupt it.

After `guard_stdio()`, descriptor 1 and `sys.stdout` lead to standard error, and descriptor 0 to /dev/null, for this
process and every child it starts: output of `print`, C libraries and shell commands is harmless. This module imports
almost nothing, so that it can run before the author's modules are loaded."""

from __future__ import annotations

import os
import sys

_current: GuardedStreams | None = None


def guard_stdio() -> GuardedStreams:
    """Reserve standard input and output. Idempotent: returns the same object again."""
    global _current
    if _current is None:
        _current = GuardedStreams()
    return _current


class GuardedStreams:
    """The real standard input and output, as two descriptors that are unknown to other code."""

    def __init__(self) -> None:
        self.stdin: int = _copy_descriptor(0)
        self.stdout: int = _copy_descriptor(1)
        self._sys_stdout = sys.stdout
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        if nothing > 2:
            os.close(nothing)
        # Buffered text that was printed earlier goes to standard error as well. Code that still uses the old object
        # writes line by line from now on, because users read standard error.
        if hasattr(self._sys_stdout, "reconfigure"):
            self._sys_stdout.reconfigure(line_buffering=True)
        self._flush()
        sys.stdout = sys.stderr if sys.stderr is not None else self._sys_stdout

    def release(self) -> None:
        """Restore both. Idempotent."""
        global _current
        if _current is not self:
            return
        _current = None
        self._flush()
        _flush_c()
        os.dup2(self.stdin, 0)
        os.dup2(self.stdout, 1)
        os.close(self.stdin)
        os.close(self.stdout)
        if sys.stdout is sys.stderr:
            sys.stdout = self._sys_stdout

    def _flush(self) -> None:
        try:  # noqa: SIM105  # contextlib is not worth loading for this
            self._sys_stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass  # closed, or not a stream: nothing to lose


def _copy_descriptor(fd: int) -> int:
    """Duplicate a descriptor, not inheritable, and with a high number: some code assumes that low numbers are free."""
    try:
        return _copy_to_high_number(fd)
    except OSError:  # it is closed: use /dev/null
        nothing = os.open(os.devnull, os.O_RDWR)
        copy = _copy_to_high_number(nothing)
        os.close(nothing)
        return copy


def _copy_to_high_number(fd: int) -> int:
    if sys.platform == "win32":
        import msvcrt

        copy = os.dup(fd)
        msvcrt.setmode(copy, os.O_BINARY)
        return copy
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)


def _flush_c() -> None:
    """Flush the buffer of the C library, which would otherwise be written to the real standard output on exit."""
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, AttributeError, TypeError):
        pass  # no ctypes in this build, or Windows, where each C runtime has its own
