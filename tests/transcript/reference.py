"""A slow, simple reference for the folds: computes the state of a session from all its updates.

Independent of the folds, and works on plain JSON."""

from __future__ import annotations

import base64
from typing import Any

from accord.model.content import Image, TextContent
from accord.model.session import Compaction, Subagent
from accord.model.tool import ToolCall
from accord.transcript import Message, Snapshot

Json = dict[str, Any]
Picture = dict[str, Any]

ROLES = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
    "user_message": "user",
    "agent_message": "agent",
    "agent_thought": "thought",
}


def of(updates: list[Json], *kinds: str, **fixed: Any) -> list[Json]:
    """The updates of some kinds that are about one thing."""
    return [u for u in updates if u["sessionUpdate"] in kinds and all(u.get(k) == v for k, v in fixed.items())]


def ids(updates: list[Json], key: str) -> list[str]:
    return list(dict.fromkeys(u[key] for u in updates))


def last(updates: list[Json], key: str, default: Any = None, *, null_leaves: bool = False) -> Any:
    """Return the last value of a field. Null clears it, or is ignored."""
    values = [u[key] for u in updates if key in u and not (null_leaves and u[key] is None)]
    return values[-1] if values and values[-1] is not None else default


def pieces(updates: list[Json], whole: str = "content") -> str:
    """All content: whole lists replace, single blocks add."""
    found: list[Any] = []
    for u in updates:
        if isinstance(u.get("content"), dict):
            found.append(u["content"])
        elif whole in u:
            found = list(u[whole] or [])
    return "".join(_render(item) for item in found)


def _render(item: Json) -> str:
    if item["type"] == "content":
        return _render(item["content"])
    return item["text"] if item["type"] == "text" else f"<{item['type']}>"


def meta(version: int, updates: list[Json], *, null_leaves: bool = False) -> Any:
    if version == 1:
        return last(updates, "_meta", null_leaves=null_leaves)
    found: Json | None = None
    for u in updates:
        if "_meta" in u:
            found = None if u["_meta"] is None else {**(found or {}), **u["_meta"]}
    return None if found is None else {key: value for key, value in found.items() if value is not None}


def messages(version: int, updates: list[Json]) -> dict[Any, list[Json]]:
    """The updates of each message. In v1, a run of chunks of one kind without ids is a message too."""
    found: dict[Any, list[Json]] = {}
    for place, u in enumerate(updates):
        role = ROLES.get(u["sessionUpdate"])
        if role is None:
            continue
        id = u.get("messageId") or None
        if id is None:
            start = place
            while start and all(updates[start - 1].get(k) == u.get(k) for k in ("sessionUpdate", "messageId")):
                start -= 1
            id = start
        found.setdefault((role, id), []).append(u)
    return found


def timeline(version: int, updates: list[Json]) -> list[Any]:
    first = {id(told[0]): ("message", key[0], pieces(told)) for key, told in messages(version, updates).items()}
    for key, kinds in (
        ("toolCallId", ("tool_call", "tool_call_update", "tool_call_content_chunk")),
        ("compactionId", ("compaction_update", "compaction_summary_chunk")),
        ("sessionId", ("subagent_update",)),
    ):
        for u in reversed(of(updates, *kinds)):
            about = of(updates, *kinds, **{key: u[key]})
            first[id(about[0])] = (key, u[key])
    for u in of(updates, "notice"):
        first[id(u)] = ("notice", u["title"])
    return [first[id(u)] for u in updates if id(u) in first]


def tool_call(version: int, updates: list[Json], id: str) -> Json:
    told = of(updates, "tool_call", "tool_call_update", "tool_call_content_chunk", toolCallId=id)
    patches = of(told, "tool_call", "tool_call_update")
    leaves = version == 1

    def field(key: str, default: Any = None) -> Any:
        # An announcement that says the default says nothing.
        speaking = [u for u in patches if not (u["sessionUpdate"] == "tool_call" and u.get(key) == default)]
        return last(speaking, key, default, null_leaves=leaves)

    items = [
        u
        for u in told
        if not (leaves and (u.get("content") is None or (u["sessionUpdate"] == "tool_call" and u["content"] == [])))
    ]
    return {
        "title": field("title", ""),
        "kind": field("kind", "other"),
        "status": field("status", "pending"),
        "raw_input": field("rawInput"),
        "can_cancel": "cancel" in last(patches, "capabilities", {}),
        "content": pieces(items),
        "meta": meta(version, patches, null_leaves=leaves),
    }


def terminal(updates: list[Json], id: str) -> Json:
    told = of(updates, "terminal_update", "terminal_output_chunk", terminalId=id)
    output = b""
    for u in told:
        if "data" in u:
            output += base64.b64decode(u["data"])
        elif "output" in u:
            output = base64.b64decode(u["output"]["data"]) if u["output"] else b""
    patches = of(told, "terminal_update")
    exit = last(patches, "exitStatus")
    return {
        "command": last(patches, "command"),
        "exit": None if exit is None else exit.get("exitCode", "ended"),
        "output": output,
        "meta": meta(2, patches),
    }


def state(updates: list[Json]) -> tuple[Any, Any, Any]:
    told = of(updates, "state_update")
    reason = None
    for u in told:
        if u["state"] == "idle":
            reason = u.get("stopReason") or reason
        elif u["state"] != "unknown":
            reason = None
    background = last(told, "background", null_leaves=True)
    return told[-1]["state"] if told else "unknown", reason, background and [item["type"] for item in background]


def subagent(version: int, updates: list[Json], id: str) -> Json:
    told = of(updates, "subagent_update", sessionId=id)
    state = last(told, "state") or {}
    return {
        "title": last(told, "title"),
        "state": state.get("state"),
        "stop_reason": state.get("stopReason") if state.get("state") == "idle" else None,
        "can_cancel": "cancel" in last(told, "capabilities", {}),
        "meta": meta(version, told),
    }


def picture(version: int, updates: list[Json]) -> Picture:
    """Compute the visible state of a session."""
    plans: dict[str, Any] = {}
    for u in of(updates, "plan", "plan_update", "plan_removed"):
        if u["sessionUpdate"] == "plan":
            plans["main"] = [entry["content"] for entry in u["entries"]]
        elif u["sessionUpdate"] == "plan_removed":
            plans.pop(u["planId"], None)
        else:
            plan = u["plan"]
            plans[plan["planId"]] = [entry["content"] for entry in plan.get("entries", [])]
    calls = of(updates, "tool_call", "tool_call_update", "tool_call_content_chunk")
    terminals = of(updates, "terminal_update", "terminal_output_chunk")
    compactions = of(updates, "compaction_update", "compaction_summary_chunk")
    letters = of(updates, "session_message", "session_message_chunk")
    usages = of(updates, "usage_update")
    cost = last(usages if version == 2 else usages[-1:], "cost")
    info = of(updates, "session_info_update")
    return {
        "timeline": timeline(version, updates),
        "tool_calls": {id: tool_call(version, updates, id) for id in ids(calls, "toolCallId")},
        "terminals": {id: terminal(updates, id) for id in ids(terminals, "terminalId")} if version == 2 else {},
        "plans": plans,
        "commands": [c["name"] for c in last(of(updates, "available_commands_update"), "availableCommands", [])],
        "usage": (usages[-1]["used"], cost and cost["amount"]) if usages else None,
        "title": last(info, "title"),
        "meta": meta(version, info),
        "state": state(updates) if version == 2 else ("unknown", None, None),
        "subagents": {id: subagent(version, updates, id) for id in ids(of(updates, "subagent_update"), "sessionId")},
        "compactions": {
            id: (
                last(of(compactions, "compaction_update", compactionId=id), "status", "in_progress"),
                pieces(of(compactions, *ids(compactions, "sessionUpdate"), compactionId=id), "summary"),
                last(of(compactions, "compaction_update", compactionId=id), "error"),
            )
            for id in ids(compactions, "compactionId")
        },
        "letters": {
            id: (
                last(of(letters, "session_message", messageId=id), "senderSessionId"),
                pieces(of(letters, *ids(letters, "sessionUpdate"), messageId=id)),
            )
            for id in ids(letters, "messageId")
        },
        "unknown": [u["sessionUpdate"] for u in updates if u["sessionUpdate"].startswith("_")],
    }


def picture_of(snapshot: Snapshot) -> Picture:
    """The same, of what a fold has seen."""

    def render(content: list[Any]) -> str:
        names = {Image: "<image>"}
        return "".join(item.text if isinstance(item, TextContent) else names[type(item)] for item in content)

    def item(found: Any) -> Any:
        if isinstance(found, Message):
            return ("message", found.role, render(found.content))
        match found:
            case ToolCall():
                return ("toolCallId", found.id)
            case Compaction():
                return ("compactionId", found.id)
            case Subagent():
                return ("sessionId", found.session_id)
        return ("notice", found.title)

    return {
        "timeline": [item(found) for found in snapshot.timeline],
        "tool_calls": {
            id: {
                "title": call.title,
                "kind": call.kind,
                "status": call.status,
                "raw_input": call.raw_input,
                "can_cancel": call.can_cancel,
                "content": render(call.content),
                "meta": call.meta,
            }
            for id, call in snapshot.tool_calls.items()
        },
        "terminals": {
            id: {
                "command": terminal.command,
                "exit": terminal.exit and ("ended" if terminal.exit.code is None else terminal.exit.code),
                "output": terminal.output,
                "meta": terminal.meta,
            }
            for id, terminal in snapshot.terminals.items()
        },
        "plans": {id: [entry.content for entry in plan.entries] for id, plan in snapshot.plans.items()},
        "commands": [command.name for command in snapshot.commands],
        "usage": snapshot.usage and (snapshot.usage.used, snapshot.usage.cost and snapshot.usage.cost.amount),
        "title": snapshot.title,
        "meta": snapshot.meta,
        "state": (
            snapshot.state,
            snapshot.stop_reason,
            None if snapshot.background is None else [work.kind for work in snapshot.background],
        ),
        "subagents": {
            id: {
                "title": child.title,
                "state": child.state,
                "stop_reason": child.stop_reason,
                "can_cancel": child.can_cancel,
                "meta": child.meta,
            }
            for id, child in snapshot.subagents.items()
        },
        "compactions": {id: (c.status, render(c.summary), c.error) for id, c in snapshot.compactions.items()},
        "letters": {
            id: (letter.data.get("sender_session_id"), render(letter.content))
            for id, letter in snapshot.session_messages.items()
        },
        "unknown": [unknown.kind for unknown in snapshot.unknown],
    }
