"""Fold the statements of a stored session into the transcript that a client would have built from them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from msgspec import UNSET, UnsetType

from accord.model import statement as s
from accord.model.content import Content, TextContent
from accord.transcript.transcript import Transcript


async def fold(session_id: str, history: AsyncIterator[s.Statement], cwd: str | None = None) -> Transcript:
    """Return the transcript of a session."""
    transcript = Transcript(session_id, cwd=cwd)
    async for statement in history:
        apply(transcript, statement)
    return transcript


def apply(transcript: Transcript, statement: s.Statement) -> None:
    """Apply one statement to a transcript."""
    changes: dict[str, Any]
    match statement:
        case s.MessageChunk(role=role, message_id=id, content=TextContent(text=text, annotations=None, meta=None)):
            transcript.append_text(role, id, text)
        case s.MessageChunk(role=role, message_id=id, content=content):
            transcript.append(role, id, content)
        case s.WholeMessage(role=role, message_id=id, content=contents):
            transcript.set_message(role, id, _contents(contents), statement.meta or UNSET)
        case s.ToolPatch(id=id):
            transcript.patch_tool(id, meta_patch=statement.meta or UNSET, **_changes(statement, _CLEARED_TOOL))
        case s.TerminalPatch(id=id):
            changes = _changes(statement, dict.fromkeys(("command", "cwd", "exit", "columns", "rows", "can_cancel")))
            if not isinstance(statement.output, UnsetType):
                changes["chunks"] = [] if statement.output is None else [statement.output]
            transcript.patch_terminal(id, meta_patch=statement.meta or UNSET, **changes)
        case s.TerminalData(id=id, data=data):
            transcript.append_output(id, data)
        case s.SetPlan(plan=plan):
            transcript.set_plan(plan)
        case s.RemovePlan(id=id):
            transcript.remove_plan(id)
        case s.SetCommands(commands=commands):
            transcript.set_commands(commands)
        case s.SetOptions(options=options):
            transcript.set_options(options)
        case s.SetInfo(title=title, updated_at=updated_at):
            transcript.set_info(title=title, updated_at=updated_at, meta_patch=statement.meta or UNSET)
        case s.SetUsage(usage=usage):
            transcript.set_usage(usage)
        case s.AddNotice(notice=notice):
            transcript.add_notice(notice)
        case s.SetCompaction(compaction=compaction):
            changes = {"status": compaction.status, "error": compaction.error}
            if compaction.summary:
                changes["summary"] = list(compaction.summary)
            transcript.patch_compaction(compaction.id, **changes)
        case s.CompactionText(id=id, content=content):
            transcript.append_summary(id, content)
        case s.SetSubagent(subagent=child):
            fields = {name: getattr(child, name) for name in child.__struct_fields__ if name != "session_id"}
            transcript.patch_subagent(child.session_id, **fields)
        case s.SessionMessage(id=id):
            names = {
                "sender_session_id": statement.sender,
                "recipient_session_id": statement.recipient,
                "sender_message_id": statement.sender_message_id,
                "recipient_message_id": statement.recipient_message_id,
            }
            changes = {name: value for name, value in names.items() if value is not UNSET}
            contents = _contents(statement.content)
            transcript.set_session_message(id, contents, meta_patch=statement.meta or UNSET, **changes)
        case s.SessionMessageText(id=id, content=content):
            transcript.append_session_message(id, content)
        case s.Raw(update=update):
            transcript.add_unknown(str(update.get("sessionUpdate", "")) if isinstance(update, dict) else "", update)
        case s.SetState():
            pass  # the state of the past is of no interest


def _contents(contents: list[Content] | UnsetType | None) -> list[Content] | UnsetType:
    return contents if isinstance(contents, UnsetType) else list(contents or ())


_CLEARED_TOOL: dict[str, Any] = {
    "title": "",
    "kind": "other",
    "status": "pending",
    "name": None,
    "content": [],
    "locations": [],
    "raw_input": None,
    "raw_output": None,
    "can_cancel": False,
}
"""The fields of a tool call, and their values once they have been cleared."""


def _changes(statement: s.ToolPatch | s.TerminalPatch, cleared: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a patch sets. Lists are copied because the transcript appends to them."""
    found: dict[str, Any] = {}
    for name, empty in cleared.items():
        value = getattr(statement, name)
        if value is not UNSET:
            value = empty if value is None else value
            found[name] = list(value) if isinstance(value, list) else value
    return found
