"""A picture of a session at one moment, independent of what comes after."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Union

import msgspec

from accord.model.noun import Meta, Noun
from accord.model.session import (
    Background,
    Command,
    Compaction,
    Notice,
    Option,
    Plan,
    State,
    StopReason,
    Subagent,
    Tokens,
    Usage,
)
from accord.model.tool import Terminal, ToolCall
from accord.transcript.events import SubagentMessage, Unknown
from accord.transcript.message import Message

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

TimelineItem = Union[Message, ToolCall, Compaction, Notice]


class Snapshot(Noun):
    """What a transcript held when it was taken, under the same names.

    It shares nothing with the transcript that anyone changes. Its messages are put together: their pieces are blocks
    of content. Two snapshots are equal when they show the same."""

    session_id: str
    timeline: list[TimelineItem]
    tool_calls: dict[str, ToolCall]
    terminals: dict[str, Terminal]
    plans: dict[str, Plan]
    options: list[Option]
    commands: list[Command]
    usage: Usage | None
    title: str | None
    updated_at: str | None
    state: State
    stop_reason: StopReason | None
    error: dict[str, Any] | None
    tokens: Tokens | None
    background: list[Background] | None
    subagents: dict[str, Subagent]
    session_messages: dict[str, SubagentMessage]
    compactions: dict[str, Compaction]
    unknown: list[Unknown]
    meta: Meta | None

    @property
    def messages(self) -> list[Message]:
        """The messages, in the order of the timeline."""
        return [item for item in self.timeline if isinstance(item, Message)]


def take(transcript: Transcript) -> Snapshot:
    """A picture of the transcript as it stands now. Costs as much as the session is long."""
    timeline = [_item(item) for item in transcript.timeline]
    rest = {
        name: independent(getattr(transcript, name))
        for name in Snapshot.__struct_fields__
        if name not in ("timeline", "tool_calls", "compactions")
    }
    return Snapshot(
        timeline=timeline,
        tool_calls={item.id: item for item in timeline if isinstance(item, ToolCall)},
        compactions={item.id: item for item in timeline if isinstance(item, Compaction)},
        **rest,
    )


def _item(item: TimelineItem) -> TimelineItem:
    if not isinstance(item, Message):
        twin: TimelineItem = independent(item)
        return twin
    return Message(
        role=item.role,
        id=item.id,
        given_id=item.given_id,
        pieces=independent(item.content),
        replayed=item.replayed,
        meta=independent(item.meta),
    )


_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})


def independent(value: Any) -> Any:
    """A deep copy of nouns and plain data. What is neither, or nested beyond reason, is shared."""
    try:
        return _copied(value)
    except RecursionError:
        return value


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        return [item if type(item) in _ATOMS else _copied(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in _ATOMS else _copied(item) for key, item in value.items()}
    if not issubclass(kind, msgspec.Struct):
        return value
    twin = copy(value)
    for name in kind.__struct_fields__:
        part = getattr(twin, name)
        if type(part) not in _ATOMS:
            setattr(twin, name, _copied(part))
    return twin
