"""One terminal: a command, what it prints, how it ended, and the end of everyone it started.

The command runs in a session and process group of its own, under guard (see `process.guard`): it ends with us. It
prints to one pipe, standard output and error in the order they were written, and reads from nothing; or it has a
terminal device for all three."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping

from accord.errors import LaunchError
from accord.model.tool import ExitStatus
from accord.process.child import DEVNULL, STDOUT, Child
from accord.process.pty import resize, start_on_pty
from accord.process.stderr import Drain
from accord.workspace.output import OutputBuffer
from accord.workspace.stream import Source, Subscription

LAST_WORDS_SECONDS = 0.2
"""After the end of a command: how long what it printed on a terminal device may still be on its way to us."""


class Terminal:
    """A command that runs, or has ended."""

    def __init__(
        self,
        id: str,
        session_id: str,
        command: str,
        cwd: str,
        output: OutputBuffer,
        child: Child,
        *,
        is_device: bool = False,
    ) -> None:
        self.id = id
        self.session_id = session_id
        self.command = command
        """As the agent wrote it."""
        self.cwd = cwd
        self.output = output
        self._source = Source(output)
        self._child = child
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        fd, child.stdout = child.stdout, None
        assert fd is not None
        self._fd: int | None = fd
        self._is_device = is_device
        child.on_end = self._command_ended
        self._drain = Drain(self._loop, fd, self)

    @classmethod
    async def start(
        cls,
        id: str,
        session_id: str,
        command: str,
        argv: list[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        output: OutputBuffer,
        size: tuple[int, int] | None,
    ) -> Terminal:
        """Starts a command, on a terminal device of this many columns and rows or (None) on a pipe.

        Raises `LaunchError`."""
        if not argv or not argv[0]:
            raise LaunchError("there is no command to run; give a program and its arguments")
        if size is None:
            child = await Child.start(argv, cwd=cwd, env=env, stdin=DEVNULL, stderr=STDOUT)
        else:
            child = await start_on_pty(argv, cwd=cwd, env=env, columns=size[0], rows=size[1])
        return cls(id, session_id, command, cwd, output, child, is_device=size is not None)

    @property
    def exit(self) -> ExitStatus | None:
        """How the command ended; None while it runs."""
        return self._source.exit

    @property
    def pid(self) -> int:
        return self._child.pid

    async def wait(self) -> ExitStatus:
        """Waits for the command's end, when all it printed has been read. Any number may wait."""
        await self._exited.wait()
        assert self._source.exit is not None
        return self._source.exit

    async def stop(self, grace: float) -> None:
        """Ends the command and everyone it started: asks, and kills who is still there after `grace` seconds.

        Cancelling does not leave anyone behind. Repeating changes nothing."""
        try:
            await self._child.stop(stdin_grace=0.0, term_grace=grace)
            await self._drain.settled(LAST_WORDS_SECONDS)
        finally:
            self._drain.close()
            if self._child.status is not None:
                self._conclude()

    def kill(self) -> None:
        """Ends the command and everyone it started at once, without waiting."""
        self._child.kill()

    def resize(self, columns: int, rows: int) -> None:
        """Makes the terminal device this large; nothing happens on a pipe, or when it is gone."""
        if self._is_device and self._fd is not None:
            resize(self._fd, columns, rows)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Has a function called whenever something was printed or the command has ended. It must be quick."""
        self._source.listener = listener

    def subscribe(self) -> Subscription:
        """A watcher, who first gets what is kept."""
        return Subscription(self._source)

    # -- for the drain

    def feed(self, data: bytes) -> None:
        self.output.feed(data)
        self._source.changed()

    def finish(self) -> None:
        self._fd = None
        self.output.finish()
        self._source.changed()
        if self._child.status is not None:
            self._conclude()

    # -- the end

    def _command_ended(self) -> None:
        # What a command wrote to a pipe is there when it has ended. On a terminal device it may take a moment, and so
        # may a thread that reads for us; the sign that no more comes is the end of the file, which others may hold.
        self._drain.read_what_is_there()
        if not self.output.finished and (self._is_device or os.name != "posix"):
            self._loop.call_later(LAST_WORDS_SECONDS, self._conclude)
        else:
            self._conclude()

    def _conclude(self) -> None:
        if self._source.exit is None and self._child.status is not None:
            self._source.exit = exit_status(self._child.status)
            self._exited.set()
            self._source.changed()


def exit_status(status: int) -> ExitStatus:
    """How a command ended: its code, or the name of the signal (`status` is negative then, as in `subprocess`)."""
    if status >= 0:
        return ExitStatus(code=status)
    try:
        return ExitStatus(signal=signal.Signals(-status).name)
    except ValueError:
        return ExitStatus(signal=f"SIG{-status}")
