"""Run a program and read its output line by line. Cancellation leaves no process behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accord.coder.tools.base import ToolError
from accord.errors import LaunchError
from accord.process.child import DEVNULL, Child
from accord.process.stderr import Drain

MAX_LINE_BYTES = 64_000_000
"""The longest line. A program that prints a longer one is stopped."""
MAX_MEMORY_KIB = 1024 * 1024
GRACE_SECONDS = 0.2
"""How long a program that is no longer needed may take to exit."""


class ProgramResult(NamedTuple):
    """The exit status and errors of a program."""

    status: int | None
    """The exit status, negative for a signal; None if it was stopped early or timed out."""
    stderr: str
    """The end of its standard error."""
    timed_out: bool


def search_path(env: Mapping[str, str]) -> str:
    """Return PATH without relative entries: a `git` in the project must not run without permission."""
    entries = env.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry)) or os.defpath


async def run_program(
    argv: Sequence[str],
    take: Callable[[bytes], bool],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    seconds: float,
    stdin: int = DEVNULL,
    is_limited: bool = False,
) -> ProgramResult:
    """Run a program and pass each line it prints to `take`, until that returns False. `stdin` is an open file.

    `is_limited` limits its memory, for programs that read whole files of the project: one may be a link to
    `/dev/zero`."""
    environment = {**(os.environ if env is None else env)}
    environment["PATH"] = search_path(environment)
    try:
        child = await Child.start(_limit_memory(argv) if is_limited else argv, cwd=cwd, env=environment, stdin=stdin)
    except LaunchError as error:
        raise ToolError(str(error)) from None
    fd, child.stdout = child.stdout, None
    assert fd is not None
    lines = _Lines(take)
    drain = Drain(asyncio.get_running_loop(), fd, lines)
    status: int | None = None
    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            await lines.over.wait()
            if not lines.is_stopped:
                status = await child.wait()
    except TimeoutError:
        timed_out = True
    finally:
        drain.close()
        await child.stop(stdin_grace=0.0, term_grace=GRACE_SECONDS)
    return ProgramResult(status, child.stderr_tail(), timed_out)


def _limit_memory(argv: Sequence[str]) -> Sequence[str]:
    """Return a command line that limits memory. The limit is for data, which leaves out mapped files: Git's packs."""
    if os.name != "posix":
        return argv
    return ["/bin/sh", "-c", f'ulimit -d {MAX_MEMORY_KIB} 2>/dev/null; exec "$0" "$@"', *argv]


class _Lines:
    """Splits bytes into lines."""

    def __init__(self, take: Callable[[bytes], bool]) -> None:
        self.over = asyncio.Event()
        self.is_stopped = False
        self._take = take
        self._partial: list[bytes] = []
        self._partial_size = 0

    def feed(self, data: bytes) -> None:
        if self.is_stopped:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = b"".join([*self._partial, line]) if self._partial else line
            self._partial.clear()
            self._partial_size = 0
            if not self._take(whole):
                self._stop()
                return
        if rest:
            self._partial.append(rest)
            self._partial_size += len(rest)
        if self._partial_size > MAX_LINE_BYTES:
            self._partial.clear()
            self._stop()

    def _stop(self) -> None:
        self.is_stopped = True
        self.over.set()

    def finish(self) -> None:
        if self._partial and not self.is_stopped:
            self._take(b"".join(self._partial))
        self._partial.clear()
        self.over.set()
