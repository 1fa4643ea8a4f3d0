"""Permission requests of the agent."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from accord.schema.common.ids import PermissionOptionId, SessionId, TerminalId, ToolCallId
from accord.schema.common.permission import SelectedPermissionOutcome
from accord.schema.shape import UNSET, Former, Message, Open, Opt, Strict, Word
from accord.schema.v2.tool_call import ToolCallPatch
from accord.schema.v2.values import AbsolutePath

PermissionOptionKind = Word[Literal["allow_once", "allow_always", "reject_once", "reject_always"]]


class PermissionOption(Message):
    """One of the possible answers."""

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind


class ToolCallPermissionSubject(Message, tag_field="type", tag="tool_call"):
    """The tool call that the request is about, with changes to its fields."""

    tool_call: ToolCallPatch


class CommandPermissionSubject(Message, tag_field="type", tag="command"):
    """The command that the request is about."""

    command: str
    cwd: AbsolutePath
    tool_call_id: Opt[ToolCallId] = UNSET
    terminal_id: Opt[TerminalId] = UNSET


RequestPermissionSubject = Open[ToolCallPermissionSubject | CommandPermissionSubject]


class RequestPermissionRequest(Message):
    """Asks the user to choose one of the options before the agent continues."""

    session_id: SessionId
    title: str
    description: Opt[str] = UNSET
    subject: Strict[Opt[RequestPermissionSubject]] = UNSET
    options: Annotated[list[PermissionOption], msgspec.Meta(min_length=1)]
    # An older draft had the tool call here; it becomes the subject as soon as it is read.
    tool_call: Former[ToolCallPatch] = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.tool_call, ToolCallPatch):
            if not self.subject:
                self.subject = ToolCallPermissionSubject(tool_call=self.tool_call)
            self.tool_call = UNSET


class CancelledPermissionOutcome(Message, tag_field="outcome", tag="cancelled"):
    """No option was chosen: the turn was cancelled, or the request dismissed. Never an approval."""


RequestPermissionOutcome = Open[SelectedPermissionOutcome | CancelledPermissionOutcome]


class RequestPermissionResponse(Message):
    """Reports the outcome of the request."""

    outcome: RequestPermissionOutcome
