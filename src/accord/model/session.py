"""What a session is besides its messages: plan, options, commands, usage, state, and how it is listed."""

from __future__ import annotations

from typing import Any, Literal, Union

from accord.model.content import Content
from accord.model.noun import Meta, Noun

StopReason = Union[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"], str]
State = Union[Literal["idle", "running", "requires_action", "unknown"], str]
Priority = Union[Literal["high", "medium", "low"], str]
EntryStatus = Union[Literal["pending", "in_progress", "completed", "cancelled"], str]


class PlanEntry(Noun):
    """One step of a plan."""

    content: str
    priority: Priority = "medium"
    status: EntryStatus = "pending"


class Plan(Noun):
    """What the agent intends: steps, or a text, or a file that holds it."""

    id: str = "main"
    entries: list[PlanEntry] = []
    markdown: str | None = None
    uri: str | None = None
    other: dict[str, Any] | None = None
    """A plan of a kind that is not known here, kept whole."""


class Choice(Noun):
    """One value an option may take."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None
    group_name: str | None = None


class Option(Noun):
    """Something the user may set: a mode, a model, an effort. One shape for config options, modes and legacy models."""

    id: str
    name: str
    value: str | bool
    choices: list[Choice] = []
    description: str | None = None
    category: str | None = None
    legacy: Literal["", "modes", "models"] = ""
    """Which older part of v1 it came from, when it is no config option."""

    @property
    def is_boolean(self) -> bool:
        return isinstance(self.value, bool)


class Mode(Noun):
    """A way the agent works: asking, planning, coding."""

    id: str
    name: str
    description: str | None = None


class Command(Noun):
    """A slash command that the agent understands. `hint` says what may follow its name."""

    name: str
    description: str
    hint: str | None = None


class Cost(Noun):
    """Money, or another unit such as credits."""

    amount: float
    currency: str


class Usage(Noun):
    """How full the context is, and what the session has cost so far."""

    used: int
    size: int
    cost: Cost | None = None


class Tokens(Noun):
    """The tokens of a piece of work, as its agent counts them."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None


class Notice(Noun):
    """Something the agent wants a person to know. It changes nothing."""

    severity: Union[Literal["info", "warning", "error"], str]
    title: str
    description: str | None = None


class Compaction(Noun):
    """The agent shortened its context."""

    id: str
    status: Union[Literal["in_progress", "completed", "failed", "cancelled"], str] = "in_progress"
    summary: list[Content] = []
    error: str | None = None
    meta: Meta | None = None


class Background(Noun):
    """Work that goes on outside the turn: a terminal, a tool call, a subagent."""

    kind: str
    id: str


class Subagent(Noun):
    """A child session that the agent runs."""

    session_id: str
    title: str | None = None
    description: str | None = None
    cwd: str | None = None
    additional_directories: list[str] | None = None
    state: State | None = None
    stop_reason: StopReason | None = None
    can_cancel: bool = False
    tool_call_id: str | None = None
    meta: Meta | None = None


class SessionInfo(Noun):
    """A session as a list shows it."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: list[str] = []
    archived: bool | None = None
    meta: Meta | None = None
