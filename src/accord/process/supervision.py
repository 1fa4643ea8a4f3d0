"""Supervision of child processes: everything that this process starts ends with it, even after `kill -9`.

Each process that has children has a supervisor, which starts them and outlives us just long enough to end them (see
`supervisor`). It must be the ancestor of all of them, because a process can't change its ancestry, unlike its session,
group and environment. We hold one socket to the supervisor, for starting children, and one to the keeper of each child.
The sockets break when this process ends for any reason.

Rejected alternatives: a parent-death signal (`PR_SET_PDEATHSIG`) reaches only the direct child and is lost when the
*thread* that started it ends. If we were the subreaper, orphans would be lost once we are killed, and a program that
uses this library would get children it doesn't know. A supervisor next to the children, which finds them by environment
and session, missed processes that had changed both.

The supervisor has its own session (Ctrl-C in the terminal doesn't reach it) and runs in the root directory. Without a
subreaper (macOS), its keepers find families by their marker. Frozen programs (without an interpreter to run it) and
Windows have no supervisor: children survive if this process is killed there. (On Windows, a job object with
`JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE` would do.)"""

from __future__ import annotations

import errno
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from accord.process.tree import MARKER_VARIABLE

EXIT_GRACE_SECONDS = 5.0
"""Time for children to exit by themselves after this process has ended and closed their standard input."""

TERM_GRACE_SECONDS = 2.0
"""Time for children to exit after SIGTERM."""

KILL_WAIT_SECONDS = 0.5
"""Time to wait for a killed child to exit."""

# Replaces the package with an empty module, so that the supervisor doesn't load `accord/__init__.py`: it must start
# fast.
_SUPERVISOR_CODE = """\
import sys
package = type(sys)("accord")
package.__path__ = [sys.argv[1]]
sys.modules["accord"] = package
from accord.process.supervisor import main
main()
"""
_NO_SIGPIPE = getattr(socket, "MSG_NOSIGNAL", 0)


class FamilyMarker:
    """The marker in the environment of a child and its descendants."""

    def __init__(self) -> None:
        self.token: str = os.urandom(8).hex()

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for the child: `base` (or ours) plus the marker, after those of outer families."""
        environment = dict(os.environ if base is None else base)
        outer = os.environ.get(MARKER_VARIABLE)
        environment[MARKER_VARIABLE] = f"{outer}:{self.token}" if outer else self.token
        return environment


class Program(NamedTuple):
    """A program to start in a new session and process group."""

    argv: Sequence[str]
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str]
    token: str
    """The marker of its family (see `FamilyMarker`)."""
    streams: Sequence[int]
    """Its standard input, output and error."""
    terminal: bool = False
    """Whether standard input becomes its controlling terminal."""
    exit_grace: float | None = None
    """Seconds that it may take to exit by itself after this process has ended (None: `EXIT_GRACE_SECONDS`)."""


class SupervisedProcess:
    """A child process under the supervisor, controlled through the socket to its keeper."""

    def __init__(self, channel: socket.socket) -> None:
        self.pid: int = 0
        self.returncode: int | None = None
        """The exit status, negative for a signal; None while it runs."""
        self.has_ended: bool = False
        """Whether all processes of its family have ended, or its keeper has."""
        self.has_lost_keeper: bool = False
        """Whether its keeper was killed, so that this process has to find and end the family."""
        self._channel = channel
        self._channel.setblocking(False)
        self._unread = b""
        self._lock = threading.Lock()
        _children.add(self)

    def fileno(self) -> int:
        return self._channel.fileno()

    def read(self, timeout: float | None = 0.0) -> None:
        """Read messages from the keeper, waiting at most `timeout` seconds (None: until there is one)."""
        if timeout != 0:
            self._wait_readable(timeout)  # outside the lock, so that the event loop can read while a thread waits
        with self._lock:
            if self.has_ended:
                return
            try:
                data = self._channel.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            *messages, self._unread = (self._unread + data).split(b"\n")
            for message in messages:
                self._handle_message(*message.split(b" ", 1))
            if not data and not self.has_ended:
                self.has_ended = self.has_lost_keeper = True
                if self.returncode is None:
                    if sys.platform == "win32":
                        raise NotImplementedError
                    self.returncode = -signal.SIGKILL

    def _wait_readable(self, timeout: float | None) -> None:
        if sys.platform == "win32":
            raise NotImplementedError
        poll = select.poll()
        with suppress(ValueError):  # closed in the meantime
            poll.register(self._channel, select.POLLIN)
            poll.poll(None if timeout is None else timeout * 1000)

    def _handle_message(self, name: bytes, value: bytes = b"") -> None:
        if name == b"started":
            self.pid = int(value)
        elif name == b"ended":
            self.returncode = int(value)
        elif name == b"over":
            self.has_ended = True
        elif name == b"refused":
            self.has_ended = True
            kind, _, what = value.partition(b" ")
            raise OSError(int(what), os.strerror(int(what))) if kind == b"errno" else ValueError(what.decode())

    def poll(self) -> int | None:
        self.read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the child itself to exit."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            self._read_until(until)
        return self.returncode

    def wait_over(self, timeout: float) -> None:
        """Wait for the end of the whole family. Raises `subprocess.TimeoutExpired`."""
        until = time.monotonic() + timeout
        while not self.has_ended:
            self._read_until(until)

    def _read_until(self, until: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise subprocess.TimeoutExpired(str(self.pid), 0)
        self.read(left)

    def send_signal(self, number: int) -> None:
        """Signal the child's process group."""
        self._send_command(f"signal {int(number)}")

    def end(self, term_grace: float) -> None:
        """Send SIGTERM to the family, and SIGKILL to those still running after `term_grace` seconds."""
        self._send_command(f"end {term_grace}")

    def kill(self) -> None:
        """Kill the family. Waits for the child to exit, so that it can't see its pipes close first."""
        self._send_command("kill")
        with suppress(subprocess.TimeoutExpired):
            self.wait(KILL_WAIT_SECONDS)

    def close(self) -> None:
        """Close the connection to the keeper, which then ends all remaining processes."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)  # wakes a waiting thread
        self.forget()

    def forget(self) -> None:
        """Close our copy of the socket without affecting other processes that hold it."""
        _children.discard(self)
        self.has_ended = True
        self._channel.close()

    def _send_command(self, command: str) -> None:
        if not self.has_ended:
            with suppress(OSError):
                self._channel.send(command.encode() + b"\n", _NO_SIGPIPE)


class SupervisorConnection:
    """The connection to the supervisor of this process, which is started when needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self.pid: int | None = None

    def spawn(self, request: dict[str, Any], streams: Sequence[int]) -> SupervisedProcess:
        """Start a program through the supervisor. Raises `OSError` or `ValueError`, like `subprocess`."""
        payload = marshal.dumps(request)
        for is_last in (False, True):
            ours, theirs = socket.socketpair()
            child = SupervisedProcess(ours)
            try:
                with theirs, self._lock:
                    self._send(payload, [*streams, theirs.fileno()])
                while not child.pid and not child.has_ended:
                    child.read(None)
            except BrokenPipeError:
                child.has_lost_keeper = True
            except BaseException:
                child.kill()  # Ctrl-C may arrive after the start and before its report
                child.close()
                raise
            if not child.has_lost_keeper:
                return child
            child.close()
            self._forget_supervisor()  # the supervisor was killed: start another one
            if is_last:
                break
        raise OSError(errno.ECHILD, "couldn't start the supervisor of child processes")

    def prepare(self) -> None:
        with self._lock:
            if self._control is None:
                self._start()

    def _send(self, payload: bytes, fds: list[int]) -> None:
        if sys.platform == "win32":
            raise NotImplementedError
        if self._control is None:
            self._start()
        assert self._control is not None
        header = len(payload).to_bytes(8, "big")
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds))]
        self._control.sendmsg([header], ancillary, _NO_SIGPIPE)
        self._control.sendall(payload, _NO_SIGPIPE)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        try:
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SUPERVISOR_CODE, package, "accord-supervisor"],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={name: value for name, value in os.environ.items() if name != MARKER_VARIABLE},
                    cwd="/",
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            raise
        process.returncode = 0  # it outlives us on purpose: avoid the ResourceWarning
        self._control, self.pid = ours, process.pid

    def _forget_supervisor(self) -> None:
        if sys.platform == "win32":
            raise NotImplementedError
        with self._lock:
            if self._control is not None:
                self._control.close()
            if self.pid is not None:
                with suppress(OSError):
                    os.waitpid(self.pid, os.WNOHANG)
            self._control = self.pid = None

    def forget(self) -> None:
        """Reset in a fork of this process: the children aren't ours, and our copies of the sockets must be closed."""
        if self._control is not None:
            self._control.close()
        for child in list(_children):
            child.forget()
        self.__init__()  # type: ignore[misc]  # the lock may have been held at the time of the fork


def spawn(program: Program) -> SupervisedProcess:
    """Start a program under the supervisor. Raises `OSError` or `ValueError`, like `subprocess`."""
    request = {
        "argv": [os.fsencode(word) for word in program.argv],
        "cwd": os.fsencode(_absolute_path(program.cwd)),
        "env": {os.fsencode(name): os.fsencode(value) for name, value in program.env.items()},
        "token": program.token,
        "terminal": program.terminal,
        "umask": _umask(),
        "exit_grace": EXIT_GRACE_SECONDS if program.exit_grace is None else program.exit_grace,
        "term_grace": TERM_GRACE_SECONDS,
    }
    return _supervisor.spawn(request, program.streams)


def prepare() -> None:
    """Start the supervisor without waiting for it, so that it is ready when the first child is started."""
    if can_supervise():
        with suppress(OSError):  # reported when the first child is started
            _supervisor.prepare()


def _absolute_path(cwd: str | os.PathLike[str] | None) -> str:
    if cwd is not None and os.path.isabs(cwd):
        return os.fspath(cwd)
    try:
        return os.path.join(os.getcwd(), cwd or "")
    except FileNotFoundError:  # our working directory was removed; the child can still use it
        return f"/proc/{os.getpid()}/cwd/{cwd or ''}"


def _umask() -> int | None:
    """Return our current umask, which may have changed since the supervisor started (None without /proc)."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(b"Umask:"):
                    return int(line.split()[1], 8)
    except (OSError, ValueError):
        pass
    return None


def can_supervise() -> bool:
    """Return whether a supervisor is supported on this system and for this way of running Python."""
    return sys.platform != "win32" and bool(sys.executable) and not getattr(sys, "frozen", False)


_children: weakref.WeakSet[SupervisedProcess] = weakref.WeakSet()
_supervisor = SupervisorConnection()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_supervisor.forget)
