"""What a session looks like now.

The folds read updates and say here, in verbs, what they mean; each verb does it and gives the event that tells others.
A verb costs the same however long the session is. An event is its reader's own, but for the lists inside a tool call,
a terminal, a compaction or a message between sessions: those are shared with the transcript and may still grow.
Whoever keeps a picture takes a `snapshot`."""

from __future__ import annotations

from accord.transcript.about import About
from accord.transcript.message import Message
from accord.transcript.messages import Messages
from accord.transcript.snapshot import Snapshot, TimelineItem, take
from accord.transcript.work import Work

__all__ = ["TimelineItem", "Transcript"]


class Transcript(Messages, Work, About):
    """One session as a person sees it, whichever version tells it."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """What the agent has said since the user last spoke, as it was streamed."""
        said: list[str] = []
        for item in reversed(self.timeline):
            if isinstance(item, Message):
                if item.role == "user":
                    break
                if item.role == "agent":
                    said.append(item.text)
        return "".join(reversed(said))

    def snapshot(self) -> Snapshot:
        """The picture as it stands now, independent of what comes after. Costs as much as the session is long."""
        return take(self)
