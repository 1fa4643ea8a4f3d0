"""Permission requests for tool calls."""

from __future__ import annotations

from typing import Literal, Union

from accord.schema.common.ids import PermissionOptionId, SessionId
from accord.schema.common.permission import SelectedPermissionOutcome
from accord.schema.shape import Message, Word
from accord.schema.v1.tool_call import ToolCallPatch

# The schema has no other kinds, but an unknown one must not make the whole request unreadable.
PermissionOptionKind = Word[Literal["allow_once", "allow_always", "reject_once", "reject_always"]]


class PermissionOption(Message):
    """One of the possible answers."""

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind


class RequestPermissionRequest(Message):
    """Asks the user for permission to run a tool call, with the possible answers."""

    session_id: SessionId
    tool_call: ToolCallPatch
    options: list[PermissionOption]


class CancelledPermissionOutcome(Message, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled before the user answered."""


RequestPermissionOutcome = Union[CancelledPermissionOutcome, SelectedPermissionOutcome]


class RequestPermissionResponse(Message):
    """Reports the user's decision."""

    outcome: RequestPermissionOutcome
