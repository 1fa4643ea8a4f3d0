"""No orphans: what this process started ends with it, even after kill −9.

A parent-death signal reaches only the direct child, is lost when the *thread* that started it ends, and must be set
between fork and exec, which makes a start ten times slower (0.3 → 2.6 ms, and 22 ms in a process of 400 MB, as it
rules out vfork). So there is one small supervisor for each process that has children, started just before the first
of them. It holds one end of a pipe whose other end is ours alone; when the pipe breaks we are gone, however that came
about. Whom it must end then is in a list in memory that both can see. A child is on that list before it exists: there
is no instant at which a kill could leave one behind unseen. (Between fork and exec a child still holds the pipe open,
so the pipe breaks only when every child can be recognised.)

While it waits, the supervisor is a shell in `read`: 1 ms to start, 1 MB. Only when the pipe breaks does it become a
Python, which looks for the families and ends them stage by stage (see `tree`); a process that ends with none left says
so, and spares that. An interpreter that waits from the
start was tried: on a busy machine it made the agent's own start 1.18 to 1.25 times as long; the shell makes no
difference that can be told from noise (1.00 to 1.10, medians of 21).

It lives in a session of its own (Ctrl-C in the terminal does not reach it), in the root directory, with no descriptor
of ours but those two, and ends when nothing is left to end. Linux and macOS; for Windows see `windows_job`. A frozen
program has no interpreter to run it with: then nothing guards against kill −9."""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress

from accord.process.tree import MARK, has_proc, read_process

PATIENCE_SECONDS = 1.0
"""After our death: how long children may take to notice by themselves that their standard input has ended."""

MERCY_SECONDS = 2.0
"""How long they may take to heed SIGTERM."""

ENTRY_BYTES = 64
"""The length of an entry in the list: a token, and the process id once there is one."""

# A stand-in for the package, so that the supervisor does not load what `accord/__init__.py` may come to load.
_START = """\
import sys
package = type(sys)("accord")
package.__path__ = [sys.argv.pop(1)]
sys.modules["accord"] = package
from accord.process.supervisor import main
main()
"""

SHELL = "/bin/sh"
_WAIT = "trap '' INT TERM HUP QUIT; read -r nothing || exec \"$@\""
"""A line says that nothing is left to end, and that is the end; without one, the pipe broke."""


class Ward:
    """One child under guard, from before its start until all of its family is gone."""

    def __init__(self) -> None:
        self.token = os.urandom(8).hex()
        self.pid: int | None = None
        _supervision.add(self)

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment to start it with: what was given (or ours) and the mark, behind those of outer families."""
        environment = dict(os.environ if base is None else base)
        outer = os.environ.get(MARK)
        environment[MARK] = f"{outer}:{self.token}" if outer else self.token
        return environment

    def started(self, pid: int) -> None:
        """It runs now, as this process."""
        self.pid = pid
        _supervision.note(self)

    def over(self) -> None:
        """Nothing of it is left. Repeating changes nothing."""
        _supervision.remove(self)


class _Supervision:
    """The supervisor, and the list that it goes by."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: list[Ward | None] = []
        self._list: int | None = None
        self._pipe: int | None = None
        self.pid: int | None = None

    def add(self, ward: Ward) -> None:
        with self._lock:
            if can_supervise():
                if self._list is None:
                    self._list = _memory_file()
                if self._pipe is None or not _is_read(self._pipe):
                    self._start(self._list)
            if None in self._slots:
                self._slots[self._slots.index(None)] = ward
            else:
                self._slots.append(ward)
        self.note(ward)

    def note(self, ward: Ward) -> None:
        """Writes a ward into the list, in one stroke."""
        with self._lock:
            if self._list is not None and ward in self._slots:
                entry = f"{ward.token} {ward.pid or ''}"
                os.pwrite(self._list, _entry(entry), self._slots.index(ward) * ENTRY_BYTES)

    def remove(self, ward: Ward) -> None:
        with self._lock:
            if ward in self._slots:
                slot = self._slots.index(ward)
                self._slots[slot] = None
                if self._list is not None:
                    os.pwrite(self._list, _entry(""), slot * ENTRY_BYTES)

    def farewell(self) -> None:
        """This process ends: if nobody is left to be ended after it, the supervisor may go at once."""
        with self._lock:
            if self._pipe is not None and not any(self._slots):
                with suppress(OSError):
                    os.write(self._pipe, b"\n")

    def forget(self) -> None:
        """In a fork of this process: the children are not ours, and the pipe must not be held open."""
        for fd in (self._pipe, self._list):
            if fd is not None:
                with suppress(OSError):
                    os.close(fd)
        self.__init__()  # type: ignore[misc]  # the lock may have been held at the time of the fork

    def _start(self, families: int) -> None:
        if self._pipe is not None:  # somebody ended the supervisor: another one takes over, with the same list
            os.close(self._pipe)
        if self.pid is not None:
            with suppress(OSError):
                os.waitpid(self.pid, os.WNOHANG)
        self._pipe = self.pid = None
        theirs, ours = os.pipe()
        me = read_process(os.getpid()) if has_proc() else None
        since = str(me.start) if me is not None else ""
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        command = [sys.executable, "-I", "-S", "-c", _START, package]
        command += [str(families), since, str(PATIENCE_SECONDS), str(MERCY_SECONDS)]
        if os.path.exists(SHELL):  # some containers have none; then the interpreter waits itself
            command = [SHELL, "-c", _WAIT, "accord-supervisor", *command]
        try:
            process = subprocess.Popen(
                command,
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(families,),
                env={name: value for name, value in os.environ.items() if name != MARK},
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            os.close(ours)
            return
        finally:
            os.close(theirs)
        process.returncode = 0  # it outlives us on purpose: no complaint when this object is collected
        self._pipe, self.pid = ours, process.pid


def _entry(text: str) -> bytes:
    return text.ljust(ENTRY_BYTES - 1).encode() + b"\n"


def _is_read(pipe: int) -> bool:
    """Whether anyone still holds the other end."""
    poll = select.poll()
    poll.register(pipe, 0)
    return not poll.poll(0)


def _memory_file() -> int:
    """A file without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("accord-families")
    import tempfile

    fd, path = tempfile.mkstemp()
    os.unlink(path)
    return fd


def can_supervise() -> bool:
    """Whether this system, and this way of running Python, lets us have a supervisor."""
    return sys.platform != "win32" and bool(sys.executable) and not getattr(sys, "frozen", False)


def supervisor_pid() -> int | None:
    """The process that watches over our children; None while there is none."""
    return _supervision.pid


def windows_job() -> None:
    """How this will be done on Windows, where it is not done yet.

    One Job object for this process (`CreateJobObjectW`) with `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE`, its handle not
    inheritable. A child is created suspended, put into the job (`AssignProcessToJobObject`) and resumed; all it starts
    is in the job too, and cannot leave it. Our handle is the only one, so the system ends them all when we are gone,
    for whatever reason: no supervisor, no mark. Staged shutdown is then `CTRL_BREAK_EVENT` to the child's process
    group, and `TerminateJobObject` on a job nested for each child."""
    raise NotImplementedError("children are not guarded against the sudden death of this process on Windows yet")


_supervision = _Supervision()
atexit.register(_supervision.farewell)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_supervision.forget)
