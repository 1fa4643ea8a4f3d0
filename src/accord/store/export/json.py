"""Export a session as one JSON object. docs/sessions.md documents its fields."""

from __future__ import annotations

from typing import Any

import msgspec

from accord.model.session import Compaction, Notice, SessionInfo, Subagent
from accord.model.tool import ToolCall
from accord.transcript.message import Message
from accord.transcript.snapshot import TimelineItem
from accord.transcript.transcript import Transcript

FORMAT = 1


def document(info: SessionInfo, transcript: Transcript, skipped: dict[str, int]) -> dict[str, Any]:
    """Return the document."""
    return {
        "format": "accord-session",
        "version": FORMAT,
        "session": entry(info),
        "items": [_item(item) for item in transcript.timeline],
        "terminals": [
            {"id": t.id, "command": t.command, "cwd": t.cwd, "output": t.text, "exit": _plain(t.exit)}
            for t in transcript.terminals.values()
        ],
        "plans": [_plain(plan) for plan in transcript.plans.values()],
        "options": [{"id": option.id, "name": option.name, "value": option.value} for option in transcript.options],
        "usage": _plain(transcript.usage),
        "subagents": [_plain(child) for child in transcript.subagents.values()],
        "skipped": skipped,
    }


def entry(info: SessionInfo) -> dict[str, Any]:
    """Return the entry of a session in a list."""
    return {
        "id": info.id,
        "cwd": info.cwd,
        "title": info.title,
        "updated_at": info.updated_at,
        "additional_directories": info.additional_directories,
        "archived": bool(info.archived),
    }


def _item(item: TimelineItem) -> dict[str, Any]:
    match item:
        case Message():
            entry_fields = {"kind": "message", "role": item.role, "id": item.id, "text": item.text}
            return {**entry_fields, "content": [_plain(piece) for piece in item.content]}
        case ToolCall():
            fields = _plain(item)
            del fields["replayed"]
            return {"kind": "tool_call", "tool_kind": fields.pop("kind"), **fields}
        case Notice():
            return {"kind": "notice", **_plain(item)}
        case Compaction():
            return {"kind": "compaction", **_plain(item)}
        case Subagent():
            return {"kind": "subagent", "session_id": item.session_id, "title": item.title}


def _plain(record: Any) -> Any:
    return msgspec.to_builtins(record, str_keys=True)
