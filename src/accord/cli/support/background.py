"""Continue an `accord run --no-wait` in the background, and report in the foreground how it started.

The process forks before it starts anything else. The background process has its own session, no terminal and no
standard input; its output goes to a log file. The foreground process waits until the prompt was sent or queued, or
until the background process has failed.

The log files are also the queue of a session: each run holds a lock on its own log, and waits for the locks on the
earlier ones. The system releases a lock when its process ends for any reason, so a killed run blocks nobody."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import click

from accord.cli.support.errors import CommandError
from accord.config.directories import data_directory
from accord.config.locking import hold, try_lock

MAX_LOGS = 200
"""The maximum number of logs that are kept, of all sessions. The oldest are removed."""


class Started(NamedTuple):
    """A run in the background, as the foreground process reports it."""

    pid: int
    log: Path
    session_id: str
    """Empty if the run waits for an earlier one."""


class Queue:
    """The runs of one session in the background: a log file each, locked until the run has ended."""

    def __init__(self, cwd: Path, name: str) -> None:
        self._directory = data_directory() / "background"
        key = hashlib.sha256(f"{cwd}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()
        # The name is cut, because its letters may take four bytes each.
        self._prefix = f"{name[:40]}-{key[:12]}"

    def join(self) -> Place:
        """Add this run at the end."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self._directory / "queue.lock"):
            number = max(self._numbers(), default=0) + 1
            log = self._path(number)
            lock = os.open(log, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try_lock(lock)
            self._prune()
        return Place(self, number, log, lock)

    def list_running(self, before: int | None = None) -> list[Path]:
        """Return the logs of the runs that haven't ended; with `before`, of the earlier ones."""
        numbers = sorted(each for each in self._numbers() if before is None or each < before)
        return [path for path in map(self._path, numbers) if not _is_free(path)]

    def _numbers(self) -> Iterator[int]:
        for path in self._directory.glob("*.log"):
            prefix, _, number = path.stem.rpartition("-")
            if prefix == self._prefix:
                yield int(number)

    def _path(self, number: int) -> Path:
        return self._directory / f"{self._prefix}-{number}.log"

    def _prune(self) -> None:
        logs = sorted(self._directory.glob("*.log"), key=lambda each: each.stat().st_mtime)
        for path in logs[:-MAX_LOGS]:
            if _is_free(path):
                path.unlink(missing_ok=True)


class Place(NamedTuple):
    """The place of a run in the queue of its session."""

    queue: Queue
    number: int
    log: Path
    lock: int
    """The locked file."""


def wait_for_earlier_runs(cwd: Path, name: str) -> None:
    """Wait for the runs of a session in the background: two turns at once would disturb each other."""
    running = Queue(cwd, name).list_running()
    if running:
        click.echo(f"Waiting for the run of session {name!r} in the background…", err=True)
        _wait(running)


def _wait(logs: list[Path]) -> None:
    """Wait until the runs have ended."""
    if sys.platform != "win32":
        import fcntl

        for path in logs:
            with suppress(FileNotFoundError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)


def _is_free(path: Path) -> bool:
    """Return whether the run of a log has ended."""
    try:
        with path.open("rb") as file:
            return try_lock(file.fileno(), shared=True)
    except FileNotFoundError:
        return True


class BackgroundRun:
    """The background process of a run."""

    def __init__(self, place: Place, foreground: int) -> None:
        self._place = place
        self._foreground = foreground

    def wait(self) -> None:
        """Wait for earlier runs of the session, after reporting that this one is queued."""
        if earlier := self._place.queue.list_running(self._place.number):
            self.report("")
            _wait(earlier)

    def report(self, session_id: str) -> None:
        """Let the foreground process end: the prompt was sent, or queued."""
        if self._foreground >= 0:
            with suppress(OSError):  # it was killed
                os.write(self._foreground, f"{session_id}\n".encode())
            os.close(self._foreground)
            self._foreground = -1


def detach(cwd: Path, name: str) -> BackgroundRun | Started:
    """Fork. Returns a `BackgroundRun` in the background process.

    Returns `Started` in the foreground process. If the background process fails before that, the foreground process
    prints its output and ends with its exit status."""
    if sys.platform == "win32":
        raise click.UsageError("--no-wait isn't supported on Windows")
    place = Queue(cwd, name).join()
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _leave_terminal(place.log, keep={writing, place.lock})
        return BackgroundRun(place, writing)
    os.close(writing)
    os.close(place.lock)  # the lock stays with the other process
    return _await_start(pid, place.log, reading)


def _leave_terminal(log: Path, keep: set[int]) -> None:
    """Leave the terminal's session, and let go of every inherited file."""
    if sys.platform == "win32":
        return  # `detach` has refused
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has no effect here: --no-wait replaces it
    nothing = os.open(os.devnull, os.O_RDWR)
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Replaced, not closed: Python objects that own one of these would later close a file that got its number. A pipe
    # kept open here would make the shell's `$(accord run --no-wait …)` wait for the turn.
    for fd in [int(each) for each in os.listdir("/dev/fd")]:
        if fd > 2 and fd not in {*keep, nothing, output}:
            with suppress(OSError):
                os.dup2(nothing, fd, inheritable=False)


def _await_start(pid: int, log: Path, reading: int) -> Started:
    try:
        with open(reading, encoding="utf-8") as report:
            line = report.readline()
    except KeyboardInterrupt:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        raise
    if not line:
        _fail_like(pid, log)
    return Started(pid, log, line.strip())


def _fail_like(pid: int, log: Path) -> NoReturn:
    """End as the background process ended: with its output and its exit status."""
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    printed = log.read_text("utf-8", "replace").rstrip()
    if status < 0:
        raise CommandError(f"the background process was killed by signal {-status}", 128 - status)
    click.echo(printed, err=True)
    raise click.exceptions.Exit(status or 1)


def describe(started: Started, name: str, agent: list[str]) -> str:
    """Describe a run in the background, and how to follow and stop it."""
    import shlex

    again = shlex.join(["accord", "run", *agent, "--name", name])
    if started.session_id:
        first = f"Started in session {name!r} ({started.session_id}), as process {started.pid}."
    else:
        first = f"Queued behind the earlier runs of session {name!r}, as process {started.pid}."
    rows = [
        first,
        "  State     accord status",
        f"  Answer    cat {shlex.quote(str(started.log))}",
        f'  Continue  {again} "…"',
        f"  Stop      kill {started.pid}",
    ]
    return "\n".join(rows)
