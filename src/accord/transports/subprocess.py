"""The client's side of a connection to an agent that it starts as a child process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from accord.errors import PeerDied
from accord.process.child import STDIN_GRACE_SECONDS, TERM_GRACE_SECONDS, Child, describe_exit
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Receiver
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import FdTransport
from accord.transports.sink import HIGH_WATER

EXIT_STATUS_SECONDS = 1.0
"""How long to wait for the exit status after the agent's output has ended, to report it."""

OUTPUT_GRACE_SECONDS = 0.2
"""How long to wait for the end of the output after the agent's exit: a descendant may still hold it open."""

DRAIN_SECONDS = 2.0
MAX_STDERR_LINES = 8
MAX_STDERR_CHARACTERS = 2000


class SubprocessTransport(FdTransport):
    """Transport over the standard input and output of an agent. `close` ends the agent and all its descendants."""

    def __init__(
        self,
        child: Child,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        stdin_grace: float = STDIN_GRACE_SECONDS,
        term_grace: float = TERM_GRACE_SECONDS,
    ) -> None:
        if child.stdin is None or child.stdout is None:
            raise ValueError("the child needs pipes for its standard input and output")
        super().__init__(
            Inlet.open_own(child.stdout),
            Outlet.open_own(child.stdin),
            max_message_bytes=max_message_bytes,
            high_water=high_water,
            drain_seconds=DRAIN_SECONDS,
        )
        child.stdin = child.stdout = None  # this transport owns them now
        child.on_end = self._on_unexpected_end
        self.child = child
        self._stdin_grace = stdin_grace
        self._term_grace = term_grace
        self._report: asyncio.Task[None] | None = None
        self._output_ended = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()

    @classmethod
    async def launch(
        cls,
        argv: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        on_stderr: Callable[[str], None] | None = None,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        stdin_grace: float = STDIN_GRACE_SECONDS,
        term_grace: float = TERM_GRACE_SECONDS,
    ) -> SubprocessTransport:
        """Start a command. `env` is its whole environment (None: ours). Raises `LaunchError`."""
        return cls(
            await Child.start(argv, cwd=cwd, env=env, on_stderr=on_stderr),
            max_message_bytes=max_message_bytes,
            high_water=high_water,
            stdin_grace=stdin_grace,
            term_grace=term_grace,
        )

    def start(self, receiver: Receiver) -> None:
        super().start(receiver)
        if self.child.status is not None:
            self._on_unexpected_end()

    def pause(self) -> None:
        self._flowing.clear()
        super().pause()

    def resume(self) -> None:
        super().resume()
        self._flowing.set()

    def describe(self) -> str:
        return self.child.command

    def stderr_tail(self) -> str:
        return self.child.stderr_tail()

    def _on_input_end(self, error: OSError | None) -> None:
        self._deliver_block(self._framer.finish())
        self._output_ended.set()
        self._on_unexpected_end()

    def _on_send_error(self, error: OSError) -> None:
        self._on_unexpected_end()

    def _on_unexpected_end(self) -> None:
        """Report an end that we didn't cause."""
        if self._receiver is not None and self._report is None and self._closing is None:
            self._report = asyncio.get_running_loop().create_task(self._report_end())

    async def _report_end(self) -> None:
        """Wait for the exit status and the rest of the output, report the error, and clean up."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.child.wait(), EXIT_STATUS_SECONDS)
        while not self._output_ended.is_set():
            await self._flowing.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._output_ended.wait(), OUTPUT_GRACE_SECONDS)
            if self._flowing.is_set():
                break
        error = self._exit_error(
            self.child.stderr_tail() if self.child.status is None else await self.child.final_stderr()
        )
        self._source.stop()
        self._sink.refuse(str(error))
        self._sink.stop()
        self._end(error)
        if self._closing is None:
            await self.close()

    def _exit_error(self, words: str) -> PeerDied:
        status = self.child.status
        how = "closed its output, but is still running" if status is None else describe_exit(status)
        last = "\n".join(words.splitlines()[-MAX_STDERR_LINES:])[-MAX_STDERR_CHARACTERS:]
        output = f"standard error: {last}" if last else "nothing on standard error"
        return PeerDied(
            f"the agent {self.child.command} {how}; {output}", command=self.child.command, status=status, stderr=words
        )

    def _stop_receiving(self) -> None:
        # Keep reading and discard it: an agent that blocks on a full pipe couldn't exit by itself.
        self._receiver = _DISCARD
        self.resume()

    async def _finish(self) -> None:
        await self.child.stop(stdin_grace=self._stdin_grace, term_grace=self._term_grace)
        if self._report is not None and self._report is not asyncio.current_task():
            await asyncio.wait({self._report})

    def _release(self) -> None:
        super()._release()
        self.child.kill()  # only has an effect if closing was interrupted


class _DiscardingReceiver:
    """Ignores everything."""

    def on_lines(self, block: bytes) -> None:
        pass

    def on_oversized(self, head: bytes, size: int) -> None:
        pass

    def on_end(self, error: Exception | None) -> None:
        pass


_DISCARD = _DiscardingReceiver()
