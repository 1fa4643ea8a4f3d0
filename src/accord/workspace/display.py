"""Telling a client what a terminal of the agent's own prints (version 2), in few statements and every byte once.

Many small pieces become few larger ones: a statement is made when enough bytes have come or enough time has passed,
and none is larger than it should be. Who falls so far behind that bytes are lost says all that is kept, in place of
what was said before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Union

from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus
from accord.workspace.stream import Delta, Subscription

ENOUGH_BYTES = 16 * 1024
"""Bytes that are worth a statement at once."""

MOST_BYTES = 64 * 1024
"""The largest piece in one statement."""

ENOUGH_SECONDS = 0.05
"""How long a byte may wait for others."""

Told = Union[TerminalPatch, TerminalData]


class Display:
    """What is to be said about one terminal. It is told the time and never asks for it."""

    def __init__(
        self,
        id: str,
        *,
        enough_bytes: int = ENOUGH_BYTES,
        most_bytes: int = MOST_BYTES,
        enough_seconds: float = ENOUGH_SECONDS,
    ) -> None:
        self.id = id
        self._enough_bytes = enough_bytes
        self._most_bytes = most_bytes
        self._enough_seconds = enough_seconds
        self._waiting = bytearray()
        self._oldest = 0.0  # when the first of them came

    def opened(self, command: str, cwd: str) -> list[Told]:
        """What runs, and where."""
        return [TerminalPatch(id=self.id, command=command, cwd=cwd)]

    def take(self, delta: Delta, now: float) -> list[Told]:
        """Something is new; gives what to say now."""
        told: list[Told] = []
        if delta.skipped:
            # What is missing lies between what was said and this. This is all that is kept: it replaces the rest.
            told.append(TerminalPatch(id=self.id, output=delta.data[: self._most_bytes]))
            self._waiting = bytearray(delta.data[self._most_bytes :])
            told += self.flush()
        elif delta.data:
            if not self._waiting:
                self._oldest = now
            self._waiting += delta.data
            if len(self._waiting) >= self._enough_bytes or now >= self._oldest + self._enough_seconds:
                told += self.flush()
        if delta.exit is not None:
            told += self.ended(delta.exit)
        return told

    def due(self) -> float | None:
        """When `flush` should be called at the latest; None if nothing waits."""
        return self._oldest + self._enough_seconds if self._waiting else None

    def flush(self) -> list[Told]:
        """Says what waits."""
        data, self._waiting = bytes(self._waiting), bytearray()
        return [
            TerminalData(id=self.id, data=data[start : start + self._most_bytes])
            for start in range(0, len(data), self._most_bytes)
        ]

    def ended(self, exit: ExitStatus) -> list[Told]:
        """The command has ended: says what waits, then that."""
        return [*self.flush(), TerminalPatch(id=self.id, exit=exit, can_cancel=False)]


async def show(
    watched: Subscription,
    display: Display,
    say: Callable[[Told], Awaitable[None]],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Tells all that a terminal prints until its end. While `say` waits for a slow client, more comes together."""
    while True:
        due = display.due()
        try:
            async with asyncio.timeout(None if due is None else max(0.0, due - clock())):
                delta = await anext(watched)
        except StopAsyncIteration:
            break
        except TimeoutError:
            told = display.flush()
        else:
            told = display.take(delta, clock())
        for statement in told:
            await say(statement)
    for statement in display.flush():
        await say(statement)
