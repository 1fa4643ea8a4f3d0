"""Counts what was received and not yet delivered, and pauses reading when it is too much.

Reading goes on all the same while one of our own calls awaits its answer: the answer may lie behind the backlog, and
whoever should consume it may be the one who waits. That has a hard limit too; past it those calls fail."""

from __future__ import annotations

from collections.abc import Callable

from accord.connection.limits import Limits


class Backlog:
    """The undelivered bytes of one connection."""

    def __init__(
        self, limits: Limits, pause: Callable[[], None], resume: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        self._limits = limits
        self._most = limits.max_pending_bytes
        self._pause = pause
        self._resume = resume
        self._give_up = give_up
        self._calls = 0
        self.bytes = 0
        self.paused = False

    def add(self, size: int) -> None:
        """So many bytes were received and wait to be delivered."""
        self.bytes += size
        if self.bytes > self._most:
            self._consider()

    def remove(self, size: int) -> None:
        """So many bytes were delivered."""
        self.bytes -= size
        if self.paused:
            self.consider_resuming()

    def consider_resuming(self) -> None:
        """Reads again once half of what may wait has been delivered."""
        if self.bytes <= self._limits.max_pending_bytes // 2:
            self.paused = False
            self._resume()

    def call_opened(self) -> None:
        """One of our calls awaits an answer that must get through."""
        self._calls += 1
        if self.paused and self.bytes <= self._limits.max_waiting_bytes:
            self.paused = False
            self._resume()

    def call_closed(self) -> None:
        self._calls -= 1
        if not self._calls and self.bytes > self._limits.max_pending_bytes:
            self._consider()

    def _consider(self) -> None:
        if self._calls:
            if self.bytes <= self._limits.max_waiting_bytes:
                return
            self._give_up()
        if not self.paused:
            self.paused = True
            self._pause()
