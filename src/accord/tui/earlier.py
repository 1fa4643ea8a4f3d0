"""What is kept of a talk that another one goes on from: what was said, and what its commands printed.

The agent, its connection and all that belonged to them can go."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accord.model.tool import ToolCall
from accord.tui.conversation.block import Printed

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.talk import Talk

MOST_KEPT = 16_000_000
"""Characters of what commands printed that are kept, the newest first."""


class Output(NamedTuple):
    """What a command printed, and the last of it, as much as may be drawn."""

    whole: Printed
    end: Printed


class Earlier(NamedTuple):
    """A talk that is over."""

    id: str | None
    transcript: Transcript | None
    printed: dict[str, Output]

    def terminal(self, id: str) -> Printed | None:
        """What a command printed."""
        return self.printed[id].whole if id in self.printed else None

    def terminal_end(self, id: str) -> Printed | None:
        """The last of what a command printed."""
        return self.printed[id].end if id in self.printed else None


def kept_of(talk: Talk) -> Earlier | None:
    """What is to be kept of a talk, also of those that it went on from."""
    if talk.session is None:
        return talk.before
    printed: dict[str, Output] = {}
    room = MOST_KEPT
    for item in reversed(talk.session.transcript.timeline):
        for id in terminals_of(item) if isinstance(item, ToolCall) else ():
            whole, end = talk.terminal(id), talk.terminal_end(id)
            if whole is not None and end is not None and len(whole.text) <= room:
                room -= len(whole.text)
                printed[id] = Output(whole._replace(goes_on=False), end._replace(goes_on=False))
    return Earlier(talk.session.id, talk.session.transcript, printed)


def terminals_of(call: ToolCall) -> set[str]:
    """The terminals that a tool call shows."""
    return {each.terminal_id for each in call.content if hasattr(each, "terminal_id")}
