"""One terminal: a command with its output and exit status.

The command runs in its own session and process group, and is supervised (see `process.supervision`): it ends with this
process, together with all its descendants. Standard output and error go to one pipe, in the order they were written,
and standard input is empty; or all three are a pseudo-terminal."""

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
from accord.workspace.output import OutputBuffer, OutputSource, Subscription

OUTPUT_GRACE_SECONDS = 0.2
"""How long output on a pseudo-terminal may still arrive after the command's exit, or after its last output."""
MAX_GRACE_PERIODS = 10
"""Output after this many periods is from a descendant; the command's own output has been read."""


class Terminal:
    """A command that runs or has exited, and its output."""

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
        """The command as the agent sent it."""
        self.cwd = cwd
        self.output = output
        self._source = OutputSource(output)
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
        """Start a command on a pseudo-terminal with this many columns and rows, or (None) on a pipe.

        Raises `LaunchError`."""
        if not argv or not argv[0]:
            raise LaunchError("the command is empty; give a program and its arguments")
        if size is None:
            child = await Child.start(argv, cwd=cwd, env=env, stdin=DEVNULL, stderr=STDOUT)
        else:
            child = await start_on_pty(argv, cwd=cwd, env=env, columns=size[0], rows=size[1])
        return cls(id, session_id, command, cwd, output, child, is_device=size is not None)

    @property
    def exit(self) -> ExitStatus | None:
        """The exit status; None while the command runs."""
        return self._source.exit

    @property
    def pid(self) -> int:
        return self._child.pid

    async def wait(self) -> ExitStatus:
        """Wait until the command has exited and its output has been read. Several tasks can wait."""
        await self._exited.wait()
        assert self._source.exit is not None
        return self._source.exit

    async def stop(self, grace: float) -> None:
        """End the command and all its descendants: SIGTERM first, and SIGKILL after `grace` seconds.

        Cancelling leaves nothing behind. Idempotent."""
        try:
            await self._child.stop(stdin_grace=0.0, term_grace=grace)
            await self._drain.wait_until_ended(OUTPUT_GRACE_SECONDS)
        finally:
            self._drain.close()
            if self._child.status is not None:
                self._record_exit()

    def kill(self) -> None:
        """Kill the command and all its descendants, without waiting."""
        self._child.kill()

    def resize(self, columns: int, rows: int) -> None:
        """Resize the pseudo-terminal. Does nothing for a pipe, or after the end."""
        if self._is_device and self._fd is not None:
            resize(self._fd, columns, rows)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function on new output and on exit. It must be fast."""
        self._source.listener = listener

    def subscribe(self) -> Subscription:
        """Create a subscription, which starts with the kept output."""
        return Subscription(self._source)

    # -- Sink of the drain

    def feed(self, data: bytes) -> None:
        self.output.feed(data)
        self._source.notify()

    def finish(self) -> None:
        self._fd = None
        self.output.finish()
        self._source.notify()
        if self._child.status is not None:
            self._record_exit()

    # -- Exit

    def _command_ended(self) -> None:
        # Output on a pipe is available when the command has exited. On a pseudo-terminal, or with a reading thread, it
        # may take a moment. End of file isn't a reliable sign, because descendants may hold the output open.
        self._drain.read_available()
        if not self.output.finished and (self._is_device or os.name != "posix"):
            self._loop.call_later(OUTPUT_GRACE_SECONDS, self._finish_output, self.output.end, MAX_GRACE_PERIODS - 1)
        else:
            self._record_exit()

    def _finish_output(self, end: int, periods: int) -> None:
        """Record the exit once no output has arrived for a while. A busy machine may not have read all of it in
        time."""
        self._drain.read_available()
        if self.output.end > end and periods and self._source.exit is None:
            self._loop.call_later(OUTPUT_GRACE_SECONDS, self._finish_output, self.output.end, periods - 1)
        else:
            self._record_exit()

    def _record_exit(self) -> None:
        if self._source.exit is None and self._child.status is not None:
            self._source.exit = exit_status(self._child.status)
            self._exited.set()
            self._source.notify()


def exit_status(status: int) -> ExitStatus:
    """Convert a status, negative for a signal as in `subprocess`, to an exit code or the name of the signal."""
    if status >= 0:
        return ExitStatus(code=status)
    try:
        return ExitStatus(signal=signal.Signals(-status).name)
    except ValueError:
        return ExitStatus(signal=f"SIG{-status}")
