"""One child process: its pipes, its end, and what it said last.

A child has a session and process group of its own and is under `guard`: it ends with us, whatever happens to us. `stop`
ends it in stages, together with everyone it started: standard input is closed, then SIGTERM, then SIGKILL. Built on the
operating system and not on asyncio's processes, whose streams bring limits and buffers of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, STDOUT

from accord.process.guard import Ward
from accord.process.launch import spoken
from accord.process.start import Started, start
from accord.process.stderr import Drain, Tail
from accord.process.tree import Family, end

__all__ = ["DEVNULL", "PIPE", "STDOUT", "Child", "in_words"]

STDIN_GRACE = 1.0
"""How long a child may take to end once its standard input is closed."""

TERM_GRACE = 2.0
"""How long it may take to end once it was asked to (SIGTERM)."""

STDERR_PATIENCE = 0.2
"""After its end: how long its standard error may still be held open by a process that it started."""

KILLED_SECONDS = 0.5
"""How long the event loop may be held up by burying a child that was killed because its orderly end was cancelled."""


class Child:
    """A running program, or one that has ended."""

    def __init__(self, process: subprocess.Popen[bytes], ward: Ward, argv: Sequence[str], tail: Tail) -> None:
        self.argv = list(argv)
        self.pid = process.pid
        self.status: int | None = None
        """How it ended: the exit status, negative for a signal; None while it runs."""
        self.stdin: int | None = None
        """Our end of its standard input, to be written to. Who takes it (sets it to None) also closes it."""
        self.stdout: int | None = None
        """Our end of its standard output, likewise."""
        self.on_end: Callable[[], None] | None = None
        """Called once, in the event loop, when it has ended."""
        self._process = process
        self._ward = ward
        self._family = Family(ward.token)
        self._family.rooted(process.pid)
        self._tail = tail
        self._drain: Drain | None = None
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._stopping = asyncio.Lock()
        self._is_over = False
        self._pidfd: int | None = None
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
        on_stderr: Callable[[str], None] | None = None,
    ) -> Child:
        """Starts a program. `env` is its whole environment (None: ours); `on_stderr` gets each line it complains.

        Streams are as in `subprocess`. Raises `LaunchError`."""
        return cls.of(start(argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr), on_stderr=on_stderr)

    @classmethod
    def of(cls, started: Started, *, on_stderr: Callable[[str], None] | None = None) -> Child:
        """Looks after a program that was started before."""
        child = cls(started.process, started.ward, started.argv, Tail(on_stderr))
        child.stdin, child.stdout = started.pipes.get("stdin"), started.pipes.get("stdout")
        if "stderr" in started.pipes:
            child._drain = Drain(child._loop, started.pipes["stderr"], child._tail)
        return child

    @property
    def command(self) -> str:
        """The command as people write it, in backquotes."""
        return spoken(self.argv)

    def stderr_tail(self) -> str:
        """The last it wrote to standard error."""
        if self._drain is not None:
            self._drain.read_what_is_there()
        return self._tail.text()

    async def last_said(self, timeout: float = STDERR_PATIENCE) -> str:
        """The same, once it has ended: waits for what may still be on its way."""
        if self._drain is not None:
            await self._drain.settled(timeout)
        return self._tail.text()

    async def wait(self) -> int:
        """Waits for its end; gives the status."""
        await self._ended.wait()
        assert self.status is not None
        return self.status

    def signal(self, number: int) -> None:
        """Sends a signal to its process group; nothing happens once it has ended."""
        if self.status is None:
            with suppress(OSError):
                if os.name == "posix":
                    os.killpg(self.pid, number)
                else:
                    self._process.send_signal(number)

    def close_stdin(self) -> None:
        """Ends its standard input, unless somebody took it."""
        stdin, self.stdin = self.stdin, None
        if stdin is not None:
            os.close(stdin)

    def kill(self) -> None:
        """Ends it and everyone it started at once, without waiting."""
        if not self._is_over:
            if os.name == "posix":
                self._family.signal(signal.SIGKILL)
            else:
                self._process.kill()

    async def stop(self, *, stdin_grace: float = STDIN_GRACE, term_grace: float = TERM_GRACE) -> int:
        """Ends it in stages, with all who come from it, and gives its status. Repeating changes nothing.

        Cancelling does not leave anything behind: the stages are cut short by SIGKILL."""
        async with self._stopping:
            try:
                if not self._is_over:
                    await self._end_in_stages(stdin_grace, term_grace)
                    self._finish()
            except BaseException:
                self.kill()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(KILLED_SECONDS)
                    self._note_end()
                    self._finish()
                raise
        assert self.status is not None
        return self.status

    async def _end_in_stages(self, stdin_grace: float, term_grace: float) -> None:
        if os.name == "posix":
            # A look before anyone goes: who has left the group and wiped the mark is still tied by parenthood now.
            await self._loop.run_in_executor(None, self._family.look)
        self.close_stdin()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), stdin_grace)
        if os.name == "posix":
            stages = end(self._family, patience=0.0, mercy=term_grace)
            # Looking at every process of the machine takes milliseconds: in a thread, so that nobody else waits. And
            # a pause, not an event: processes that are not our own children announce their end to nobody.
            while (pause := await self._loop.run_in_executor(None, next, stages, None)) is not None:  # noqa: ASYNC110
                await asyncio.sleep(pause)
        else:
            self._process.terminate()
        await self._ended.wait()
        await self.last_said()

    def _finish(self) -> None:
        self._is_over = True
        if self._drain is not None:
            self._drain.close()
        self.close_stdin()
        if self.stdout is not None:
            os.close(self.stdout)
            self.stdout = None
        self._ward.over()

    def _watch(self) -> None:
        """Has the event loop say when it has ended; a thread where the system cannot."""
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, name="accord-wait", daemon=True).start()
            return
        try:
            self._loop.add_reader(pidfd, self._note_end)
            self._pidfd = pidfd
        except (NotImplementedError, OSError):
            os.close(pidfd)
            threading.Thread(target=self._wait_in_thread, name="accord-wait", daemon=True).start()

    def _wait_in_thread(self) -> None:
        self._process.wait()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._note_end)

    def _note_end(self) -> None:
        status = self._process.poll()
        if status is None:
            return
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        self.status = status
        self._ended.set()
        if self.on_end is not None:
            self.on_end()


def in_words(status: int) -> str:
    """How a process ended: "ended with status 3", "was ended by SIGKILL"."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
