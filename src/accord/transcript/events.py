"""What changed in a session, as a user interface or a script wants to hear it.

A tool call, a plan, the usage, a notice, a compaction or a subagent that changed is its own event: the noun as it
stands now. The rest are the small classes below."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from accord.model.content import Content
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
    """The agent said some more."""

    text: str
    message_id: str | None = None
    replayed: bool = False


class Thought(msgspec.Struct, gc=False):
    """The agent thought some more."""

    text: str
    message_id: str | None = None
    replayed: bool = False


class UserText(msgspec.Struct, gc=False):
    """The user's words, as the agent repeats them."""

    text: str
    message_id: str | None = None
    replayed: bool = False


class Media(msgspec.Struct, gc=False):
    """A piece of a message that is not text."""

    content: Content
    role: Role = "agent"
    message_id: str | None = None
    replayed: bool = False


class MessageSet(msgspec.Struct, gc=False):
    """A whole message was set or replaced; it now reads like this."""

    role: Role
    message_id: str
    content: list[Content]
    replayed: bool = False

    @property
    def text(self) -> str:
        from accord.model.content import text_of

        return text_of(self.content)


class TerminalOutput(msgspec.Struct, gc=False):
    """A terminal printed some more. `data` is only what is new."""

    terminal_id: str
    data: bytes


class TerminalChanged(msgspec.Struct):
    """A terminal began, ended, or was set anew."""

    terminal: Terminal


class PlanRemoved(msgspec.Struct, gc=False):
    """A plan is gone."""

    id: str


class OptionsChanged(msgspec.Struct, gc=False):
    """The options, or their values, are now these."""

    options: list[Option]


class CommandsChanged(msgspec.Struct, gc=False):
    """The slash commands are now these."""

    commands: list[Command]


class InfoChanged(msgspec.Struct, gc=False):
    """The session's title or time changed."""

    title: str | None
    updated_at: str | None


class StateChanged(msgspec.Struct, gc=False):
    """The session is now in this state. A stop reason says why work ended."""

    state: State
    stop_reason: StopReason | None = None
    error: dict[str, Any] | None = None
    tokens: Tokens | None = None
    background: list[Background] | None = None


class SubagentMessage(msgspec.Struct, gc=False):
    """Sessions wrote to each other: a message between parent and child."""

    message_id: str
    content: list[Content]
    data: dict[str, Any]


class ConnectionChanged(msgspec.Struct, gc=False):
    """The agent is gone, is being started again, is back, or is given up. Told by the client, not by the agent."""

    state: Literal["lost", "restarting", "restored", "gone"]
    detail: str = ""
    attempt: int = 0


class Unknown(msgspec.Struct, gc=False):
    """An update of a kind that is not known here, kept whole."""

    kind: str
    data: dict[str, Any]


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
    ConnectionChanged,
    Unknown,
]
