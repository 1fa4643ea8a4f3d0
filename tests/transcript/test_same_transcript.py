"""The same session in version 1 and in version 2 gives the same transcript."""

from __future__ import annotations

import base64
from copy import copy
from typing import Any

from transcript.update_builders import Telling, block, message_chunk, text_block, thought, tool, update, user_chunk

from accord.git_patch import git_patch
from accord.model.tool import Diff, ExitStatus
from accord.transcript import Snapshot

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
OPTION = {"name": "Model", "type": "select", "currentValue": "big", "options": [{"value": "big", "name": "Big"}]}
MARKDOWN = {"type": "markdown", "planId": "notes", "content": "# Notes"}
ENTRY = {"content": "Read", "priority": "high", "status": "completed"}
SUBAGENT = update("subagent_update", sessionId="child", title="Scout", state={"state": "running"})
LETTER = update("session_message", messageId="l1", senderSessionId="s", content=[block("go")])
PATCH = git_patch("/p/a.py", "old\n", "new\n")

SHARED = [
    update("session_info_update", title="Fix it", updatedAt="2026-01-02T03:04:05Z"),
    update("usage_update", used=10, size=100, cost={"amount": 1, "currency": "USD"}),
    update("notice", severity="warning", title="Slow", description="today"),
    update("compaction_update", compactionId="c", status="in_progress"),
    update("compaction_summary_chunk", compactionId="c", content=block("short")),
    update("compaction_update", compactionId="c", status="completed"),
    SUBAGENT,
    LETTER,
    update("session_message_chunk", messageId="l1", content=block("now")),
    update("plan_update", plan=MARKDOWN),
    update("_extension", x=1),
]


def told_in_v1() -> Snapshot:
    telling = Telling(1)
    session = telling.transcript
    session.set_state("running")
    telling.tell(
        user_chunk("Please ", "u1"),
        user_chunk("fix it", "u1"),
        thought("Hm", "t1"),
        thought(".", "t1"),
        message_chunk("I ", "a1"),
        message_chunk("look.", "a1"),
        update("agent_message_chunk", messageId="a1", content=IMAGE),
        update(
            "tool_call", toolCallId="read", title="Read a.py", kind="read", status="pending", rawInput={"p": "/p/a.py"}
        ),
        tool("read", status="in_progress", locations=[{"path": "/p/a.py", "line": 3}]),
        tool("read", status="completed", content=[text_block("old")]),
        update("plan", entries=[ENTRY]),
        update("tool_call", toolCallId="edit", title="Edit a.py", kind="edit", status="in_progress"),
        tool(
            "edit",
            status="completed",
            content=[{"type": "diff", "path": "/p/a.py", "oldText": "old\n", "newText": "new\n"}],
        ),
        update(
            "tool_call",
            toolCallId="test",
            title="Run tests",
            kind="execute",
            content=[{"type": "terminal", "terminalId": "x"}],
        ),
        update(
            "available_commands_update",
            availableCommands=[{"name": "web", "description": "Search", "input": {"hint": "what"}}],
        ),
        update("config_option_update", configOptions=[{"id": "model", "category": "model", **OPTION}]),
    )
    session.patch_terminal("x", command="make test", cwd="/p")
    session.append_output("x", b"all ")
    session.append_output("x", b"good")
    session.patch_terminal("x", exit=ExitStatus(code=0))
    telling.tell(tool("test", status="completed"), *SHARED, message_chunk("Done.", "a2"))
    session.set_state("idle", stop_reason="end_turn")
    return session.snapshot()


def told_in_v2() -> Snapshot:
    def print_output(data: bytes) -> dict[str, Any]:
        return update("terminal_output_chunk", terminalId="x", data=base64.b64encode(data).decode())

    change = {"operation": "modify", "path": "/p/a.py"}
    telling = Telling(2)
    telling.tell(
        update("state_update", state="running"),
        update("user_message", messageId="u1", content=[block("Please fix it")]),
        thought("Hm.", "t1"),
        message_chunk("I look", "a1"),
        message_chunk(".", "a1"),
        update("agent_message_chunk", messageId="a1", content=IMAGE),
        tool("read", title="Read a.py", kind="read", rawInput={"p": "/p/a.py"}),
        tool("read", status="in_progress", locations=[{"path": "/p/a.py", "line": 3}]),
        update("tool_call_content_chunk", toolCallId="read", content=text_block("old")),
        tool("read", status="completed"),
        update("plan_update", plan={"type": "items", "planId": "main", "entries": [ENTRY]}),
        tool("edit", title="Edit a.py", kind="edit", status="in_progress", content=[text_block("…")]),
        tool(
            "edit",
            status="completed",
            content=[{"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": PATCH}}],
        ),
        update("terminal_update", terminalId="x", command="make test", cwd="/p"),
        tool("test", title="Run tests", kind="execute", content=[{"type": "terminal", "terminalId": "x"}]),
        update(
            "available_commands_update",
            availableCommands=[
                {"type": "command", "name": "web", "description": "Search", "input": {"type": "text", "hint": "what"}}
            ],
        ),
        update("config_option_update", configOptions=[{"configId": "model", "category": "model", **OPTION}]),
        print_output(b"all good"),
        update("terminal_update", terminalId="x", exitStatus={"exitCode": 0}),
        tool("test", status="completed"),
        *SHARED,
        update("agent_message", messageId="a2", content=[block("Done.")]),
        update("state_update", state="idle", stopReason="end_turn"),
    )
    return telling.transcript.snapshot()


def as_seen(picture: Snapshot) -> Snapshot:
    """The same picture, with what the versions can only spell differently put into one form."""
    for call in picture.tool_calls.values():
        call.content = [_patch_alone(item) if isinstance(item, Diff) else item for item in call.content]
    for terminal in picture.terminals.values():
        terminal.chunks = [terminal.output]
    return picture


def _patch_alone(diff: Diff) -> Diff:
    """Version 1 sends a file's texts and version 2 a patch: the patch can be shown of both."""
    changes = [copy(change) for change in diff.changes]
    patch = diff.patch
    for change in changes:
        change.old_text = change.new_text = None
    return Diff(changes=changes, given_patch=patch)


def test_the_same_session_gives_the_same_transcript_in_both_versions() -> None:
    first, second = as_seen(told_in_v1()), as_seen(told_in_v2())

    for name in Snapshot.__struct_fields__:
        assert getattr(first, name) == getattr(second, name), name
    assert first == second


def test_the_transcript_contains_the_whole_session() -> None:
    picture = told_in_v2()

    assert [
        getattr(item, "text", None) or getattr(item, "title", None) or getattr(item, "id", None)
        for item in picture.timeline
    ] == [
        "Please fix it",
        "Hm.",
        "I look.",
        "Read a.py",
        "Edit a.py",
        "Run tests",
        "Slow",
        "c",
        "Scout",
        "Done.",
    ]
    assert list(picture.plans) == ["main", "notes"]
    assert (picture.title, picture.stop_reason, [kept.kind for kept in picture.unknown]) == (
        "Fix it",
        "end_turn",
        ["_extension"],
    )
