"""Version 1: a turn is an open `session/prompt`, files and terminals belong to the client, `session/load` replays."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from accord.hub.dialect import EMPTY, Dialect, OpenParams, capabilities_of, join, options_of, title_of
from accord.hub.event_log import SessionRecord
from accord.hub.raw_params import decode, read_text, replace_fields, write_object
from accord.policy.question import Question

_TOOL_KINDS = {"read": "read", "write": "edit", "delete": "delete", "fetch": "fetch", "command": "execute"}


class DialectV1(Dialect):
    """Version 1."""

    version = 1
    has_queue = True
    has_files = True

    def offer_capabilities(self, params: dict[str, Raw], *, has_workspace: bool) -> dict[str, Raw]:
        if not has_workspace:
            return params
        capabilities = capabilities_of(params, "clientCapabilities")
        capabilities["fs"] = Raw(b'{"readTextFile":true,"writeTextFile":true}')
        capabilities["terminal"] = Raw(b"true")
        return {**params, "clientCapabilities": join(capabilities)}

    def extend_capabilities(self, result: dict[str, Raw]) -> dict[str, Raw]:
        capabilities = capabilities_of(result, "agentCapabilities")
        session = capabilities_of(capabilities, "sessionCapabilities")
        session |= dict.fromkeys(("list", "resume", "close", "delete"), EMPTY)
        capabilities |= {"loadSession": Raw(b"true"), "sessionCapabilities": join(session)}
        return {**result, "agentCapabilities": join(capabilities)}

    def restore_request(self, record: SessionRecord, capabilities: dict[str, Any]) -> tuple[str, bytes] | None:
        agent = capabilities.get("agentCapabilities") or {}
        params = replace_fields(bytes(record.params), sessionId=record.agent_id)
        if _session_capabilities(capabilities).get("resume") is not None:
            return "session/resume", params
        return ("session/load", params) if agent.get("loadSession") is True else None

    def offers(self, result: dict[str, Raw], name: str) -> bool:
        session = capabilities_of(capabilities_of(result, "agentCapabilities"), "sessionCapabilities")
        return decode(session.get(name)) is not None

    def can_list(self, result: dict[str, Raw]) -> bool:
        return self.offers(result, "list")

    def adopt_request(self, params: bytes, result: dict[str, Raw]) -> tuple[str, bytes] | None:
        if decode(capabilities_of(result, "agentCapabilities").get("loadSession")) is True:
            return "session/load", params
        return ("session/resume", params) if self.offers(result, "resume") else None

    def describe_status(self, is_open: bool, *, is_busy: bool, is_asked: bool) -> dict[str, Any]:
        return {"status": "open" if is_open else "saved"}

    def can_close(self, capabilities: dict[str, Any]) -> bool:
        return _session_capabilities(capabilities).get("close") is not None

    def can_delete(self, capabilities: dict[str, Any]) -> bool:
        return _session_capabilities(capabilities).get("delete") is not None

    def can_archive(self, capabilities: dict[str, Any]) -> bool:
        return _session_capabilities(capabilities).get("archive") is not None

    def read_open(self, method: str, params: dict[str, Raw], meta: dict[str, Raw]) -> OpenParams:
        cursor = read_text(meta.get("accord/after"))
        if cursor is not None:
            return OpenParams("after", cursor)
        return OpenParams("full" if method == "session/load" else "none")

    def prompt_updates(self, session_id: str, params: dict[str, Raw]) -> list[bytes]:
        return [
            write_object(
                {"sessionId": session_id, "update": {"sessionUpdate": "user_message_chunk", "content": content}}
            )
            for content in _list(params.get("prompt"))
        ]

    def end_turn_update(self, session_id: str, message: str) -> bytes | None:
        return None

    def is_busy_after(self, update: dict[str, Raw]) -> bool | None:
        return None

    def permission_params(self, session_id: str, question: Question, tool_call_id: str) -> bytes:
        action = question.action
        call: dict[str, Any] = {
            "toolCallId": tool_call_id,
            "title": title_of(action),
            "kind": _TOOL_KINDS.get(action.kind, "other"),
            "status": "pending",
            "locations": [{"path": path} for path in action.paths],
            "content": [{"type": "content", "content": {"type": "text", "text": question.why}}],
        }
        if action.line is not None:
            # Some clients show no title, and the reason may name a part of the line only.
            line = {"type": "text", "text": action.line}
            call["content"].insert(0, {"type": "content", "content": line})
        for diff in action.changes:
            for change in diff.changes:
                if change.new_text is not None:
                    old = {} if change.old_text is None else {"oldText": change.old_text}
                    call["content"].append({"type": "diff", "path": change.path, "newText": change.new_text, **old})
        return write_object({"sessionId": session_id, "toolCall": call, "options": options_of(question)})


def _session_capabilities(capabilities: dict[str, Any]) -> dict[str, Any]:
    return (capabilities.get("agentCapabilities") or {}).get("sessionCapabilities") or {}


def _list(value: Raw | None) -> list[Raw]:
    try:
        return msgspec.json.decode(value or b"[]", type=list[Raw])
    except ValueError:
        return []
