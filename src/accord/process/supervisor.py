"""The supervisor: starts children on behalf of a process, and ends them when that process ends.

`supervision` starts one for each process that has children. For every child the supervisor forks a *keeper*, which
starts the program and stays until it has ended:

    client ── supervisor ─┬─ keeper ── agent ── …
                          └─ keeper ── command ── …

Supervisor and keepers are subreapers (Linux): a process whose parent ends becomes a child of the keeper above it, so
nothing that a program starts can leave the tree, not even a daemon that forks twice, creates a session and wipes its
environment. A keeper ends all processes below it when

- the client requests it, or ends (the socket between the two breaks),
- the supervisor ends for any reason.

If a keeper is killed, the processes below it become children of the supervisor, which kills them. Only a program that
kills the supervisor and its keeper at the same instant escapes; then the client still searches for it (see `tree`).

This runs in a bare interpreter that has to start fast: import only small C modules and `tree` here."""

from __future__ import annotations

import _socket
import errno
import marshal
import os
import select
import struct
import sys
import time

from accord.process.tree import KILL_SECONDS, Family, end_family, find_descendants, has_proc, signal_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn
else:
    import _signal as signal  # see `tree`

assert sys.platform != "win32"  # no supervisor there

HEADER = struct.Struct("!Q")
"""The length of a request, sent together with the child's descriptors."""
STREAM_COUNT = 3
MAX_ATTEMPTS = 5
_PR_SET_CHILD_SUBREAPER = 36
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def main() -> None:
    """Serve requests from standard input (a socket) until the process at its other end has ended."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)  # signals that end the client must not end the supervisor first
    control = _socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    Supervisor(control).serve()


class Supervisor:
    """Forks a keeper for each child, and kills the processes of keepers that were killed."""

    def __init__(self, control: _socket.socket) -> None:
        self._control = control
        self._become_subreaper = _subreaper_function()
        self._is_subreaper = self._become_subreaper()
        self._keepers: set[int] = set()
        self._has_lost_keeper = False
        # Keepers watch the read end. It reports end of file when the supervisor exits for any reason, because
        # the supervisor alone holds the write end: keepers close their copy right after the fork.
        self._alive, self._life = os.pipe()

    def serve(self) -> None:
        wake = _child_exit_fd()
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        is_served = True
        while is_served or self._keepers:
            for fd, _ in poll.poll():
                if fd == wake:
                    os.read(wake, 4096)
                    self._reap()
                elif not self._handle_request():
                    poll.unregister(self._control)
                    is_served = False
        os._exit(0)

    def _handle_request(self) -> bool:
        """Read one request and fork its keeper. Returns False if the client has ended."""
        head, fds = self._receive()
        if len(head) < HEADER.size:
            for fd in fds:
                os.close(fd)
            return False
        size = HEADER.unpack(head)[0]
        parts = []
        while size and (part := self._control.recv(min(size, 1 << 20))):
            parts.append(part)
            size -= len(part)
        if not size:
            pid = os.fork()
            if pid == 0:
                self._run_keeper(marshal.loads(b"".join(parts)), fds)
            self._keepers.add(pid)
        for fd in fds:
            os.close(fd)
        return not size

    def _receive(self) -> tuple[bytes, list[int]]:
        head = b""
        fds: list[int] = []
        while len(head) < HEADER.size:
            data, ancillary, _, _ = self._control.recvmsg(
                HEADER.size - len(head), _socket.CMSG_SPACE(4 * (STREAM_COUNT + 1))
            )
            for _, _, raw in ancillary:
                fds += struct.unpack(f"{len(raw) // 4}i", raw[: len(raw) // 4 * 4])
            if not data:
                break
            head += data
        for fd in fds:
            os.set_inheritable(fd, False)
        return head, fds

    def _run_keeper(self, request: dict[str, Any], fds: list[int]) -> NoReturn:
        """Run as a keeper, in the forked process."""
        try:
            os.close(self._life)
            self._control.close()
            is_subreaper = self._become_subreaper()
            Keeper(request, fds, self._alive, is_subreaper).keep()
        finally:
            os._exit(1)

    def _reap(self) -> None:
        self._wait_for_ended()
        if self._has_lost_keeper and self._is_subreaper:
            self._kill_strays()
        self._has_lost_keeper = False

    def _wait_for_ended(self) -> bool:
        """Reap the children that have ended; return whether there were any."""
        has_ended = False
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                has_ended = True
                self._has_lost_keeper |= ended[0] in self._keepers and ended[1] != 0
                self._keepers.discard(ended[0])
        except ChildProcessError:
            pass
        return has_ended

    def _kill_strays(self) -> None:
        """Kill processes that a killed keeper left behind: they are our children now."""
        until = time.monotonic() + KILL_SECONDS
        while time.monotonic() < until:
            strays = find_descendants(os.getpid(), frozenset(self._keepers))
            for stray in strays:
                signal_process(stray, signal.SIGKILL)
            # If a child ended meanwhile, an empty list proves nothing: the child may have forked after the list of
            # processes was read, and ended before it was examined.
            if not strays and not self._wait_for_ended():
                return
            time.sleep(0.002)


class Keeper:
    """Starts one program, and ends it and all its descendants."""

    def __init__(self, request: dict[str, Any], fds: list[int], alive: int, is_subreaper: bool) -> None:
        self._request = request
        *self._streams, channel = fds
        self._channel = _socket.socket(fileno=channel)
        self._alive = alive
        self._is_subreaper = is_subreaper
        self._family = Family(request["token"], os.getpid() if is_subreaper and has_proc() else None)
        self._pid: int | None = None
        self._has_exited = False
        self._ending: Iterator[float] | None = None
        self._deadline: float | None = None
        """When to stop waiting for a program whose client has ended."""
        self._commands = b""
        self._attempts = 0

    def keep(self) -> NoReturn:
        wake = _child_exit_fd()
        self._start()
        poll = select.poll()
        for fd in (wake, self._channel.fileno(), self._alive):
            poll.register(fd, select.POLLIN)
        while self._reap():
            for fd, _ in poll.poll(self._pause()):
                if fd == wake:
                    os.read(wake, 4096)
                elif fd == self._alive:
                    poll.unregister(fd)
                    self._ending = end_family(self._family, None)
                elif not self._handle_commands():
                    poll.unregister(fd)
                    self._deadline = time.monotonic() + self._request["exit_grace"]
        self._report("over")
        os._exit(0)

    def _pause(self) -> int | None:
        """Return how long to wait before the next step, in milliseconds (None: until something happens)."""
        if self._ending is None and self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left > 0 and not self._has_exited:
                return int(left * 1000) + 1
            self._ending = end_family(self._family, self._request["term_grace"])
        if self._ending is None:
            return None
        pause = next(self._ending, None)
        if pause is None and self._reap():
            # A process was started during the search, or can't be killed; give up after MAX_ATTEMPTS.
            self._attempts += 1
            if self._attempts > MAX_ATTEMPTS:
                os._exit(1)  # the supervisor may try as well
            self._ending = end_family(self._family, None)
        return int((pause or 0) * 1000) + 1

    def _handle_commands(self) -> bool:
        """Carry out the client's commands. Returns False if the client has ended."""
        try:
            data = self._channel.recv(4096)
        except OSError:
            data = b""
        *commands, self._commands = (self._commands + data).split(b"\n")
        for command in commands:
            name, _, value = command.partition(b" ")
            if name == b"signal" and self._pid is not None and not self._has_exited:
                try:  # noqa: SIM105  # contextlib is not worth loading for this
                    os.killpg(self._pid, int(value))
                except OSError:
                    pass
            elif name == b"end" and self._ending is None:
                self._ending = end_family(self._family, float(value))
            elif name == b"kill":
                self._ending = end_family(self._family, None)
        return bool(data)

    def _reap(self) -> bool:
        """Reap children and return whether any are left. A subreaper without children has no descendants."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._pid:
                    self._has_exited = True
                    self._report(f"ended {os.waitstatus_to_exitcode(ended[1])}")
        except ChildProcessError:
            return not self._is_subreaper and bool(self._family.find_members())
        return True

    def _start(self) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                exec_program(self._request, self._streams)
            except OSError as error:
                os.write(writing, b"errno %d" % (error.errno or errno.EIO))
            except BaseException as error:
                os.write(writing, b"value " + str(error).encode(errors="replace"))
            finally:
                os._exit(127)
        os.close(writing)
        for fd in self._streams:
            os.close(fd)
        refusal = os.read(reading, 4096)
        os.close(reading)
        if refusal:
            self._channel.sendall(b"refused " + refusal.replace(b"\n", b" ") + b"\n")
            os._exit(0)
        self._pid = pid
        self._family.set_root(pid)
        self._report(f"started {pid}")

    def _report(self, message: str) -> None:
        try:  # noqa: SIM105
            self._channel.sendall(message.encode() + b"\n")
        except OSError:
            pass  # the client has ended


def exec_program(request: dict[str, Any], streams: list[int]) -> None:
    """Turn this process into the program, in a new session and with default signal handling."""
    os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
    if request["terminal"]:
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if request["umask"] is not None:
        os.umask(request["umask"])
    os.chdir(request["cwd"])
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            try:  # noqa: SIM105
                signal.signal(number, signal.SIG_DFL)
            except OSError:
                pass  # reserved by the C library
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.execvpe(request["argv"][0], request["argv"], request["env"])


def _child_exit_fd() -> int:
    """Return a descriptor that becomes readable when a child exits."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return reading


def _subreaper_function() -> Callable[[], bool]:
    """Return a function that makes the calling process a subreaper and returns whether that worked."""
    if sys.platform != "linux":
        return lambda: False
    try:
        from ctypes import CDLL

        prctl = CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return lambda: False
    return lambda: prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
