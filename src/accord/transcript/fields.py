"""What a transcript holds. The verbs that change it are in the modules beside this one, by subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from msgspec import UnsetType

from accord.model.noun import Meta
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
from accord.transcript.events import Role, SubagentMessage, Unknown
from accord.transcript.message import Message
from accord.transcript.snapshot import TimelineItem

MetaPatch = Union[Meta, None, UnsetType]
"""A change of metadata by key: `UNSET` keeps all, None clears all, a key with None goes, another key is replaced."""


class Fields:
    """The fields of a transcript. Anyone may read them; they change by the verbs alone, but for `replaying`."""

    __slots__ = (
        "_latest",
        "additional_directories",
        "background",
        "commands",
        "compactions",
        "cwd",
        "error",
        "messages",
        "meta",
        "notices",
        "options",
        "plans",
        "replaying",
        "session_id",
        "session_messages",
        "state",
        "stop_reason",
        "subagents",
        "subagents_after",
        "terminals",
        "timeline",
        "title",
        "tokens",
        "tool_calls",
        "unknown",
        "updated_at",
        "usage",
    )

    def __init__(
        self, session_id: str = "", *, cwd: str | None = None, additional_directories: Sequence[str] = ()
    ) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self.additional_directories = list(additional_directories)
        self.replaying = False
        """True while the history of a session is told again: what first comes then is marked as replayed."""
        self.clear()

    def clear(self) -> None:
        """Forgets everything that was told. For a session whose whole history is about to be told again."""
        self.timeline: list[TimelineItem] = []
        """Messages, tool calls, compactions and notices, in the order in which they were first heard of."""
        self.messages: dict[tuple[Role, str], Message] = {}
        """By role and id: a message and a thought may have the same id."""
        self.tool_calls: dict[str, ToolCall] = {}
        self.terminals: dict[str, Terminal] = {}
        self.plans: dict[str, Plan] = {}
        self.options: list[Option] = []
        self.commands: list[Command] = []
        self.usage: Usage | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.state: State = "unknown"
        self.stop_reason: StopReason | None = None
        """Why the last work ended; None while it goes on, or when the agent did not say."""
        self.error: dict[str, Any] | None = None
        """What went wrong, when the last work ended with an error."""
        self.tokens: Tokens | None = None
        """What the last work took, when the agent counted it."""
        self.background: list[Background] | None = None
        """The work outside the turn, as last reported; None when it never was."""
        self.subagents: dict[str, Subagent] = {}
        self.subagents_after: dict[str, TimelineItem | None] = {}
        """The last item of the timeline when a subagent was first heard of; None where there was none."""
        self.session_messages: dict[str, SubagentMessage] = {}
        """What this session and its subagents wrote to each other."""
        self.notices: list[Notice] = []
        self.compactions: dict[str, Compaction] = {}
        self.unknown: list[Unknown] = []
        """Updates of kinds that are not known here, kept whole."""
        self.meta: Meta | None = None
        self._latest: Message | None = None  # what a chunk without a name continues; also spares a look-up


def patched_meta(meta: Meta | None, patch: MetaPatch) -> Meta | None:
    """Metadata after a change by key. A new object: events that hold the old one keep it."""
    if isinstance(patch, UnsetType):
        return meta
    if patch is None:
        return None
    return {key: value for key, value in {**(meta or {}), **patch}.items() if value is not None}


def patch(noun: Any, changes: dict[str, Any], meta_patch: MetaPatch) -> None:
    """Sets fields of a noun by name."""
    for name, value in changes.items():
        setattr(noun, name, value)
    if not isinstance(meta_patch, UnsetType):
        noun.meta = patched_meta(noun.meta, meta_patch)
