"""Timing of tool calls and turns, excluding the time spent waiting for the user."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from accord.model.tool import ToolCall


class Span(NamedTuple):
    """The start of a tool call, and its end if it has ended. All times are those of `time.monotonic`."""

    started: float
    ended: float | None = None
    asked: float | None = None
    """When the user was asked about it, if the question is still open; the clock is paused meanwhile."""
    abandoned: float | None = None
    """When it was abandoned: nothing works on it any more, and the agent never reported its end."""

    def seconds(self, now: float) -> float:
        """Return the duration so far, excluding the time spent waiting for the user."""
        return next(each for each in (self.ended, self.abandoned, self.asked, now) if each is not None) - self.started


class Timing:
    """The spans of a session's tool calls by id, and the times when the session waited for its user."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self._questions = 0
        self._waits: list[tuple[float, float | None]] = []
        """The periods when at least one question was open; the last one may still be running."""

    def record(self, call: ToolCall) -> None:
        """Record that a call started or ended."""
        now = time.monotonic()
        span = self.spans.get(call.id)
        if span is None:
            self.spans[call.id] = Span(now, now if call.is_final else None)
        elif call.is_final and span.ended is None:
            self.spans[call.id] = _without_wait(span)._replace(ended=now, abandoned=None)

    def abandon(self, id: str) -> None:
        """Stop the clock of a call that nothing works on any more, although the agent didn't end it."""
        if (span := self.spans.get(id)) is not None and span.ended is None:
            self.spans[id] = span._replace(abandoned=time.monotonic())

    def resume(self, id: str) -> None:
        """Restart the clock of an abandoned call that continues after all."""
        if (span := self.spans.get(id)) is not None and span.abandoned is not None:
            self.spans[id] = span._replace(abandoned=None)

    @contextmanager
    def pause(self, id: str = "") -> Iterator[str]:
        """Stop the clocks of a call and of its turn while the user is asked about it. Yields the call's id.

        Without an id, as for an agent's file and terminal requests, this applies to the call that started last."""
        running = (each for each, span in reversed(self.spans.items()) if span.ended is None and span.abandoned is None)
        id = id or next(running, "")
        self._open_question(id)
        try:
            yield id
        finally:
            self._close_question(id)

    def waited_since(self, moment: float) -> float:
        """Return the number of seconds since `moment` in which a question to the user was open."""
        now = time.monotonic()
        self._waits = [(start, end) for start, end in self._waits if end is None or end > moment]
        return sum((now if end is None else end) - max(start, moment) for start, end in self._waits)

    def _open_question(self, id: str) -> None:
        now = time.monotonic()
        if not self._questions:
            self._waits.append((now, None))
        self._questions += 1
        if (span := self.spans.get(id)) is not None and span.asked is None:
            self.spans[id] = span._replace(asked=now)

    def _close_question(self, id: str) -> None:
        self._questions -= 1
        if not self._questions:
            self._waits[-1] = self._waits[-1][0], time.monotonic()
        if (span := self.spans.get(id)) is not None:
            self.spans[id] = _without_wait(span)


def _without_wait(span: Span) -> Span:
    """Move the start so that the time since `asked` doesn't count."""
    if span.asked is None:
        return span
    return span._replace(started=span.started + time.monotonic() - span.asked, asked=None)
