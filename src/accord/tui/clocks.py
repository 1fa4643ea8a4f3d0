"""How long tool calls and turns take, less the time that the user was asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from accord.tui.conversation.block import Span

if TYPE_CHECKING:
    from accord.model.tool import ToolCall


class Clocks:
    """The spans of a talk's tool calls, from when they were first heard of to their end, by their ids; and when the
    user was thinking."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self._open = 0
        self._thinking: list[tuple[float, float | None]] = []
        """From when to when something was asked; the last may go on."""

    def heard(self, call: ToolCall) -> None:
        """A call began, went on or ended."""
        now = time.monotonic()
        span = self.spans.get(call.id)
        if span is None:
            self.spans[call.id] = Span(now, now if call.is_final else None)
        elif call.is_final and span.ended is None:
            self.spans[call.id] = _went_on(span)._replace(ended=now, left=None)

    def left(self, id: str) -> None:
        """Nothing is at a call any more, though its end was not told: the clock stands."""
        if (span := self.spans.get(id)) is not None and span.ended is None:
            self.spans[id] = span._replace(left=time.monotonic())

    def went_on(self, id: str) -> None:
        """A call that was left goes on after all."""
        if (span := self.spans.get(id)) is not None and span.left is not None:
            self.spans[id] = span._replace(left=None)

    @contextmanager
    def standing(self, id: str = "") -> Iterator[str]:
        """The user is asked about a call, which takes no time meanwhile, nor does the turn. Where it is not told which,
        as with a command or a file that an agent wants of us, the call that began last is meant. Gives its id."""
        going = (each for each, span in reversed(self.spans.items()) if span.ended is None and span.left is None)
        id = id or next(going, "")
        self._asked(id)
        try:
            yield id
        finally:
            self._answered(id)

    def thought_since(self, moment: float) -> float:
        """How many seconds the user was thinking, from a moment on."""
        now = time.monotonic()
        self._thinking = [(since, to) for since, to in self._thinking if to is None or to > moment]
        return sum((now if to is None else to) - max(since, moment) for since, to in self._thinking)

    def _asked(self, id: str) -> None:
        now = time.monotonic()
        if not self._open:
            self._thinking.append((now, None))
        self._open += 1
        if (span := self.spans.get(id)) is not None and span.asked is None:
            self.spans[id] = span._replace(asked=now)

    def _answered(self, id: str) -> None:
        self._open -= 1
        if not self._open:
            self._thinking[-1] = self._thinking[-1][0], time.monotonic()
        if (span := self.spans.get(id)) is not None:
            self.spans[id] = _went_on(span)


def _went_on(span: Span) -> Span:
    """The span without the time that the user was asked."""
    if span.asked is None:
        return span
    return span._replace(begun=span.begun + time.monotonic() - span.asked, asked=None)
