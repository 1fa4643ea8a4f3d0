"""Stop a run early: Ctrl-C, a signal, or a timeout.

    Ctrl-C          cancels the turn; outside a turn, ends the run
    Ctrl-C again    kills the agent with everything it started
    --timeout       cancels the turn, and kills the agent if it doesn't stop soon
    SIGTERM, SIGHUP ends the run and the agent in an orderly way

The handlers are plain signal handlers, not the event loop's: the loop may be blocked writing to a program that doesn't
read our output."""

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
"""After a timeout, the agent may take as long as the timeout was to stop, and at most this many seconds."""


class Interrupts:
    """Watches one run. `status` is the exit status if it was stopped."""

    def __init__(self, timeout: float | None, kill: Callable[[], None], say: Callable[[str], None]) -> None:
        self.status: int | None = None
        self.turn: Turn | None = None
        self._timeout = timeout
        self._kill = kill
        self._say = say
        self._interrupts = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelling: asyncio.Task[None] | None = None  # a reference, because the loop holds tasks only weakly
        self._is_cancelled = asyncio.Event()

    def watch(self) -> None:
        """Install the signal handlers and the timeout for the current task."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        signal.signal(signal.SIGINT, self._on_sigint)
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._on_terminate)
        if self._timeout is not None:
            self._loop.call_later(self._timeout, self._on_timeout)

    def over(self) -> None:
        """Ignore signals from now on: the run is over, and a late one must not change its exit status."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)

    def end(self) -> None:
        """Stop the turn or the run in an orderly way."""
        if self._task is not None:
            self._task.cancel()

    async def unless_cancelled(self, question: Coroutine[Any, Any, Any]) -> Any:
        """Return the answer to a question; None if the turn is cancelled first."""
        asking = asyncio.ensure_future(question)
        cancelled = asyncio.ensure_future(self._is_cancelled.wait())
        try:
            await asyncio.wait([asking, cancelled], return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()
            cancelled.cancel()

    def _on_sigint(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        assert self._loop is not None
        if self._interrupts == 1:
            self.status = INTERRUPTED
            self._loop.call_soon_threadsafe(self._cancel, "Cancelling… Press Ctrl-C again to kill the agent.")
        elif self._interrupts == 2:
            self._kill()
            self._loop.call_soon_threadsafe(self.end)
        else:
            os._exit(INTERRUPTED)

    def _on_terminate(self, number: int, frame: FrameType | None) -> None:
        assert self._loop is not None
        if self.status == 128 + number:  # a second time
            self._kill()
            os._exit(self.status)
        self.status = 128 + number
        self._loop.call_soon_threadsafe(self.end)

    def _on_timeout(self) -> None:
        assert self._loop is not None
        self.status = TIMED_OUT
        self._cancel(f"Timed out after {self._timeout:g} s; cancelling…")
        self._loop.call_later(min(self._timeout or 0.0, _GRACE), self._kill_late)

    def _kill_late(self) -> None:
        self._kill()
        self.end()

    def _cancel(self, message: str) -> None:
        assert self._loop is not None
        if self.turn is None or self.turn.ended:
            self.end()
            return
        if sys.stderr is not None and sys.stderr.isatty():
            self._say(message)
        self._is_cancelled.set()
        self._cancelling = self._loop.create_task(self.turn.cancel())
