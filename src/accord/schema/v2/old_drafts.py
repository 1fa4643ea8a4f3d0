"""Convert messages of older drafts of this version to the current format.

Each function takes an object that couldn't be read otherwise. Renamed keys are declared on the types (`OLDER`), missing
tags on their unions (`Missing`). The old formats are never written."""

from __future__ import annotations

from typing import Any

from accord.schema.common.auth import status_marker_from_flag
from accord.schema.common.implementation import Implementation
from accord.schema.repair import Unreadable, older, read
from accord.schema.v2.auth import AgentAuthCapabilities
from accord.schema.v2.config import SessionConfigSelectGroup
from accord.schema.v2.diff import Diff
from accord.schema.v2.initialize import InitializeRequest
from accord.schema.v2.permission import RequestPermissionRequest
from accord.schema.v2.prompt import PromptResponse
from accord.schema.v2.terminal import TerminalUpdate
from accord.schema.v2.tool_call import ToolCallPatch

Json = dict[str, Any]
_MAX_COMPARISONS = 250_000
"""Larger diffs of old drafts aren't minimized: they are read on the event loop."""

older(AgentAuthCapabilities)(status_marker_from_flag)


@older(Diff)
def _changes_from_texts(value: Json) -> Json:
    """Convert a diff that consists of a path with its old and new text."""
    path, new = value.get("path"), value.get("newText")
    old = value.get("oldText")
    if "changes" in value or not isinstance(path, str) or not isinstance(new, str):
        return value
    if not isinstance(old, str | None):
        return value
    from accord.git_patch import git_patch

    change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
    text = git_patch(path, old, new, max_comparisons=_MAX_COMPARISONS)
    patch = {"patch": {"format": "git_patch", "text": text}} if text and "patch" not in value else {}
    return {**value, "changes": [change], **patch}


@older(RequestPermissionRequest)
def _title_from_tool_call(value: Json) -> Json:
    """Add a title to a permission request that has only a tool call."""
    if "title" in value:
        return value
    subject = value.get("subject")
    tool_call = subject.get("toolCall") if isinstance(subject, dict) else value.get("toolCall")
    title = tool_call.get("title") if isinstance(tool_call, dict) else None
    return {**value, "title": title if isinstance(title, str) else "The agent asks for permission"}


@older(PromptResponse)
def _without_message_id(value: Json) -> Json:
    """Convert the response to a prompt that is empty, or has the stop reason."""
    return {**value, "messageId": ""} if value.get("messageId") is None else value


@older(SessionConfigSelectGroup)
def _group_without_name(value: Json) -> Json:
    """Add a name to a group of values that has only an id."""
    return value if "name" in value or "groupId" not in value else {**value, "name": value["groupId"]}


@older(InitializeRequest)
def _newer_client(value: Json) -> Json:
    """Accept an unknown `info` of a client of a later version, so that the version can be negotiated down."""
    version = value.get("protocolVersion")
    if not isinstance(version, int) or version <= 2:
        return value
    try:
        read(Implementation, value.get("info"))
    except Unreadable:
        return {**value, "info": {"name": "unknown", "version": "unknown"}}
    return value


@older(ToolCallPatch)
@older(TerminalUpdate)
def _no_controls(value: Json) -> Json:
    """Replace invalid capabilities with none, to be safe."""
    if isinstance(value.get("capabilities", {}), dict | None):
        return value
    return {**value, "capabilities": None}
