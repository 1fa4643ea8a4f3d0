"""Tool calls, as they are shown to the user."""

from __future__ import annotations

from typing import Any, Literal, Union

from accord.schema.common.content import Terminal
from accord.schema.common.ids import ToolCallId
from accord.schema.common.numbers import Uint32
from accord.schema.shape import UNSET, Filtered, Message, Opt, Patch
from accord.schema.v1.content import ContentBlock

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolCallStatus = Literal["pending", "in_progress", "completed", "failed"]


class Content(Message, tag_field="type", tag="content"):
    """A content block produced by a tool call."""

    content: ContentBlock


class Diff(Message, tag_field="type", tag="diff"):
    """A change to one file: its old and new text. A new file has no old text."""

    path: str
    old_text: Opt[str] = UNSET
    new_text: str


ToolCallContent = Union[Content, Diff, Terminal]


class ToolCallLocation(Message):
    """A location in a file that a tool call works on."""

    path: str
    line: Opt[Uint32] = UNSET
    """The line number, starting at 1. The schema also allows 0, which means no line."""


class ToolCall(Message, tag_field="sessionUpdate", tag="tool_call"):
    """Announces a tool call."""

    tool_call_id: ToolCallId
    title: str
    name: Opt[str] = UNSET
    kind: ToolKind = "other"
    status: ToolCallStatus = "pending"
    content: Filtered[ToolCallContent] = []
    locations: Filtered[ToolCallLocation] = []
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCallPatch(Message):
    """Changes some fields of a tool call. Null leaves a field unchanged, as if it were absent.

    Also the subject of a permission request."""

    tool_call_id: ToolCallId
    kind: Patch[ToolKind] = UNSET
    status: Patch[ToolCallStatus] = UNSET
    title: Patch[str] = UNSET
    name: Patch[str] = UNSET
    content: Patch[Filtered[ToolCallContent]] = UNSET
    locations: Patch[Filtered[ToolCallLocation]] = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCallUpdate(ToolCallPatch, tag_field="sessionUpdate", tag="tool_call_update"):
    """A change of a tool call, as an update of the session."""
