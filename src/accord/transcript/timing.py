"""Timing of tool calls and turns, without the time in which the user was asked something."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from accord.model.tool import ToolCall


class Span(NamedTuple):
    """When a tool call started, and when it ended if it has. All times are those of `time.monotonic`."""

    started: float
    ended: float | None = None
    asked: float | None = None
    """Since when the user is being asked about it; the clock stands still meanwhile."""
    abandoned: float | None = None
    """When it was abandoned: nothing works on it any more, and the agent never said how it ended."""

    def seconds(self, now: float) -> float:
        """Return the duration so far, without the time in which the user was asked."""
        return next(each for each in (self.ended, self.abandoned, self.asked, now) if each is not None) - self.started


class Timing:
    """The spans of a session's tool calls by id, and when the session waited for its user."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self._questions = 0
        self._waits: list[tuple[float, float | None]] = []
        """From when to when at least one question was open; the last one may still be."""

    def record(self, call: ToolCall) -> None:
        """Note that a call started or ended."""
        now = time.monotonic()
        span = self.spans.get(call.id)
        if span is None:
            self.spans[call.id] = Span(now, now if call.is_final else None)
        elif call.is_final and span.ended is None:
            self.spans[call.id] = _without_wait(span)._replace(ended=now, abandoned=None)

    def abandon(self, id: str) -> None:
        """Stop the clock of a call that nothing works on any more, though the agent didn't end it."""
        if (span := self.spans.get(id)) is not None and span.ended is None:
            self.spans[id] = span._replace(abandoned=time.monotonic())

    def resume(self, id: str) -> None:
        """Restart the clock of a call that was abandoned and continues after all."""
        if (span := self.spans.get(id)) is not None and span.abandoned is not None:
            self.spans[id] = span._replace(abandoned=None)

    @contextmanager
    def pause(self, id: str = "") -> Iterator[str]:
        """Stop the clocks of a call and of its turn while the user is asked about it. Yields the call's id.

        Without an id, as when an agent asks for a file or a terminal, this is about the call that started last."""
        running = (each for each, span in reversed(self.spans.items()) if span.ended is None and span.abandoned is None)
        id = id or next(running, "")
        self._open_question(id)
        try:
            yield id
        finally:
            self._close_question(id)

    def waited_since(self, moment: float) -> float:
        """Return for how many seconds since `moment` a question to the user was open."""
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
