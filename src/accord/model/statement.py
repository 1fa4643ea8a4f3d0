"""What an agent says about a session, one statement at a time.

A dialect turns each into an update of its version; a store keeps them, so that a session can be told again later, in
either version."""

from __future__ import annotations

from typing import Any, Literal, Union

from msgspec import UNSET, UnsetType

from accord.model.content import Content
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
from accord.model.tool import ExitStatus, Location, ToolContent, ToolKind, ToolStatus

Role = Literal["user", "agent", "thought"]


class Said(Noun, tag=True):
    """A piece of a message."""

    role: Role
    message_id: str
    content: Content
    meta: Meta | None = None


class WholeMessage(Noun, tag=True):
    """A whole message at once, in place of whatever was said under its id."""

    role: Role
    message_id: str
    content: list[Content]
    meta: Meta | None = None


class ToolPatch(Noun, tag=True):
    """What is new about a tool call. The first one announces it."""

    id: str
    first: bool = False
    title: str | UnsetType = UNSET
    kind: ToolKind | UnsetType = UNSET
    status: ToolStatus | UnsetType = UNSET
    name: str | UnsetType = UNSET
    content: list[ToolContent] | UnsetType = UNSET
    """All content so far."""
    added: ToolContent | UnsetType = UNSET
    """The one item that is new in `content`, where a version can say just that."""
    locations: list[Location] | UnsetType = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    can_cancel: bool | UnsetType = UNSET
    meta: Meta | None = None


class TerminalPatch(Noun, tag=True):
    """What is new about a terminal that the agent runs itself."""

    id: str
    command: str | UnsetType = UNSET
    cwd: str | UnsetType = UNSET
    output: bytes | UnsetType = UNSET
    """What it shows from now on, in place of all it showed before."""
    exit: ExitStatus | UnsetType = UNSET
    can_cancel: bool | UnsetType = UNSET


class TerminalData(Noun, tag=True):
    """What such a terminal printed."""

    id: str
    data: bytes


class PlanSet(Noun, tag=True):
    """The plan is now this."""

    plan: Plan
    meta: Meta | None = None


class PlanGone(Noun, tag=True):
    """A plan is no longer followed."""

    id: str


class CommandsAre(Noun, tag=True):
    """The slash commands are now these."""

    commands: list[Command]


class OptionsAre(Noun, tag=True):
    """The options and their values are now these."""

    options: list[Option]
    changed: str | None = None
    """The id of the one whose value changed."""


class InfoIs(Noun, tag=True):
    """The session's title or time changed; None clears it."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    meta: Meta | None = None


class UsageIs(Noun, tag=True):
    """How full the context is."""

    usage: Usage
    meta: Meta | None = None


class Noticed(Noun, tag=True):
    """Something a person should know."""

    notice: Notice
    meta: Meta | None = None


class Compacted(Noun, tag=True):
    """The context is being shortened, or has been."""

    compaction: Compaction
    meta: Meta | None = None


class CompactionText(Noun, tag=True):
    """A piece of the summary that takes the place of what was said."""

    id: str
    content: Content


class StateIs(Noun, tag=True):
    """The session works, waits or rests."""

    state: State
    stop_reason: StopReason | None = None
    error: dict[str, Any] | None = None
    tokens: Tokens | None = None
    background: list[Background] | None = None


class SubagentIs(Noun, tag=True):
    """A child session is now like this."""

    subagent: Subagent


class Raw(Noun, tag=True):
    """An update in the words of the wire, for what no statement covers. Sent only in the version it names."""

    version: int
    update: Any


class Noted(Noun, tag=True):
    """Something the agent remembers for itself: kept with the session in its place, never told to anyone."""

    kind: str
    data: Any


Statement = Union[
    Said,
    WholeMessage,
    ToolPatch,
    TerminalPatch,
    TerminalData,
    PlanSet,
    PlanGone,
    CommandsAre,
    OptionsAre,
    InfoIs,
    UsageIs,
    Noticed,
    Compacted,
    CompactionText,
    StateIs,
    SubagentIs,
    Raw,
    Noted,
]

TOLD_AGAIN = (
    Said,
    WholeMessage,
    ToolPatch,
    TerminalPatch,
    TerminalData,
    PlanSet,
    PlanGone,
    UsageIs,
    InfoIs,
    Compacted,
    CompactionText,
    SubagentIs,
)
"""What a replay repeats: everything but notices, states and what the answer itself carries."""
