"""Statements: the messages that an agent sends about a session, independent of the version.

A dialect turns each into updates of its version. A store saves them, so that a session can be replayed in either
version. The tags are part of the format of stored sessions, so a renamed class keeps its tag."""

from __future__ import annotations

from typing import Any, Literal, Union

from msgspec import UNSET, UnsetType

from accord.model.content import Content
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
from accord.model.tool import ExitStatus, Location, ToolContent, ToolKind, ToolStatus

Role = Literal["user", "agent", "thought"]


class MessageChunk(Record, tag="Said"):
    """A chunk of a message."""

    role: Role
    message_id: str
    content: Content
    meta: Meta | None = None


class WholeMessage(Record, tag=True):
    """A whole message, which replaces earlier content of the same id."""

    role: Role
    message_id: str
    content: list[Content] | UnsetType | None = UNSET
    """None clears it; `UNSET` changes only the metadata."""
    meta: Meta | None = None


class ToolPatch(Record, tag=True):
    """A change of a tool call. The first one announces it. None clears a field."""

    id: str
    first: bool = False
    title: str | UnsetType | None = UNSET
    kind: ToolKind | UnsetType | None = UNSET
    status: ToolStatus | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    content: list[ToolContent] | UnsetType | None = UNSET
    """All content so far."""
    added: ToolContent | UnsetType = UNSET
    """The new item in `content`, for versions that can send it alone."""
    locations: list[Location] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    can_cancel: bool | UnsetType = UNSET
    meta: Meta | None = None


class TerminalPatch(Record, tag=True):
    """A change of a terminal that the agent runs itself. None clears a field."""

    id: str
    command: str | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    output: bytes | UnsetType | None = UNSET
    """Replaces all output so far."""
    exit: ExitStatus | UnsetType = UNSET
    columns: int | UnsetType | None = UNSET
    rows: int | UnsetType | None = UNSET
    can_cancel: bool | UnsetType = UNSET
    meta: Meta | None = None


class TerminalData(Record, tag=True):
    """Output of such a terminal."""

    id: str
    data: bytes
    meta: Meta | None = None


class SetPlan(Record, tag="PlanSet"):
    """A plan was set or replaced."""

    plan: Plan
    meta: Meta | None = None


class RemovePlan(Record, tag="PlanGone"):
    """A plan was removed."""

    id: str
    meta: Meta | None = None


class SetCommands(Record, tag="CommandsAre"):
    """All slash commands."""

    commands: list[Command]
    meta: Meta | None = None


class SetOptions(Record, tag="OptionsAre"):
    """All options with their values."""

    options: list[Option]
    changed: str | None = None
    """The id of the option whose value changed."""
    meta: Meta | None = None


class SetInfo(Record, tag="InfoIs"):
    """The session's title or time changed; None clears it."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    meta: Meta | None = None


class SetUsage(Record, tag="UsageIs"):
    """The size of the context changed."""

    usage: Usage
    meta: Meta | None = None


class AddNotice(Record, tag="Noticed"):
    """A notice for the user."""

    notice: Notice
    meta: Meta | None = None


class SetCompaction(Record, tag="Compacted"):
    """A compaction started or changed."""

    compaction: Compaction
    meta: Meta | None = None


class CompactionText(Record, tag=True):
    """A chunk of the summary that replaces compacted messages."""

    id: str
    content: Content
    meta: Meta | None = None


class SetState(Record, tag="StateIs"):
    """The session is running, waiting for the user, or idle."""

    state: State
    stop_reason: StopReason | None = None
    error: dict[str, Any] | None = None
    tokens: Tokens | None = None
    background: list[Background] | None = None
    meta: Meta | None = None


class SetSubagent(Record, tag="SubagentIs"):
    """The state of a subagent."""

    subagent: Subagent


class SessionMessage(Record, tag=True):
    """A message between a session and a subagent's. None clears a field."""

    id: str
    sender: str | UnsetType | None = UNSET
    recipient: str | UnsetType | None = UNSET
    sender_message_id: str | UnsetType | None = UNSET
    recipient_message_id: str | UnsetType | None = UNSET
    content: list[Content] | UnsetType | None = UNSET
    meta: Meta | None = None


class SessionMessageText(Record, tag=True):
    """A chunk of such a message."""

    id: str
    content: Content
    meta: Meta | None = None


class Raw(Record, tag=True):
    """An update in wire format, for features without a statement. Sent only in its version."""

    version: int
    update: Any


class PrivateData(Record, tag="Noted"):
    """Data of the agent, saved with the session in order and never sent."""

    kind: str
    data: Any


Statement = Union[
    MessageChunk,
    WholeMessage,
    ToolPatch,
    TerminalPatch,
    TerminalData,
    SetPlan,
    RemovePlan,
    SetCommands,
    SetOptions,
    SetInfo,
    SetUsage,
    AddNotice,
    SetCompaction,
    CompactionText,
    SetState,
    SetSubagent,
    SessionMessage,
    SessionMessageText,
    Raw,
    PrivateData,
]


def meta_of(statement: Statement) -> Meta | None:
    """Return the metadata of a statement; None for kinds without metadata."""
    if isinstance(statement, SetSubagent):
        return statement.subagent.meta
    return None if isinstance(statement, (Raw, PrivateData)) else statement.meta


REPLAYED = (
    MessageChunk,
    WholeMessage,
    ToolPatch,
    TerminalPatch,
    TerminalData,
    SetPlan,
    RemovePlan,
    SetUsage,
    SetInfo,
    SetCompaction,
    CompactionText,
    SetSubagent,
    SessionMessage,
    SessionMessageText,
)
"""The statements that a replay repeats. Notices, states, and statements that the response contains aren't repeated."""
