"""The client's end of a wire to an agent that it starts as a child process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from accord.errors import PeerDied
from accord.process.child import STDIN_GRACE, TERM_GRACE, Child, in_words
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Receiver
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import FdTransport
from accord.transports.writing import HIGH_WATER

EXIT_PATIENCE = 1.0
"""After the agent's output has ended: how long to wait for its exit status, to be able to name it."""

OUTPUT_PATIENCE = 0.2
"""After the agent itself has ended: how long its output may still be held open by a process that it started."""

DRAIN_SECONDS = 2.0
LAST_LINES = 8
LAST_CHARACTERS = 2000


class SubprocessTransport(FdTransport):
    """Starts an agent, speaks over its standard input and output, and ends it and all it started."""

    def __init__(
        self,
        child: Child,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        stdin_grace: float = STDIN_GRACE,
        term_grace: float = TERM_GRACE,
    ) -> None:
        if child.stdin is None or child.stdout is None:
            raise ValueError("the child must be started with pipes for its standard input and output")
        super().__init__(
            Inlet.own(child.stdout),
            Outlet.own(child.stdin),
            max_message_bytes=max_message_bytes,
            high_water=high_water,
            drain_seconds=DRAIN_SECONDS,
        )
        child.stdin = child.stdout = None  # ours from now on
        child.on_end = self._hold_inquest
        self.child = child
        self._stdin_grace = stdin_grace
        self._term_grace = term_grace
        self._inquest: asyncio.Task[None] | None = None
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
        stdin_grace: float = STDIN_GRACE,
        term_grace: float = TERM_GRACE,
    ) -> SubprocessTransport:
        """Starts the command. `env` is its whole environment (None: ours). Raises `LaunchError`."""
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
            self._hold_inquest()

    def pause(self) -> None:
        self._flowing.clear()
        super().pause()

    def resume(self) -> None:
        super().resume()
        self._flowing.set()

    def describe(self) -> str:
        return self.child.command

    def last_words(self) -> str:
        return self.child.stderr_tail()

    def _receiving_ended(self, error: OSError | None) -> None:
        self._hand_over(self._framer.finish())
        self._output_ended.set()
        self._hold_inquest()

    def _sending_failed(self, error: OSError) -> None:
        self._hold_inquest()

    def _hold_inquest(self) -> None:
        """Something ended that should not have: finds out what, unless we are ending it ourselves."""
        if self._receiver is not None and self._inquest is None and self._closing is None:
            self._inquest = asyncio.get_running_loop().create_task(self._find_out())

    async def _find_out(self) -> None:
        """Waits for what belongs to the end (the exit status, the last of the output), reports it and cleans up."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.child.wait(), EXIT_PATIENCE)
        while not self._output_ended.is_set():
            await self._flowing.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._output_ended.wait(), OUTPUT_PATIENCE)
            if self._flowing.is_set():
                break
        error = self._obituary(self.child.stderr_tail() if self.child.status is None else await self.child.last_said())
        self._source.stop()
        self._sink.refuse(str(error))
        self._sink.stop()
        self._end(error)
        if self._closing is None:
            await self.close()

    def _obituary(self, words: str) -> PeerDied:
        status = self.child.status
        how = "closed its end of the conversation, but is still running" if status is None else in_words(status)
        last = "\n".join(words.splitlines()[-LAST_LINES:])[-LAST_CHARACTERS:]
        said = f"its last words: {last}" if last else "it said nothing on standard error"
        return PeerDied(
            f"the agent {self.child.command} {how}; {said}", command=self.child.command, status=status, stderr=words
        )

    def _quiet(self) -> None:
        # An agent that still writes must not get stuck, or it could not end by itself: it is read, and not heard.
        self._receiver = _DEAF
        self.resume()

    async def _finish(self) -> None:
        await self.child.stop(stdin_grace=self._stdin_grace, term_grace=self._term_grace)
        if self._inquest is not None and self._inquest is not asyncio.current_task():
            await asyncio.wait({self._inquest})

    def _let_go(self) -> None:
        super()._let_go()
        self.child.kill()  # when closing was cut short; otherwise there is nobody left


class _Deaf:
    """Receives and forgets."""

    def lines(self, block: bytes) -> None:
        pass

    def oversized(self, head: bytes, size: int) -> None:
        pass

    def ended(self, error: Exception | None) -> None:
        pass


_DEAF = _Deaf()
