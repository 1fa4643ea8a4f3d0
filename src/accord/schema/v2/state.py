"""The state of a session: running, waiting for the user, or idle, and its background work."""

from __future__ import annotations

from typing import Any, Literal

from accord.schema.common.ids import SessionId, TerminalId, ToolCallId
from accord.schema.common.update import Usage
from accord.schema.repair import older
from accord.schema.shape import UNSET, Message, Open, Opt, Word
from accord.schema.v2.envelope import Error

State = Word[Literal["running", "idle", "requires_action", "unknown"]]
StopReason = Word[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]]
WITHOUT_RESULT = ("running", "requires_action", "unknown")  # only an idle session has a result to report


class BackgroundTerminal(Message, tag_field="type", tag="terminal"):
    """A terminal whose command is still running."""

    terminal_id: TerminalId


class BackgroundToolCall(Message, tag_field="type", tag="tool_call"):
    """A tool call that is still running."""

    tool_call_id: ToolCallId


class BackgroundSubagent(Message, tag_field="type", tag="subagent"):
    """A subagent that is still working."""

    session_id: SessionId


BackgroundWork = Open[BackgroundTerminal | BackgroundToolCall | BackgroundSubagent]


class RunningStateUpdate(Message, tag_field="state", tag="running"):
    """Foreground work is in progress."""

    background: Opt[list[BackgroundWork]] = UNSET


class ErrorStopReason(Message):
    """Details of the error that ended the work, for the stop reason `error` of an idle state."""

    error: Opt[Error] = UNSET


class IdleStateUpdate(ErrorStopReason, tag_field="state", tag="idle"):
    """No foreground work is active. `stop_reason`, `error` and `usage` describe the work that has just ended."""

    stop_reason: Opt[StopReason] = UNSET
    usage: Opt[Usage] = UNSET
    background: Opt[list[BackgroundWork]] = UNSET


class RequiresActionStateUpdate(Message, tag_field="state", tag="requires_action"):
    """Foreground work is blocked until the user acts."""

    background: Opt[list[BackgroundWork]] = UNSET


class UnknownStateUpdate(Message, tag_field="state", tag="unknown"):
    """The agent can't tell whether foreground work is in progress."""

    background: Opt[list[BackgroundWork]] = UNSET


StateSnapshot = Open[RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate]
"""The state of a session as the value of a field: one class per state. The published name is `StateUpdate`."""


class StateUpdate(Message, tag_field="sessionUpdate", tag="state_update"):
    """Reports the state of a session; repeating it changes nothing.

    One class for all states: as an update it is tagged by `sessionUpdate`, and a struct can have only one tag. A
    missing `background` means that the background work is unknown; an empty one means that there is none."""

    state: State
    stop_reason: Opt[StopReason] = UNSET
    error: Opt[Error] = UNSET
    usage: Opt[Usage] = UNSET
    background: Opt[list[BackgroundWork]] = UNSET

    def __post_init__(self) -> None:
        if self.state in WITHOUT_RESULT:
            for name in ("stop_reason", "error", "usage"):
                if getattr(self, name) is not UNSET:
                    raise ValueError(f"{name} belongs to the state 'idle', not to {self.state!r}")


@older(StateUpdate)
def _without_result(value: dict[str, Any]) -> dict[str, Any]:
    """Drop the keys of the state `idle` from other states, like unknown keys."""
    if value.get("state") not in WITHOUT_RESULT:
        return value
    return {key: item for key, item in value.items() if key not in ("stopReason", "error", "usage")}
