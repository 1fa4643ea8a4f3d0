"""Find all processes that belong to a child, even detached ones, and end them in stages.

On Linux the keeper of a child (see `supervisor`) is a subreaper: all descendants of the child stay below the keeper,
and those are its family. Without a subreaper (macOS, or if the keeper was killed), a process belongs to the family if
it is the child, is in the child's session or process group, has the child's marker in its environment, or was started
by a member. In that case, a daemon that leaves the group, creates a session, loses its parent and wipes its environment
is not found.

Used by this process and by the supervisor, a bare interpreter that has to start fast: import only `os`, `_signal`,
`sys` and `time` here. POSIX only: Windows has no such families."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
else:
    import _signal as signal  # without the enums of `signal`, which take a third of the supervisor's load time

MARKER_VARIABLE = "ACCORD_CHILD"
"""The environment variable with the tokens of all families a process belongs to, the outermost first."""

KILL_SECONDS = 5.0
"""How long to repeat SIGKILL, for processes that fork faster than they die. Processes stuck in the kernel remain."""

EXEC_SECONDS = 0.5
"""How long an `exec` may take, during which a process seems to have no environment."""

PS = ["ps", "-A", "-E", "-ww", "-o", "pid=,ppid=,pgid=,stat=,command="]
"""Lists all processes with their environment on macOS."""


class Process:
    """A running process. Ids are reused, but an id together with its start time is unique."""

    __slots__ = ("group", "is_marked", "parent", "pid", "session", "start")

    def __init__(
        self, pid: int, parent: int, group: int, session: int, start: int | None, is_marked: bool = False
    ) -> None:
        self.pid: int = pid
        self.parent: int = parent
        self.group: int = group
        self.session: int = session
        self.start: int | None = start
        self.is_marked: bool = is_marked


class Family:
    """A child process and all its descendants."""

    def __init__(self, token: str, top: int | None = None) -> None:
        self.token = token
        self.top = top
        """The subreaper above the family, if there is one."""
        self.root: int | None = None
        """The child's process id, its session and its process group."""
        self.root_start: int | None = None
        self.known: dict[int, Process] = {}
        """Members found so far that are still running. Stored, because their link to the family may disappear."""
        self.since: int | None = None
        """Start time of the oldest possible member, so that older processes needn't be examined."""

    def set_root(self, pid: int) -> None:
        """Set the process id of the child after its start."""
        self.root = pid
        process = read_process(pid) if has_proc() else None
        if process is not None:
            self.root_start = self.since = process.start

    def find_members(self) -> list[Process]:
        """Return all members that are running."""
        if self.top is not None:
            return find_descendants(self.top)
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
        _add_descendants(found, rows)
        found.pop(os.getpid(), None)
        self.known = found
        return list(found.values())

    def has_members(self) -> bool:
        """Return whether any member is left. Check the known ones first, and search only if all of them are gone."""
        if has_proc():
            for process in self.known.values():
                now = read_process(process.pid)
                if now is not None and now.start == process.start:
                    return True
        return bool(self.find_members())

    def signal(self, number: int) -> None:
        """Signal all members, those in the child's process group at once with `killpg`."""
        if sys.platform == "win32":
            raise NotImplementedError
        members = self.find_members()
        if self.root is not None and any(member.group == self.root for member in members):
            _try_signal(os.killpg, self.root, number)
        for member in members:
            if member.group != self.root:
                signal_process(member, number)

    def _number_is_ours(self, by_pid: dict[int, Process]) -> bool:
        """Return whether the child's id hasn't been reused for another process."""
        row = by_pid.get(self.root or 0)
        return row is None or self.root_start is None or row.start == self.root_start


def end_family(family: Family, term_grace: float | None) -> Iterator[float]:
    """End a family in stages, SIGTERM and then SIGKILL; `term_grace` None kills at once. Yields how long to wait.

    The caller does the waiting, so that this works with and without an event loop."""
    if sys.platform == "win32":
        raise NotImplementedError
    stages = [(signal.SIGKILL, KILL_SECONDS)]
    if term_grace is not None:
        stages.insert(0, (signal.SIGTERM, term_grace))
    for number, seconds in stages:
        until = time.monotonic() + seconds
        pause = 0.005
        family.signal(number)
        if number == signal.SIGTERM:
            family.signal(signal.SIGCONT)  # a stopped process couldn't handle it
        while family.has_members():
            left = until - time.monotonic()
            if left <= 0:
                break
            yield min(pause, left)
            pause = min(pause * 1.5, 0.1)
            if number == signal.SIGKILL:
                family.signal(number)
        else:
            return


def find_descendants(top: int, besides: frozenset[int] = frozenset()) -> list[Process]:
    """Return all descendants of a process, except the children in `besides` and their descendants."""
    rows = [process for name in os.listdir("/proc") if name.isdigit() and (process := read_process(int(name)))]
    found = {row.pid: row for row in rows if row.parent == top and row.pid not in besides}
    _add_descendants(found, rows)
    return list(found.values())


def _add_descendants(found: dict[int, Process], rows: list[Process]) -> None:
    growing = True
    while growing:
        growing = False
        for row in rows:
            if row.pid not in found and row.parent in found:
                found[row.pid] = row
                growing = True


def has_proc() -> bool:
    """Return whether /proc lists processes, as on Linux."""
    return _HAS_PROC


def every_process(token: str, since: int | None) -> Iterator[Process]:
    """Yield all running processes, from /proc or from `ps`."""
    if sys.platform == "win32":
        raise NotImplementedError
    if not has_proc():
        yield from read_ps(_run_ps(), token)
        return
    mark = token.encode()
    me = os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = read_process(int(name))
            if process is None:
                continue
            if since is None or process.start is None or process.start >= since:
                process.is_marked = _has_marker(process.pid, mark, me)
            yield process


def read_process(pid: int) -> Process | None:
    """Read a process from /proc; None if it is gone or a zombie."""
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
    """Parse the output of `ps`: id, parent, group, state, and the command with its environment."""
    if sys.platform == "win32":
        raise NotImplementedError
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
    """Signal exactly this process, and never another one that has reused its id.

    The pidfd pins the process before its start time is compared."""
    if sys.platform != "linux" or process.start is None:
        _try_signal(os.kill, process.pid, number)
        return
    try:
        fd = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        now = read_process(process.pid)
        if now is not None and now.start == process.start:
            _try_signal(signal.pidfd_send_signal, fd, number)
    finally:
        os.close(fd)


def _has_marker(pid: int, mark: bytes, me: int) -> bool:
    try:
        if os.stat(f"/proc/{pid}").st_uid != me and me != 0:
            return False
        return mark in _read_environment(pid)
    except OSError:
        return False


def _read_environment(pid: int) -> bytes:
    """Read the environment of a process. During an `exec` it seems empty, so wait until that is over."""
    until = time.monotonic() + EXEC_SECONDS
    while True:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
        if environment or time.monotonic() > until:
            return environment
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if file.read():
                return environment  # it really has none
        os.readlink(f"/proc/{pid}/exe")  # raises for kernel threads, which have no program
        time.sleep(0.0005)


def _run_ps() -> str:
    import subprocess

    done = subprocess.run(PS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


def _try_signal(send: object, target: int, number: int) -> None:
    try:  # noqa: SIM105  # contextlib is not worth loading for this
        send(target, number)  # type: ignore[operator]
    except OSError:
        pass  # it has exited, or belongs to another user


_HAS_PROC = os.path.exists("/proc/self/stat")
