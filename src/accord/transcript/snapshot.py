"""Snapshots: the state of a session at one moment."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Union

import msgspec

from accord.model.record import Meta, Record
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

TimelineItem = Union[Message, ToolCall, Subagent, Compaction, Notice]


class Snapshot(Record):
    """A deep copy of a transcript, with the same field names.

    It shares nothing mutable with the transcript. The pieces of its messages are joined into content blocks. Two
    snapshots are equal if their contents are."""

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
    """Copy a transcript. The cost is proportional to the length of the session."""
    timeline = [_item(item) for item in transcript.timeline]
    rest = {
        name: deep_copy(getattr(transcript, name))
        for name in Snapshot.__struct_fields__
        if name not in ("timeline", "tool_calls", "compactions", "subagents")
    }
    return Snapshot(
        timeline=timeline,
        tool_calls={item.id: item for item in timeline if isinstance(item, ToolCall)},
        compactions={item.id: item for item in timeline if isinstance(item, Compaction)},
        subagents={
            item.session_id: item
            for item in timeline
            if isinstance(item, Subagent) and item.session_id in transcript.subagents
        },
        **rest,
    )


def _item(item: TimelineItem) -> TimelineItem:
    if not isinstance(item, Message):
        twin: TimelineItem = deep_copy(item)
        return twin
    return Message(
        role=item.role,
        id=item.id,
        given_id=item.given_id,
        pieces=deep_copy(item.content),
        replayed=item.replayed,
        meta=deep_copy(item.meta),
    )


_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})


def deep_copy(value: Any) -> Any:
    """Copy model objects and plain data deeply. Shares other objects, and data that is nested too deeply."""
    try:
        return _copy(value)
    except RecursionError:
        return value


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        return [item if type(item) in _ATOMS else _copy(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in _ATOMS else _copy(item) for key, item in value.items()}
    if not issubclass(kind, msgspec.Struct):
        return value
    twin = copy(value)
    for name in kind.__struct_fields__:
        part = getattr(twin, name)
        if type(part) not in _ATOMS:
            setattr(twin, name, _copy(part))
    return twin
