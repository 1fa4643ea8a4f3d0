"""Tool calls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from accord.schema.common.content import Terminal
from accord.schema.common.ids import SessionId, ToolCallId
from accord.schema.shape import UNSET, Filtered, Message, Open, Opt, Patch, Word
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.diff import Diff
from accord.schema.v2.values import AbsolutePath

ToolKind = Word[
    Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
]
ToolCallStatus = Word[Literal["pending", "in_progress", "paused", "completed", "failed", "cancelled"]]


class ToolCallLocation(Message):
    """A location in a file that the tool works on; lines start at 1."""

    path: AbsolutePath
    line: Opt[Annotated[int, msgspec.Meta(ge=1, le=0xFFFF_FFFF)]] = UNSET


class ToolCallCancelCapabilities(Message):
    """Declares that this tool call can be cancelled on its own."""


class ToolCallCapabilities(Message):
    """Lists the capabilities of a tool call for the client."""

    cancel: Opt[ToolCallCancelCapabilities] = UNSET


class Content(Message, tag_field="type", tag="content"):
    """A content block produced by a tool."""

    content: ContentBlock


ToolCallContent = Open[Content | Diff | Terminal]


class ToolCallPatch(Message):
    """Changes some fields of a tool call; a new id starts a new call."""

    tool_call_id: ToolCallId
    name: Patch[str] = UNSET
    title: Patch[str] = UNSET
    kind: Patch[ToolKind] = UNSET
    status: Patch[ToolCallStatus] = UNSET
    content: Patch[Filtered[ToolCallContent]] = UNSET
    locations: Patch[Filtered[ToolCallLocation]] = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    capabilities: Patch[ToolCallCapabilities] = UNSET


class ToolCallUpdate(ToolCallPatch, tag_field="sessionUpdate", tag="tool_call_update"):
    """A change of a tool call, as an update of the session."""


class ToolCallContentChunk(Message, tag_field="sessionUpdate", tag="tool_call_content_chunk"):
    """Appends an item to the content of a tool call."""

    tool_call_id: ToolCallId
    content: ToolCallContent


class CancelToolCallRequest(Message):
    """Asks the agent to stop a tool call, whose next update reports the end."""

    session_id: SessionId
    tool_call_id: ToolCallId


class CancelToolCallResponse(Message):
    """The agent is stopping the tool call."""
