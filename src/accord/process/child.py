"""A child process: its pipes, its exit status, and the tail of its standard error.

A child has its own session and process group, and is supervised (see `supervision`): it ends with this process, even if
we are killed. `stop` ends it and all its descendants in stages: close standard input, SIGTERM, SIGKILL. Its keeper
sends the signals (see `supervisor`). This module uses the operating system directly instead of asyncio's subprocesses,
whose streams add limits and buffers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, STDOUT

from accord.process.launch import StartedProgram, UnsupervisedProcess, format_command, start
from accord.process.stderr import Drain, Tail
from accord.process.supervision import KILL_WAIT_SECONDS, FamilyMarker, SupervisedProcess
from accord.process.tree import Family, end_family

__all__ = ["DEVNULL", "PIPE", "STDOUT", "Child", "describe_exit"]

STDIN_GRACE_SECONDS = 5.0
"""Time for a child to exit after its standard input is closed. Agents need up to 3 s to save their state."""

TERM_GRACE_SECONDS = 2.0
"""Time for a child to exit after SIGTERM."""

STDERR_GRACE_SECONDS = 0.2
"""Time to wait for the end of standard error after the exit: a descendant may still hold it open."""


class Child:
    """A program that runs or has exited."""

    def __init__(
        self, process: SupervisedProcess | UnsupervisedProcess, marker: FamilyMarker, argv: Sequence[str], tail: Tail
    ) -> None:
        self.argv: list[str] = list(argv)
        self.pid: int = process.pid
        self.status: int | None = None
        """The exit status, negative for a signal; None while it runs."""
        self.stdin: int | None = None
        """Our end of its standard input. Code that takes over the pipe (and sets this to None) must close it."""
        self.stdout: int | None = None
        """Our end of its standard output, with the same rule."""
        self.on_end: Callable[[], None] | None = None
        """Called once, in the event loop, after it has exited."""
        self._process = process
        self._marker = marker
        self._tail = tail
        self._drain: Drain | None = None
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._family_ended = asyncio.Event()  # set when all processes of the family have ended
        self._stopping = asyncio.Lock()
        self._is_over = False
        self._is_watched = False
        self._watch()

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = PIPE,
        stdout: int | None = PIPE,
        stderr: int | None = PIPE,
        terminal: bool = False,
        on_stderr: Callable[[str], None] | None = None,
    ) -> Child:
        """Start a program. `env` is its whole environment (None: ours); `on_stderr` gets each line of standard error.

        Streams are as in `subprocess`; for `terminal` see `start`. Raises `LaunchError`."""
        started = start(argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, terminal=terminal)
        return cls.of(started, on_stderr=on_stderr)

    @classmethod
    def of(cls, started: StartedProgram, *, on_stderr: Callable[[str], None] | None = None) -> Child:
        """Take over a program that was started by `start`."""
        child = cls(started.process, started.marker, started.argv, Tail(on_stderr))
        child.stdin, child.stdout = started.pipes.get("stdin"), started.pipes.get("stdout")
        if "stderr" in started.pipes:
            child._drain = Drain(child._loop, started.pipes["stderr"], child._tail)
        return child

    @property
    def command(self) -> str:
        """The command for messages, in backquotes."""
        return format_command(self.argv)

    def stderr_tail(self) -> str:
        """Return the last part of its standard error."""
        if self._drain is not None:
            self._drain.read_available()
        return self._tail.text()

    async def final_stderr(self, timeout: float = STDERR_GRACE_SECONDS) -> str:
        """Like `stderr_tail`, after the exit: first wait for output that may still arrive."""
        if self._drain is not None:
            await self._drain.wait_until_ended(timeout)
        return self._tail.text()

    async def wait(self) -> int:
        """Wait for the exit, and return the status."""
        await self._exited.wait()
        assert self.status is not None
        return self.status

    def signal(self, number: int) -> None:
        """Signal its process group; does nothing after the exit."""
        if self.status is None:
            with suppress(OSError):
                self._process.send_signal(number)

    def close_stdin(self) -> None:
        """Close its standard input, unless other code has taken it."""
        stdin, self.stdin = self.stdin, None
        if stdin is not None:
            os.close(stdin)

    def kill(self) -> None:
        """Kill it and all its descendants, without waiting."""
        if not self._is_over:
            self._process.kill()

    def detach(self) -> None:
        """Let the keeper stop the child and its descendants in the same stages, even after this process exits."""
        if not self._is_over:
            if self._process.has_lost_keeper:
                self._process.kill()  # without a keeper, kill it now
            self._finish()

    async def stop(self, *, stdin_grace: float = STDIN_GRACE_SECONDS, term_grace: float = TERM_GRACE_SECONDS) -> int:
        """End it and all its descendants in stages, and return its status. Idempotent.

        Cancelling leaves nothing behind: it skips the remaining stages and sends SIGKILL."""
        async with self._stopping:
            try:
                if not self._is_over:
                    await self._end_in_stages(stdin_grace, term_grace)
                    self._finish()
            except BaseException:
                self.kill()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait_over(KILL_WAIT_SECONDS)
                    self._on_report()
                    self._finish()
                raise
        assert self.status is not None
        return self.status

    async def _end_in_stages(self, stdin_grace: float, term_grace: float) -> None:
        self.close_stdin()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), stdin_grace)
        if not self._process.has_lost_keeper:
            self._process.end(term_grace)
            await self._family_ended.wait()
        if self._process.has_lost_keeper:
            await self._end_without_keeper(term_grace)
        await self._exited.wait()
        await self.final_stderr()

    async def _end_without_keeper(self, term_grace: float) -> None:
        """Stop the family without a keeper, as far as its processes can be recognized."""
        family = Family(self._marker.token)
        family.set_root(self.pid)
        stages = end_family(family, term_grace)
        # Scanning all processes takes milliseconds, so it runs in a thread. It has to poll, because nothing signals the
        # exit of processes that aren't our own children.
        while (pause := await self._loop.run_in_executor(None, next, stages, None)) is not None:  # noqa: ASYNC110
            await asyncio.sleep(pause)

    def _finish(self) -> None:
        self._is_over = True
        if self._drain is not None:
            self._drain.close()
        self.close_stdin()
        if self.stdout is not None:
            os.close(self.stdout)
            self.stdout = None
        self._unwatch()
        self._process.close()

    def _watch(self) -> None:
        """Watch for reports of the keeper, with the event loop or, where that isn't possible, with a thread."""
        if isinstance(self._process, SupervisedProcess):
            with suppress(NotImplementedError, OSError):
                self._loop.add_reader(self._process.fileno(), self._on_report)
                self._is_watched = True
                # If it exited at once, the keeper's report of the exit was already read with that of the start.
                if self._process.returncode is not None:
                    self._loop.call_soon(self._on_report)
                return
        threading.Thread(target=self._wait_in_thread, name="accord-wait", daemon=True).start()

    def _unwatch(self) -> None:
        if self._is_watched and isinstance(self._process, SupervisedProcess):
            self._is_watched = False
            self._loop.remove_reader(self._process.fileno())

    def _wait_in_thread(self) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._on_report)
            while not self._process.has_ended:
                self._process.read(None)
                self._loop.call_soon_threadsafe(self._on_report)

    def _on_report(self) -> None:
        """Process the keeper's reports about exits."""
        status = self._process.poll()
        if self._process.has_ended:
            self._unwatch()
            self._family_ended.set()
        if status is not None and self.status is None:
            self.status = status
            self._exited.set()
            if self.on_end is not None:
                self.on_end()


def describe_exit(status: int) -> str:
    """Describe how a process ended: "exited with status 3", "was killed by SIGKILL"."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
