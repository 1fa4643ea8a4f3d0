"""What a program prints, line by line, until it ends or enough has come. Whoever is cancelled leaves no process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accord.coder.tools.base import ToolFault
from accord.errors import LaunchError
from accord.process.child import DEVNULL, Child
from accord.process.stderr import Drain

GRACE = 0.2
"""How long a program that is no longer needed may take to end by itself."""


class Gathered(NamedTuple):
    """How it went."""

    status: int | None
    """The exit status; None when the program was not waited for: enough had come, or the time was over."""
    complaint: str
    """The end of what it wrote to standard error."""
    out_of_time: bool


async def gathered(
    argv: Sequence[str],
    take: Callable[[bytes], bool],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    seconds: float,
) -> Gathered:
    """Runs a program and hands on each line it prints, until `take` says (by False) that it is enough."""
    try:
        child = await Child.start(argv, cwd=cwd, env=env, stdin=DEVNULL)
    except LaunchError as error:
        raise ToolFault(str(error)) from None
    fd, child.stdout = child.stdout, None
    assert fd is not None
    lines = _Lines(take)
    drain = Drain(asyncio.get_running_loop(), fd, lines)
    status: int | None = None
    out_of_time = False
    try:
        async with asyncio.timeout(seconds):
            await lines.over.wait()
            if not lines.is_enough:
                status = await child.wait()
    except TimeoutError:
        out_of_time = True
    finally:
        drain.close()
        await child.stop(stdin_grace=0.0, term_grace=GRACE)
    return Gathered(status, child.stderr_tail(), out_of_time)


class _Lines:
    """Takes bytes, and gives lines."""

    def __init__(self, take: Callable[[bytes], bool]) -> None:
        self.over = asyncio.Event()
        self.is_enough = False
        self._take = take
        self._begun: list[bytes] = []

    def feed(self, data: bytes) -> None:
        if self.is_enough:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = b"".join([*self._begun, line]) if self._begun else line
            self._begun.clear()
            if not self._take(whole):
                self.is_enough = True
                self.over.set()
                return
        if rest:
            self._begun.append(rest)

    def finish(self) -> None:
        if self._begun and not self.is_enough:
            self._take(b"".join(self._begun))
        self._begun.clear()
        self.over.set()
