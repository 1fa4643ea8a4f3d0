"""Events: changes of a session.

For a tool call, plan, usage, notice, compaction or subagent, the event is the object in its current state. The other
events are the classes below.

`meta` of an event is the `_meta` of the update; where the protocol merges metadata (tool calls, terminals, compactions,
subagents), the merged metadata so far."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from accord.model.account import AuthStatus
from accord.model.content import Content
from accord.model.record import Meta
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

Role = Literal["user", "agent", "thought"]


class Text(msgspec.Struct, gc=False):
    """A piece of the agent's text."""

    text: str
    message_id: str | None = None
    replayed: bool = False
    meta: Meta | None = None


class Thought(msgspec.Struct, gc=False):
    """A piece of the agent's thoughts."""

    text: str
    message_id: str | None = None
    replayed: bool = False
    meta: Meta | None = None


class UserText(msgspec.Struct, gc=False):
    """Text of the user, echoed by the agent."""

    text: str
    message_id: str | None = None
    replayed: bool = False
    meta: Meta | None = None


class Media(msgspec.Struct, gc=False):
    """Content of a message that isn't text."""

    content: Content
    role: Role = "agent"
    message_id: str | None = None
    replayed: bool = False
    meta: Meta | None = None


class MessageSet(msgspec.Struct, gc=False):
    """A whole message was set or replaced."""

    role: Role
    message_id: str
    content: list[Content]
    replayed: bool = False
    meta: Meta | None = None

    @property
    def text(self) -> str:
        from accord.model.content import text_of

        return text_of(self.content)


class TerminalOutput(msgspec.Struct, gc=False):
    """New output of a terminal."""

    terminal_id: str
    data: bytes
    meta: Meta | None = None


class TerminalChanged(msgspec.Struct):
    """A terminal started, exited, or was replaced."""

    terminal: Terminal

    @property
    def meta(self) -> Meta | None:
        return self.terminal.meta


class PlanRemoved(msgspec.Struct, gc=False):
    """A plan was removed."""

    id: str
    meta: Meta | None = None


class OptionsChanged(msgspec.Struct, gc=False):
    """The options or their values changed."""

    options: list[Option]
    meta: Meta | None = None


class CommandsChanged(msgspec.Struct, gc=False):
    """All slash commands."""

    commands: list[Command]
    meta: Meta | None = None


class InfoChanged(msgspec.Struct, gc=False):
    """The title or the time of the session changed."""

    title: str | None
    updated_at: str | None
    meta: Meta | None = None


class StateChanged(msgspec.Struct, gc=False):
    """The state of the session changed. `stop_reason` is the reason why work ended."""

    state: State
    stop_reason: StopReason | None = None
    error: dict[str, Any] | None = None
    tokens: Tokens | None = None
    background: list[Background] | None = None
    meta: Meta | None = None


class SubagentMessage(msgspec.Struct, gc=False):
    """A message between a session and its subagent."""

    message_id: str
    content: list[Content]
    data: dict[str, Any]

    @property
    def sender(self) -> str:
        """The session that sent it; empty if unknown."""
        return str(self.data.get("sender_session_id") or "")

    @property
    def recipient(self) -> str:
        """The session that it was sent to; empty if unknown."""
        return str(self.data.get("recipient_session_id") or "")

    @property
    def meta(self) -> Meta | None:
        return self.data.get("meta")


class PageDone(msgspec.Struct, gc=False):
    """The user is finished with a page that the agent asked to open, so the client can stop waiting for it."""

    id: str
    """The id of the `Elicitation`."""
    session_id: str | None = None
    """The session that the page was opened for; None during a login."""
    meta: Meta | None = None


class ConnectionChanged(msgspec.Struct, gc=False):
    """The connection to the agent was lost, is being restored, was restored, or is gone. Sent by the client."""

    state: Literal["lost", "restarting", "restored", "gone"]
    detail: str = ""
    attempt: int = 0
    meta: Meta | None = None


class Disconnected(msgspec.Struct, gc=False):
    """The network connection to a remote agent was lost and is being restored. The session and its turn continue. Sent
    by the client."""

    reason: str
    meta: Meta | None = None


class Resumed(msgspec.Struct, gc=False):
    """The network connection to a remote agent was restored. Events from the interruption follow. Sent by the
    client."""

    attempts: int
    seconds: float
    """How long the connection was down."""
    meta: Meta | None = None


class Unknown(msgspec.Struct, gc=False):
    """An update of an unknown kind, whole."""

    kind: str
    data: dict[str, Any]

    @property
    def meta(self) -> Meta | None:
        return self.data.get("_meta")


Event = Union[
    Text,
    Thought,
    UserText,
    Media,
    MessageSet,
    ToolCall,
    TerminalOutput,
    TerminalChanged,
    Plan,
    PlanRemoved,
    OptionsChanged,
    CommandsChanged,
    Usage,
    InfoChanged,
    Notice,
    Compaction,
    StateChanged,
    Subagent,
    SubagentMessage,
    PageDone,
    ConnectionChanged,
    Disconnected,
    Resumed,
    Unknown,
]
"""All events that a turn or `Session.events` yields."""


AgentEvent = Union[AuthStatus, PageDone, Disconnected, Resumed]
"""Events that don't belong to a session; see `ConnectedAgent.events`."""


_WITH_MERGED_META = frozenset({ToolCall, TerminalChanged, Compaction, Subagent, SubagentMessage, Unknown})


def with_meta(event: Event, update: Any) -> Event:
    """Add an update's metadata to its event, unless the event already has it merged."""
    if type(event) not in _WITH_MERGED_META and update.meta:
        target: Any = event  # every other event has a settable `meta`
        target.meta = update.meta
    return event
