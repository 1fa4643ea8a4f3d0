"""Version 2: prompts join the conversation at once, `state_update` reports work, `session/resume` may replay."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from accord.errors import INTERNAL_ERROR
from accord.hub.dialect import (
    EMPTY,
    Dialect,
    OpenParams,
    Usage,
    capabilities_of,
    join,
    options_of,
    title_of,
    turn_tokens,
)
from accord.hub.event_log import SessionRecord
from accord.hub.raw_params import decode, read_text, replace_fields, write_object
from accord.policy.question import Question


class DialectV2(Dialect):
    """Version 2."""

    version = 2
    has_queue = False
    has_files = False

    def offer_capabilities(self, params: dict[str, Raw], *, has_workspace: bool) -> dict[str, Raw]:
        return params

    def extend_capabilities(self, result: dict[str, Raw]) -> dict[str, Raw]:
        capabilities = capabilities_of(result, "capabilities")
        session = capabilities_of(capabilities, "session")
        session["delete"] = EMPTY
        return {**result, "capabilities": join({**capabilities, "session": join(session)})}

    def restore_request(self, record: SessionRecord, capabilities: dict[str, Any]) -> tuple[str, bytes] | None:
        return "session/resume", replace_fields(bytes(record.params), sessionId=record.agent_id)

    def offers(self, result: dict[str, Raw], name: str) -> bool:
        return decode(capabilities_of(capabilities_of(result, "capabilities"), "session").get(name)) is not None

    def can_list(self, result: dict[str, Raw]) -> bool:
        return True

    def adopt_request(self, params: bytes, result: dict[str, Raw]) -> tuple[str, bytes] | None:
        return "session/resume", replace_fields(params, replayFrom={"type": "start"})

    def describe_status(self, is_open: bool, *, is_busy: bool, is_asked: bool) -> dict[str, Any]:
        if not is_open:
            return {"status": "saved"}
        state = "requires_action" if is_asked else "running" if is_busy else "idle"
        return {"status": "open", "state": {"state": state}}

    def can_close(self, capabilities: dict[str, Any]) -> bool:
        return True

    def can_delete(self, capabilities: dict[str, Any]) -> bool:
        return _session_capabilities(capabilities).get("delete") is not None

    def can_archive(self, capabilities: dict[str, Any]) -> bool:
        return _session_capabilities(capabilities).get("archive") is not None

    def read_open(self, method: str, params: dict[str, Raw], meta: dict[str, Raw]) -> OpenParams:
        start = decode(params.get("replayFrom"))
        kind = start.get("type") if isinstance(start, dict) else None
        if kind == "_accord.event":
            return OpenParams("after", str(start.get("id")))
        cursor = read_text(meta.get("accord/after"))
        if cursor is not None:
            return OpenParams("after", cursor)
        return OpenParams("full" if kind == "start" else "none")

    def prompt_updates(self, session_id: str, params: dict[str, Raw]) -> list[bytes]:
        return []

    def end_turn_update(self, session_id: str, message: str) -> bytes | None:
        error = {"code": INTERNAL_ERROR, "message": message}
        update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "error", "error": error}
        return write_object({"sessionId": session_id, "update": update})

    def is_busy_after(self, update: dict[str, Raw]) -> bool | None:
        state = read_text(update.get("state"))
        return None if state is None else state in ("running", "requires_action")

    def permission_params(self, session_id: str, question: Question, tool_call_id: str) -> bytes:
        fields: dict[str, Any] = {"sessionId": session_id, "title": title_of(question.action)}
        return write_object({**fields, "description": question.why, "options": options_of(question)})

    def read_usage(self, update: dict[str, Raw], kind: str | None) -> Usage:
        if kind == "state_update":
            return Usage(turn_tokens=turn_tokens(decode(update.get("usage"))))
        return super().read_usage(update, kind)


def _session_capabilities(result: dict[str, Any]) -> dict[str, Any]:
    return (result.get("capabilities") or {}).get("session") or {}
