"""Requests and answers of the agent, read as neutral nouns for the client's dialects."""

from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import text_block

from accord.codec import from_v1, from_v2
from accord.model.content import TextContent
from accord.model.requests import AuthMethod, Elicitation, PermissionOption, PermissionRequest
from accord.model.session import SessionInfo
from accord.model.tool import ToolCall
from accord.schema import v1 as wire_v1
from accord.schema import v2 as wire_v2
from accord.schema.repair import read

OPTIONS = [{"optionId": "yes", "name": "Go on", "kind": "allow_once"}]
CHOICES = [PermissionOption(id="yes", name="Go on", kind="allow_once")]
KNOWN = {"t": ToolCall(id="t", title="Edit", kind="edit", status="in_progress", meta={"a": 1})}


def permission_v1(tool_call: dict[str, Any], **more: Any) -> PermissionRequest:
    params = {"sessionId": "s", "toolCall": tool_call, "options": OPTIONS, **more}
    return from_v1.permission(read(wire_v1.RequestPermissionRequest, params), KNOWN)


def permission_v2(**fields: Any) -> PermissionRequest:
    params = {"sessionId": "s", "title": "May I?", "options": OPTIONS, **fields}
    return from_v2.permission(read(wire_v2.RequestPermissionRequest, params), KNOWN)


def test_in_v1_a_permission_is_about_a_call_as_it_is_known_with_what_the_request_adds() -> None:
    asked = permission_v1({"toolCallId": "t", "content": [text_block("x")], "title": None}, _meta={"m": 1})

    assert asked == PermissionRequest(
        session_id="s",
        title="Edit",
        options=CHOICES,
        tool_call=ToolCall(
            id="t", title="Edit", kind="edit", status="in_progress", content=[TextContent("x")], meta={"a": 1}
        ),
        meta={"m": 1},
    )
    assert KNOWN["t"].content == []


def test_in_v1_a_permission_request_may_be_about_an_unknown_call() -> None:
    asked = permission_v1({"toolCallId": "new"})

    assert asked.tool_call == ToolCall(id="new")
    assert asked.title == "The agent asks for permission"


def test_in_v2_a_permission_about_a_call_adds_to_what_is_known() -> None:
    call = {"toolCallId": "t", "kind": None, "_meta": {"b": 2}}
    asked = permission_v2(description="why", subject={"type": "tool_call", "toolCall": call})

    assert (asked.title, asked.description, asked.options) == ("May I?", "why", CHOICES)
    assert asked.tool_call == ToolCall(id="t", title="Edit", status="in_progress", meta={"a": 1, "b": 2})
    assert KNOWN["t"].meta == {"a": 1}


def test_in_v2_a_permission_may_be_about_a_command() -> None:
    asked = permission_v2(subject={"type": "command", "command": "rm -r /", "cwd": "/", "toolCallId": "t"})

    assert (asked.command, asked.cwd, asked.tool_call) == ("rm -r /", "/", KNOWN["t"])


@pytest.mark.parametrize("id", [{}, {"toolCallId": None}, {"toolCallId": "unheard of"}], ids=str)
def test_a_command_without_a_known_call_stands_alone(id: dict[str, Any]) -> None:
    asked = permission_v2(subject={"type": "command", "command": "ls", "cwd": "/", **id})

    assert (asked.command, asked.tool_call) == ("ls", None)


def test_in_v2_a_permission_without_a_subject_or_with_an_unknown_one_still_asks() -> None:
    subject = {"type": "_rocket", "target": "moon"}

    assert permission_v2().tool_call is None
    assert permission_v2(subject=subject).other == subject


FORM = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "x": {"type": "_color", "hue": 3}}}


@pytest.mark.parametrize(
    ("wire", "reading"),
    [(wire_v1.CreateElicitationRequest, from_v1), (wire_v2.CreateElicitationRequest, from_v2)],
    ids=["v1", "v2"],
)
def test_questions_to_the_user_are_read(wire: Any, reading: Any) -> None:
    def elicit(**fields: Any) -> Elicitation:
        result: Elicitation = reading.elicitation(read(wire, {"message": "Who?", **fields}))
        return result

    assert elicit(mode="form", sessionId="s", toolCallId="t", requestedSchema=FORM, _meta={"k": 1}) == Elicitation(
        message="Who?", mode="form", schema=FORM, session_id="s", tool_call_id="t", meta={"k": 1}
    )
    assert elicit(mode="url", requestId=7, url="https://x.test", elicitationId="e") == Elicitation(
        message="Who?", mode="url", url="https://x.test", id="e", request_id=7
    )
    strange = elicit(mode="_voice", sessionId="s", pitch="high")
    assert (strange.mode, strange.message, strange.session_id) == ("_voice", "Who?", "s")
    assert strange.other == {"message": "Who?", "mode": "_voice", "sessionId": "s", "pitch": "high"}


def test_ways_to_log_in_are_read_in_v1() -> None:
    def method(**fields: Any) -> AuthMethod:
        return from_v1.auth_method(read(wire_v1.AuthMethod, {"id": "a", "name": "A", **fields}))

    assert method(description="d", _meta={"k": 1}) == AuthMethod(id="a", name="A", description="d", meta={"k": 1})
    assert method(type="terminal", args=["login"], env={"X": "1"}) == AuthMethod(
        id="a", name="A", kind="terminal", args=["login"], env={"X": "1"}
    )


def test_ways_to_log_in_are_read_in_v2() -> None:
    def method(**fields: Any) -> AuthMethod:
        return from_v2.auth_method(read(wire_v2.AuthMethod, {"methodId": "a", "name": "A", **fields}))

    assert method(type="agent") == AuthMethod(id="a", name="A")
    assert method(type="terminal", args=["login"], env=[{"name": "X", "value": "1"}]) == AuthMethod(
        id="a", name="A", kind="terminal", args=["login"], env={"X": "1"}
    )
    assert method(type="_passkey", description="d") == AuthMethod(id="a", name="A", kind="_passkey", description="d")


@pytest.mark.parametrize("wire", [wire_v1.SessionInfo, wire_v2.SessionInfo], ids=["v1", "v2"])
def test_a_listed_session_is_read(wire: Any) -> None:
    info = {"sessionId": "s", "cwd": "/p", "title": "T", "updatedAt": "2026-01-02T03:04:05Z", "archived": True}

    assert from_v1.session_info(read(wire, {**info, "additionalDirectories": ["/q"]})) == SessionInfo(
        id="s", cwd="/p", title="T", updated_at="2026-01-02T03:04:05Z", additional_directories=["/q"], archived=True
    )
