"""Finding every process that belongs to a child of ours, wherever it went, and ending them all in stages.

A process belongs to the family if it is the child, is in the child's session or process group, carries the child's mark
in its environment, or was started by one that belongs. A daemon that leaves the group, starts a session and loses its
parent still carries the mark. (Only one that also wipes its environment, before anyone looked, is lost.)

Used by this process and by the supervisor, a bare interpreter that starts in a hurry: nothing but `os`, `signal` and
`time` may be imported here."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "ACCORD_CHILD"
"""The environment variable with the tokens of all families a process belongs to, the outermost first."""

KILL_SECONDS = 5.0
"""How long to repeat SIGKILL: those who fork faster than they die, and those stuck in the kernel, are given up then."""

EXEC_SECONDS = 0.5
"""How long a process may take to become another program, during which nothing can be told of it."""

PS = ["ps", "-A", "-E", "-ww", "-o", "pid=,ppid=,pgid=,stat=,command="]
"""How macOS is asked for all processes, with their environment."""


class Process:
    """One running process, as the system shows it. A number is used again one day; with its start time it is not."""

    __slots__ = ("group", "is_marked", "parent", "pid", "session", "start")

    def __init__(
        self, pid: int, parent: int, group: int, session: int, start: int | None, is_marked: bool = False
    ) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        self.start = start
        self.is_marked = is_marked


class Family:
    """A child process and all who come from it."""

    def __init__(self, token: str, since: int | None = None) -> None:
        self.token = token
        self.root: int | None = None
        """The child's process id, its session and its process group."""
        self.root_start: int | None = None
        self.known: dict[int, Process] = {}
        """Who was found so far and is still there: kept, because the ties that showed them may break."""
        self.since = since
        """Nobody of the family is older than this (in the unit of start times); spares looking at many others."""

    def rooted(self, pid: int) -> None:
        """The child has been started, and this is its number."""
        self.root = pid
        process = read_process(pid) if has_proc() else None
        if process is not None:
            self.root_start = self.since = process.start

    def look(self) -> list[Process]:
        """Everyone who is there now."""
        rows = list(every_process(self.token, self.since))
        by_pid = {row.pid: row for row in rows}
        number_is_ours = self.root is not None and self._number_is_ours(by_pid)
        found: dict[int, Process] = {}
        for row in rows:
            known = self.known.get(row.pid)
            if (
                row.is_marked
                or (number_is_ours and self.root in (row.pid, row.group, row.session))
                or (known is not None and known.start == row.start)
            ):
                found[row.pid] = row
        growing = True
        while growing:
            growing = False
            for row in rows:
                if row.pid not in found and row.parent in found:
                    found[row.pid] = row
                    growing = True
        found.pop(os.getpid(), None)
        self.known = found
        return list(found.values())

    def remain(self) -> bool:
        """Whether anyone is left: a quick look at those who were known, a thorough one when all of them are gone."""
        if has_proc():
            for process in self.known.values():
                now = read_process(process.pid)
                if now is not None and now.start == process.start:
                    return True
        return bool(self.look())

    def signal(self, number: int) -> None:
        """Sends a signal to everyone who is there, the group first, in one stroke."""
        members = self.look()
        if self.root is not None and any(member.group == self.root for member in members):
            _try(os.killpg, self.root, number)
        for member in members:
            if member.group != self.root:
                signal_process(member, number)

    def _number_is_ours(self, by_pid: dict[int, Process]) -> bool:
        """Whether the child's number still means the child, or what is left of its group and session."""
        row = by_pid.get(self.root or 0)
        return row is None or self.root_start is None or row.start == self.root_start


def end(family: Family, *, patience: float, mercy: float) -> Iterator[float]:
    """Ends a family in stages: waits, asks (SIGTERM), kills (SIGKILL). Yields how long to wait before going on.

    It does not wait by itself, so that it serves a program with an event loop and one without."""
    for number, seconds in ((None, patience), (signal.SIGTERM, mercy), (signal.SIGKILL, KILL_SECONDS)):
        until = time.monotonic() + seconds
        pause = 0.005
        if number is not None:
            family.signal(number)
            if number == signal.SIGTERM:
                family.signal(signal.SIGCONT)  # one that is stopped could not hear it
        while family.remain():
            left = until - time.monotonic()
            if left <= 0:
                break
            yield min(pause, left)
            pause = min(pause * 1.5, 0.1)
            if number == signal.SIGKILL:
                family.signal(number)
        else:
            return


def has_proc() -> bool:
    """Whether processes can be read from /proc, as on Linux."""
    return _HAS_PROC


def every_process(token: str, since: int | None) -> Iterator[Process]:
    """All living processes that may be of interest: by /proc, or by asking `ps`."""
    if not has_proc():
        yield from read_ps(_ask_ps(), token)
        return
    mark = token.encode()
    me = os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = read_process(int(name))
            if process is None:
                continue
            if since is None or process.start is None or process.start >= since:
                process.is_marked = _carries(process.pid, mark, me)
            yield process


def read_process(pid: int) -> Process | None:
    """What /proc says about a process; None when it is gone or only waits to be buried."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may contain anything, parentheses and spaces included.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def read_ps(text: str, token: str) -> Iterator[Process]:
    """Reads what `ps` printed: number, parent, group, state, and the command with its environment."""
    for line in text.splitlines():
        fields = line.split(None, 4)
        if len(fields) >= 4 and not fields[3].startswith("Z"):
            pid = int(fields[0])
            try:
                session = os.getsid(pid)
            except OSError:
                session = -1
            is_marked = len(fields) == 5 and token in fields[4]
            yield Process(pid, int(fields[1]), int(fields[2]), session, None, is_marked)


def signal_process(process: Process, number: int) -> None:
    """Signals this process, and never another one that was given its number."""
    if process.start is None or not hasattr(os, "pidfd_open"):
        _try(os.kill, process.pid, number)
        return
    try:
        fd = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        now = read_process(process.pid)
        if now is not None and now.start == process.start:
            _try(signal.pidfd_send_signal, fd, number)
    finally:
        os.close(fd)


def _carries(pid: int, mark: bytes, me: int) -> bool:
    try:
        if os.stat(f"/proc/{pid}").st_uid != me and me != 0:
            return False
        return mark in _environment(pid)
    except OSError:
        return False


def _environment(pid: int) -> bytes:
    """The environment of a process. While it becomes another program it seems to have none: that is waited for."""
    until = time.monotonic() + EXEC_SECONDS
    while True:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
        if environment or time.monotonic() > until:
            return environment
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if file.read():
                return environment  # it has none indeed
        os.readlink(f"/proc/{pid}/exe")  # which a thread of the kernel has not
        time.sleep(0.0005)


def _ask_ps() -> str:
    import subprocess

    done = subprocess.run(PS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


def _try(send: object, target: int, number: int) -> None:
    try:  # noqa: SIM105  # contextlib is not worth loading for this
        send(target, number)  # type: ignore[operator]
    except OSError:
        pass  # gone meanwhile, or not ours to signal


_HAS_PROC = os.path.exists("/proc/self/stat")
