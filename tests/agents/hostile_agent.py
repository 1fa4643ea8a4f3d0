"""An agent that puts terminal escape sequences and markup into every string that a client might show."""

from __future__ import annotations

import json
import sys
from typing import Any

EVIL = "e\x1b]52;c;cHduZWQ=\x07\x9b31m[/x][@click=app.quit]v\r\u202e\ti\nl\x00"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tell(what: str, **update: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": what, **update}}})


def text() -> dict[str, Any]:
    cell = EVIL.replace("\n", " ")
    lines = [
        f"# {EVIL}",
        f"```{EVIL}",
        EVIL,
        "```",
        "| a | b |",
        "|---|---|",
        f"| {cell} | [x](http://x/\x1b]2;y\x07) |",
    ]
    return {"type": "text", "text": "\n".join(lines)}


def change() -> dict[str, Any]:
    return {"type": "diff", "path": f"/tmp/{EVIL}", "oldText": f"{EVIL}\nold", "newText": f"{EVIL}\nnew"}


def turn() -> None:
    for kind in ("agent_thought_chunk", "agent_message_chunk", "user_message_chunk"):
        tell(kind, content=text())
    media = [
        {"type": "image", "mimeType": EVIL, "data": "aGk=", "uri": EVIL},
        {"type": "audio", "mimeType": EVIL, "data": "aGk="},
        {"type": "resource_link", "uri": f"file:///%1b%5d2;x%07{EVIL}", "name": EVIL, "title": EVIL, "mimeType": EVIL},
        {"type": "resource", "resource": {"uri": EVIL, "mimeType": EVIL, "text": EVIL}},
    ]
    for each in media:
        tell("agent_message_chunk", content=each)
    tell("plan", entries=[{"content": EVIL, "priority": "high", "status": "in_progress"}])
    tell("usage_update", used=5, size=10, cost={"amount": 1, "currency": EVIL})
    tell(f"unheard_of {EVIL}", x=EVIL)
    told = {"title": EVIL, "rawInput": {EVIL: EVIL}, "rawOutput": EVIL, "locations": [{"path": f"/tmp/{EVIL}"}]}
    content = [{"type": "content", "content": text()}, change()]
    tell("tool_call", toolCallId=EVIL, kind="edit", status="completed", content=content, **told)
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": f"ls {EVIL}"}, "content": [change()]}
    options = [
        {"optionId": EVIL, "name": EVIL, "kind": "allow_once"},
        {"optionId": "r", "name": EVIL, "kind": "reject_once"},
    ]
    params = {"sessionId": "s", "toolCall": {**call, "title": EVIL}, "options": options}
    send({"id": "question", "method": "session/request_permission", "params": params})


def ask_form() -> None:
    fields = {
        EVIL: {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL, "format": EVIL},
        "tick": {"type": "boolean", "title": EVIL},
        "one": {"type": "string", "oneOf": [{"const": EVIL, "title": EVIL}, {"const": "b", "title": "b"}]},
        "some": {"type": "array", "items": {"anyOf": [{"const": EVIL, "title": EVIL}]}},
    }
    schema = {"type": "object", "properties": fields}
    params = {"sessionId": "s", "mode": "form", "message": EVIL, "requestedSchema": schema}
    send({"id": "form", "method": "elicitation/create", "params": params})


def main() -> None:
    prompt = None
    session = {"sessionId": "s"}
    choice = {"value": EVIL, "name": EVIL, "description": EVIL}
    option = {"id": "o", "name": EVIL, "description": EVIL, "type": "select", "currentValue": EVIL, "options": [choice]}
    offers = {"loadSession": True, "sessionCapabilities": {"list": {}, "fork": {}, "delete": {}}}
    info = {"name": "x", "title": EVIL, "version": EVIL}
    logins = [{"id": "l", "name": EVIL, "description": EVIL}]
    hello = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": offers, "authMethods": logins}
    listed = [{"sessionId": "s2", "cwd": "/x", "title": EVIL, "updatedAt": "2026-01-01T00:00:00Z"}]
    answers = {
        "initialize": hello,
        "session/new": {**session, "configOptions": [option]},
        "session/list": {"sessions": listed},
    }
    for line in sys.stdin:
        message = json.loads(line)
        id, method = message.get("id"), message.get("method")
        if method in answers:
            send({"id": id, "result": answers[method]})
        if method == "session/new":
            tell(
                "available_commands_update",
                availableCommands=[{"name": "evil", "description": EVIL, "input": {"hint": EVIL}}],
            )
            tell("session_info_update", title=EVIL)
        elif method == "session/prompt" and "form" in line:
            prompt = id
            ask_form()
        elif method == "session/prompt":
            prompt = id
            turn()
        elif method in ("session/cancel",) or (method is None and id in ("question", "form")):
            send({"id": prompt, "result": {"stopReason": "end_turn"}})
        elif method is not None and id is not None and method not in answers:
            send({"id": id, "error": {"code": -32603, "message": EVIL, "data": EVIL}})
        print(EVIL, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
