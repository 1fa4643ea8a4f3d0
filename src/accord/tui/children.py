"""Where subagents stand in a conversation: a line for each, below what was last said when it was first told of.

The protocol tells of a subagent among the other updates, and names no message or tool call that began it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.conversation.subagent import Delegated

if TYPE_CHECKING:
    from accord.model.session import Subagent
    from accord.transcript.transcript import TimelineItem, Transcript


def add_line(transcript: Transcript, child: Subagent) -> None:
    """A line for a subagent that is told of now; one that has its line keeps it."""
    if not _has_line(transcript, child):
        transcript.add_notice(_line_of(child))


def add_lines(transcript: Transcript) -> None:
    """Lines for the subagents that a history tells of, each at its place."""
    for item in transcript.timeline:  # one that an earlier session told of goes on where it stands
        kept = transcript.subagents.get(item.child.session_id) if isinstance(item, Delegated) else None
        if isinstance(item, Delegated) and kept is not None and kept is not item.child:
            item.child = kept
            transcript.notices.append(item)
    new = [_line_of(child) for child in transcript.subagents.values() if not _has_line(transcript, child)]
    below: dict[int, list[TimelineItem]] = {}
    for line in new:
        below.setdefault(id(transcript.subagents_after.get(line.child.session_id)), []).append(line)
    placed = below.pop(id(None), [])
    for item in transcript.timeline:
        placed += [item, *below.pop(id(item), ())]
    for rest in below.values():
        placed += rest
    if new:
        transcript.timeline[:] = placed
        transcript.notices += new


def _has_line(transcript: Transcript, child: Subagent) -> bool:
    return any(isinstance(each, Delegated) and each.child is child for each in transcript.notices)


def _line_of(child: Subagent) -> Delegated:
    return Delegated(severity="info", title=child.title or "A subagent", child=child)
