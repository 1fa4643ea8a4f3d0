"""Whether a session is working, waiting for the user, or at rest, and what still runs behind it."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionId, TerminalId, ToolCallId
from accord.schema.common.update import Usage
from accord.schema.shape import UNSET, Message, Open, Opt, Word
from accord.schema.v2.envelope import Error

State = Word[Literal["running", "idle", "requires_action", "unknown"]]
StopReason = Word[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]]


class BackgroundTerminal(Message, tag_field="type", tag="terminal"):
    """A terminal whose command still runs."""

    terminal_id: TerminalId


class BackgroundToolCall(Message, tag_field="type", tag="tool_call"):
    """A tool call that still runs."""

    tool_call_id: ToolCallId


class BackgroundSubagent(Message, tag_field="type", tag="subagent"):
    """A subagent that still works."""

    session_id: SessionId


BackgroundWork = Open[BackgroundTerminal | BackgroundToolCall | BackgroundSubagent]


class StateSnapshot(Message):
    """Tells the state of a session as it is now; the same snapshot twice means nothing new.

    `stop_reason`, `error` and `usage` belong to the state `idle` and speak of the work that has just ended. A missing
    `background` says nothing; an empty one says that nothing runs. The fields of all states are here side by side,
    because the update of a session has its own tag already and an object has but one."""

    state: State
    stop_reason: Opt[StopReason] = UNSET
    error: Opt[Error] = UNSET
    usage: Opt[Usage] = UNSET
    background: Opt[list[BackgroundWork]] = UNSET


class StateUpdate(StateSnapshot, tag_field="sessionUpdate", tag="state_update"):
    """Tells the state of the session it is sent for."""
