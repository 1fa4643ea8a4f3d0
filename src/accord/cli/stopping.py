"""What ends a run before it is done: Ctrl-C, a signal, or the end of its time.

    Ctrl-C          the turn is cancelled, politely; outside a turn the run ends
    Ctrl-C again    the agent is killed at once, with everything it started
    --timeout       the turn is cancelled, and the agent killed if it has not stopped soon
    SIGTERM, SIGHUP the run ends, and the agent with it, in an orderly way

Plain signal handlers, not the event loop's: those would wait for a program that does not read our output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.client.turn import Turn

INTERRUPTED = 130
TIMED_OUT = 124
_GRACE = 5.0
"""How long an agent may take to stop once its time is over: as long as it had, and at most so many seconds."""


class Stops:
    """Watches over one run. `status` is the exit status when it was stopped."""

    def __init__(self, timeout: float | None, kill: Callable[[], None], say: Callable[[str], None]) -> None:
        self.status: int | None = None
        self.turn: Turn | None = None
        self._timeout = timeout
        self._kill = kill
        self._say = say
        self._interrupts = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._polite: asyncio.Task[None] | None = None
        self._is_cancelled = asyncio.Event()

    def watch(self) -> None:
        """From now on, the current task is stopped by what this module is about."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        signal.signal(signal.SIGINT, self._interrupted)
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._ended)
        if self._timeout is not None:
            self._loop.call_later(self._timeout, self._late)

    def over(self) -> None:
        """The run is over, and ends by itself: a late signal must not spoil its status."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)

    def end(self) -> None:
        """Ends the run in an orderly way."""
        if self._task is not None:
            self._task.cancel()

    async def unless_cancelled(self, question: Coroutine[Any, Any, Any]) -> Any:
        """The answer to a question; None when the turn is cancelled meanwhile, or was."""
        asking = asyncio.ensure_future(question)
        cancelled = asyncio.ensure_future(self._is_cancelled.wait())
        try:
            await asyncio.wait([asking, cancelled], return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()
            cancelled.cancel()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        assert self._loop is not None
        if self._interrupts == 1:
            self.status = INTERRUPTED
            self._loop.call_soon_threadsafe(self._cancel, "cancelling; Ctrl-C again ends the agent at once")
        elif self._interrupts == 2:
            self._kill()
            self._loop.call_soon_threadsafe(self.end)
        else:
            os._exit(INTERRUPTED)

    def _ended(self, number: int, frame: FrameType | None) -> None:
        assert self._loop is not None
        if self.status == 128 + number:  # a second time: whoever sends it is in earnest
            self._kill()
            os._exit(self.status)
        self.status = 128 + number
        self._loop.call_soon_threadsafe(self.end)

    def _late(self) -> None:
        assert self._loop is not None
        self.status = TIMED_OUT
        self._cancel(f"no end within {self._timeout:g} s; cancelling")
        self._loop.call_later(min(self._timeout or 0.0, _GRACE), self._too_late)

    def _too_late(self) -> None:
        self._kill()
        self.end()

    def _cancel(self, words: str) -> None:
        assert self._loop is not None
        if self.turn is None or self.turn.ended:
            self.end()
            return
        if sys.stderr is not None and sys.stderr.isatty():
            self._say(words)
        self._is_cancelled.set()
        self._polite = self._loop.create_task(self.turn.cancel())
