"""Keeping the real standard input and output for the wire, so that nothing printed can get onto it.

From `guard()` on, descriptor 1 and `sys.stdout` lead to standard error and descriptor 0 to nothing, for this process
and for every child it starts: `print`, a C library and a shell command are harmless. The module imports next to
nothing, so that it can be called before an author's modules are loaded."""

from __future__ import annotations

import os
import sys

_current: Guarded | None = None


def guard() -> Guarded:
    """Takes standard input and output away from everyone else. Repeating gives the same object."""
    global _current
    if _current is None:
        _current = Guarded()
    return _current


class Guarded:
    """The real standard input and output, as two descriptors that nobody else knows."""

    def __init__(self) -> None:
        self.stdin = _kept(0)
        self.stdout = _kept(1)
        self._sys_stdout = sys.stdout
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        if nothing > 2:
            os.close(nothing)
        # What was printed before and still lies in the buffer goes to standard error as well. From now on a line at a
        # time, for those who kept the old object: standard error is read by people.
        if hasattr(self._sys_stdout, "reconfigure"):
            self._sys_stdout.reconfigure(line_buffering=True)
        _flush(self._sys_stdout)
        sys.stdout = sys.stderr if sys.stderr is not None else self._sys_stdout

    def release(self) -> None:
        """Gives both back. Repeating changes nothing."""
        global _current
        if _current is not self:
            return
        _current = None
        _flush(self._sys_stdout)
        _flush_c()
        os.dup2(self.stdin, 0)
        os.dup2(self.stdout, 1)
        os.close(self.stdin)
        os.close(self.stdout)
        if sys.stdout is sys.stderr:
            sys.stdout = self._sys_stdout


def _kept(fd: int) -> int:
    """A copy that children do not inherit, out of the way of code that counts on low numbers."""
    try:
        return _copied_high(fd)
    except OSError:  # it is closed: nothing to read, and nobody to write to
        nothing = os.open(os.devnull, os.O_RDWR)
        copy = _copied_high(nothing)
        os.close(nothing)
        return copy


def _copied_high(fd: int) -> int:
    if sys.platform == "win32":
        import msvcrt

        copy = os.dup(fd)
        msvcrt.setmode(copy, os.O_BINARY)
        return copy
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)


def _flush(stream: object) -> None:
    try:  # noqa: SIM105  # contextlib is not worth loading for this
        stream.flush()  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        pass  # closed, or no stream at all: nothing to lose


def _flush_c() -> None:
    """C libraries have a buffer of their own, which would otherwise come out on the wire when the process ends."""
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, AttributeError, TypeError):
        pass  # no ctypes in this build, or Windows, where each C runtime has its own
