"""Real messages of clients and agents in both versions, as raw material for the fuzzer."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "text", "text": "buy milk — ¿cuánto? 🥛"}
DIFF = {"type": "diff", "path": "/p/a.py", "oldText": "a = 1\n", "newText": "a = 2\n"}
DIFF_V2 = {
    "type": "diff",
    "changes": [{"type": "modify", "path": "/p/a.py"}],
    "patch": {"format": "git", "text": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"},
}
INFO = {"name": "fuzz", "version": "1", "title": "Fuzz"}
SERVER = {"name": "db", "command": "/bin/db", "args": ["--ro"], "env": [{"name": "A", "value": "b"}]}

Call = tuple[str, Any]
"""A method and its parameters."""


def to_agent(version: int, session: str) -> tuple[list[Call], list[Call]]:
    """Return requests and notifications of a client."""
    asks: list[Call] = [
        ("initialize", HELLO[version]),
        ("session/new", {"cwd": "/p", "mcpServers": [SERVER]}),
        ("session/prompt", {"sessionId": session, "prompt": [TEXT, {**RESOURCE, "_meta": {"a": [1]}}]}),
        ("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "/help now"}]}),
        (
            "session/prompt",
            {"sessionId": session, "prompt": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]},
        ),
        ("session/list", {"cwd": "/p", "cursor": None}),
        ("session/close", {"sessionId": "another"}),
        ("session/resume", {"sessionId": session, "cwd": "/p", "mcpServers": []}),
        ("session/load", {"sessionId": session, "cwd": "/p", "mcpServers": []}),
        ("session/delete", {"sessionId": "gone"}),
        ("session/fork", {"sessionId": session, "cwd": "/p", "mcpServers": []}),
        ("session/set_mode", {"sessionId": session, "modeId": "ask"}),
        ("session/set_config_option", {"sessionId": session, "configId": "model", "type": "select", "value": "small"}),
        ("session/set_model", {"sessionId": session, "modelId": "m"}),
        ("authenticate", {"methodId": "key"}),
        ("auth/login", {"methodId": "key"}),
        ("logout", {}),
        ("tool_call/cancel", {"sessionId": session, "toolCallId": "c"}),
        ("_fuzz/ask", {"a": {"b": [1, 2.5, None, True]}}),
        ("session/update", {"sessionId": session, "update": {"sessionUpdate": "plan", "entries": []}}),
    ]
    tells: list[Call] = [
        ("session/cancel", {"sessionId": session}),
        ("session/cancel", {"sessionId": "nobody"}),
        ("$/cancel_request", {"requestId": 1}),
        ("$/future", {}),
        ("_fuzz/tell", {"a": 1}),
        ("mcp/message", {"serverId": "s", "method": "x", "params": {}}),
    ]
    return asks, tells


def to_client(version: int, session: str) -> tuple[list[Call], list[Call]]:
    """Return requests and notifications of an agent."""
    asks: list[Call] = [
        (
            "session/request_permission",
            {
                "sessionId": session,
                "title": "Edit a file",
                "toolCall": {"toolCallId": "c1", "title": "Edit", "kind": "edit", "content": [DIFF]},
                "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c1", "title": "Edit", "kind": "edit"}},
                "options": [
                    {"optionId": "allow_once", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
                ],
            },
        ),
        ("fs/read_text_file", {"sessionId": session, "path": "/p/a.py", "line": 1, "limit": 10}),
        ("fs/write_text_file", {"sessionId": session, "path": "/p/b.py", "content": "x\n"}),
        ("terminal/create", {"sessionId": session, "command": "ls", "args": ["-l"], "cwd": "/p", "env": []}),
        ("terminal/output", {"sessionId": session, "terminalId": "terminal-1"}),
        ("terminal/wait_for_exit", {"sessionId": session, "terminalId": "terminal-1"}),
        ("terminal/kill", {"sessionId": session, "terminalId": "terminal-1"}),
        ("terminal/release", {"sessionId": session, "terminalId": "terminal-9"}),
        (
            "elicitation/create",
            {
                "sessionId": session,
                "mode": "form",
                "message": "Who?",
                "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            },
        ),
        (
            "elicitation/create",
            {"sessionId": session, "mode": "url", "elicitationId": "e", "url": "https://x", "message": ""},
        ),
        ("_fuzz/ask", [1, {"a": None}]),
    ]
    tells: list[Call] = [("session/update", {"sessionId": session, "update": each}) for each in UPDATES[version]]
    tells += [
        ("session/update", {"sessionId": "unknown", "update": UPDATES[version][0]}),
        ("elicitation/complete", {"elicitationId": "e"}),
        ("$/cancel_request", {"requestId": 1}),
        ("_fuzz/tell", {"a": 1}),
    ]
    return asks, tells


RESOURCE = {"type": "resource_link", "uri": "file:///p/a.py", "name": "a.py", "size": 3}

HELLO: dict[int, dict[str, Any]] = {
    1: {
        "protocolVersion": 1,
        "clientInfo": INFO,
        "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
    },
    2: {"protocolVersion": 2, "info": INFO, "capabilities": {"elicitation": {"form": {}, "url": {}}}},
}

UPDATES: dict[int, list[dict[str, Any]]] = {
    1: [
        {"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": TEXT},
        {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
        {"sessionUpdate": "user_message_chunk", "content": TEXT},
        {"sessionUpdate": "plan", "entries": [{"content": "step", "priority": "high", "status": "pending"}]},
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit", "kind": "edit", "status": "pending"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed", "content": [DIFF]},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c2", "locations": [{"path": "/p/a.py", "line": 3}]},
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "help", "description": "h"}]},
        {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
        {"sessionUpdate": "session_info_update", "title": "A title"},
        {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": {"amount": 0.1, "currency": "EUR"}},
        {"sessionUpdate": "_from_the_future", "x": {"y": [1]}},
    ],
    2: [
        {"sessionUpdate": "user_message", "messageId": "u1", "content": [TEXT]},
        {"sessionUpdate": "agent_message", "messageId": "m1", "content": [TEXT]},
        {"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": TEXT},
        {"sessionUpdate": "agent_thought_chunk", "messageId": "t1", "content": TEXT},
        {"sessionUpdate": "state_update", "state": "running"},
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": "Edit", "status": "in_progress"},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "content": [{"type": "content", "content": TEXT}, DIFF_V2],
        },
        {"sessionUpdate": "terminal_update", "terminalId": "x", "command": "ls", "exitStatus": {"exitCode": 0}},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "aGk="},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}},
        {"sessionUpdate": "session_info_update", "title": None},
        {"sessionUpdate": "usage_update", "used": 10, "size": 100},
        {"sessionUpdate": "_from_the_future", "x": {"y": [1]}},
    ],
}
