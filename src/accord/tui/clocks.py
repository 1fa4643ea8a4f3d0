"""How long tool calls take: from when they were first heard of to their end, less the time that the user was asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from accord.tui.conversation.block import Span

if TYPE_CHECKING:
    from accord.model.tool import ToolCall


class Clocks:
    """The spans of a talk's tool calls, by their ids."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}

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

    def asked(self, id: str) -> None:
        """The user is asked about a call, which takes no time meanwhile."""
        if (span := self.spans.get(id)) is not None:
            self.spans[id] = span._replace(asked=time.monotonic())

    def answered(self, id: str) -> None:
        """The user has answered."""
        if (span := self.spans.get(id)) is not None:
            self.spans[id] = _went_on(span)


def _went_on(span: Span) -> Span:
    """The span without the time that the user was asked."""
    if span.asked is None:
        return span
    return span._replace(begun=span.begun + time.monotonic() - span.asked, asked=None)
