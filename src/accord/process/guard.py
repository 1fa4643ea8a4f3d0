"""No orphans: what this process started ends with it, even after kill −9.

A parent-death signal reaches only the direct child, is lost when the *thread* that started it ends, and must be set
between fork and exec, which makes a start ten times slower (0.3 → 2.6 ms, and 22 ms in a process of 400 MB, as it
rules out vfork). So there is one small supervisor for each process that has children, started just before the first
of them. It holds one end of a pipe whose other end is ours alone and knows every child's token before that child
exists: there is no instant at which a kill could leave one behind unseen. (Between fork and exec a child still holds
the pipe open, so the pipe breaks only when every child can be recognised.)

What it costs: a start takes one more `Popen` the first time (0.3 ms) and a line on a pipe each time; the supervisor
itself takes 20 ms of another core to come up, which nobody waits for. Start of an agent until it answers, with against
without: between 0.93 and 1.02, which is noise. In memory it is a bare interpreter, about 9 MB.

It lives in a session of its own (Ctrl-C in the terminal does not reach it), in the root directory, with no descriptor
of ours but its end of the pipe, and ends when we are gone and nothing is left to end. Linux and macOS; for Windows see
`windows_job`. A frozen program has no interpreter to run it with: then nothing guards against kill −9."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress

from accord.process.tree import MARK

PATIENCE_SECONDS = 1.0
"""After our death: how long children may take to notice by themselves that their standard input has ended."""

MERCY_SECONDS = 2.0
"""How long they may take to heed SIGTERM."""

# A stand-in for the package, so that the supervisor does not load what `accord/__init__.py` may come to load.
_START = """\
import sys
package = type(sys)("accord")
package.__path__ = [sys.argv.pop(1)]
sys.modules["accord"] = package
from accord.process.supervisor import main
main()
"""


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
        _supervision.tell(f"={self.token} {pid}\n")

    def over(self) -> None:
        """Nothing of it is left. Repeating changes nothing."""
        _supervision.remove(self)


class _Supervision:
    """Our end of the pipe to the supervisor, and everything it must know."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wards: dict[str, Ward] = {}
        self._pipe: int | None = None
        self._pid: int | None = None

    @property
    def pid(self) -> int | None:
        """The supervisor's process; None while there is none."""
        return self._pid

    def add(self, ward: Ward) -> None:
        with self._lock:
            if self._pipe is None:
                self._start()
            self._wards[ward.token] = ward
            self._write(f"+{ward.token}\n")

    def remove(self, ward: Ward) -> None:
        with self._lock:
            if self._wards.pop(ward.token, None) is not None:
                self._write(f"-{ward.token}\n")

    def tell(self, line: str) -> None:
        with self._lock:
            self._write(line)

    def forget(self) -> None:
        """In a fork of this process: the children are not ours, and the pipe must not be held open."""
        if self._pipe is not None:
            with suppress(OSError):
                os.close(self._pipe)
        self.__init__()  # type: ignore[misc]  # the lock may have been held at the time of the fork

    def _write(self, line: str) -> None:
        if self._pipe is None:
            return
        try:
            os.write(self._pipe, line.encode())
        except OSError:  # somebody ended the supervisor: another one takes over, told everything from the start
            os.close(self._pipe)
            if self._pid is not None:
                with suppress(OSError):
                    os.waitpid(self._pid, os.WNOHANG)
            self._start()
            if self._pipe is not None:
                lines = [f"+{w.token}\n" + (f"={w.token} {w.pid}\n" if w.pid else "") for w in self._wards.values()]
                with suppress(OSError):
                    os.write(self._pipe, "".join(lines).encode())

    def _start(self) -> None:
        self._pipe = self._pid = None
        if not can_supervise():
            return
        theirs, ours = os.pipe()
        environment = {name: value for name, value in os.environ.items() if name != MARK}
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        command = [sys.executable, "-I", "-S", "-c", _START, package]
        command += [str(os.getpid()), str(PATIENCE_SECONDS), str(MERCY_SECONDS)]
        try:
            process = subprocess.Popen(
                command,
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError:
            os.close(ours)
            return
        finally:
            os.close(theirs)
        process.returncode = 0  # it outlives us on purpose: no complaint when this object is collected
        self._pipe, self._pid = ours, process.pid


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
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_supervision.forget)
