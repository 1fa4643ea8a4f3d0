"""Lenient decoding of version 2: some values are repaired, unknown ones are preserved, others are rejected."""

from __future__ import annotations

from typing import Any

import pytest
from schema.decoding import decode, encode

from accord.schema import v2
from accord.schema.repair import Unreadable
from accord.schema.shape import UNSET, Other

TEXT = {"type": "text", "text": "hi"}
OPTION = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
FORM = {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}


def update(kind: str, /, **data: Any) -> Any:
    """An update of a session, as it comes."""
    notification = {"sessionId": "s", "update": {"sessionUpdate": kind, **data}}
    return decode(v2.UpdateSessionNotification, notification).update


# Updates


@pytest.mark.req("V2-UPD-05", "V2-SDK-03", "V2-EXT-04")
@pytest.mark.parametrize("kind", ["_mine", "later", "tool_call", "plan", "current_mode_update", ""])
def test_an_unknown_update_is_preserved(kind: str) -> None:
    data = {"sessionUpdate": kind, "messageId": 5, "deep": {"er": [None, 1.5, "x"]}, "_meta": None}
    notification = {"sessionId": "s", "update": data}
    told = decode(v2.UpdateSessionNotification, notification)
    assert told.update == Other.of(kind, data)
    assert encode(told) == notification


@pytest.mark.req("V2-UPD-06", "V2-UPD-07", "V2-SDK-02", "V2-EXT-05")
@pytest.mark.parametrize(
    ("kind", "data", "where"),
    [
        ("tool_call_update", {"title": "no id"}, "update.toolCallId"),
        ("user_message", {"messageId": None}, "update.messageId"),
        ("agent_message_chunk", {"content": TEXT}, "update.messageId"),
        ("agent_thought_chunk", {"messageId": "m", "content": {"type": "text"}}, "update.content.text"),
        ("state_update", {}, "update.state"),
        ("plan_update", {"plan": {"type": "items", "planId": "p"}}, "update.plan.entries"),
        ("usage_update", {"used": -1, "size": 1}, "update.used"),
        ("terminal_output_chunk", {"terminalId": "t"}, "update.data"),
        ("notice", {"severity": "info", "title": ""}, "update.title"),
        ("subagent_update", {"sessionId": "c", "cwd": 5}, "update.cwd"),
    ],
)
def test_a_known_update_that_is_bad_is_refused_and_never_passes_for_an_unknown_one(
    kind: str, data: dict[str, Any], where: str
) -> None:
    with pytest.raises(Unreadable) as caught:
        update(kind, **data)
    assert caught.value.where == where


@pytest.mark.req("V2-UPD-15")
@pytest.mark.parametrize(
    ("kind", "required", "fields"),
    [
        ("user_message", {"messageId": "m"}, ["content"]),
        ("tool_call_update", {"toolCallId": "t"}, ["title", "name", "kind", "status", "content", "locations"]),
        ("tool_call_update", {"toolCallId": "t"}, ["rawInput", "rawOutput", "capabilities", "_meta"]),
        ("terminal_update", {"terminalId": "t"}, ["command", "cwd", "output", "exitStatus", "size", "capabilities"]),
        ("session_info_update", {}, ["title", "updatedAt", "_meta"]),
        ("usage_update", {"used": 1, "size": 2}, ["cost"]),
        ("compaction_update", {"compactionId": "c", "status": "completed"}, ["summary", "error"]),
        ("subagent_update", {"sessionId": "c"}, ["title", "state", "cwd", "additionalDirectories", "capabilities"]),
    ],
)
def test_null_and_nothing_stay_apart(kind: str, required: dict[str, Any], fields: list[str]) -> None:
    nothing = {"sessionUpdate": kind, **required}
    null = nothing | dict.fromkeys(fields)
    assert encode(update(kind, **required)) == nothing
    assert encode(decode(v2.SessionUpdate, null)) == null


# Content


@pytest.mark.req("V2-CONTENT-01", "V2-CONTENT-08", "V2-SDK-03")
def test_unknown_content_keeps_its_position() -> None:
    video = {"type": "_video", "data": 1, "frames": []}
    told = update("agent_message", messageId="m", content=[TEXT, video, {"type": "image"}, TEXT])
    assert told.content == [v2.TextContent(text="hi"), Other.of("_video", video), v2.TextContent(text="hi")]


@pytest.mark.req("V2-CONTENT-03")
def test_invalid_annotations_of_content_are_ignored() -> None:
    def annotations(**data: Any) -> Any:
        return decode(v2.TextContent, {**TEXT, "annotations": data}).annotations

    assert annotations(priority=2, audience=["user", 5, "_critic"]) == v2.Annotations(audience=["user", "_critic"])
    assert annotations(priority=-0.1) == annotations(priority="high") == v2.Annotations()
    assert (annotations(priority=0).priority, annotations(priority=1).priority) == (0, 1)


@pytest.mark.req("V2-CONTENT-03")
@pytest.mark.parametrize(
    ("size", "read"), [(2**64 - 1, 2**64 - 1), (12.0, 12), (-1, UNSET), (1.5, UNSET), (True, UNSET)]
)
def test_the_size_of_a_link_is_an_integer_or_absent(size: Any, read: Any) -> None:
    link = {"type": "resource_link", "name": "n", "uri": "file:///n", "size": size}
    assert decode(v2.ResourceLink, link).size == read


@pytest.mark.req("V2-CONTENT-02")
def test_a_resource_is_text_or_bytes_and_nothing_else() -> None:
    def resource(**data: Any) -> Any:
        return decode(v2.ContentBlock, {"type": "resource", "resource": {"uri": "file:///n", **data}}).resource

    assert resource(text="t") == v2.TextResourceContents(text="t", uri="file:///n")
    assert resource(blob="aGk=") == v2.BlobResourceContents(blob="aGk=", uri="file:///n")
    with pytest.raises(Unreadable):
        resource()


# Tool calls and terminals


@pytest.mark.req("V2-TOOL-06", "V2-TOOL-07")
def test_a_status_or_kind_from_the_future_is_kept() -> None:
    told = update("tool_call_update", toolCallId="t", status="_queued", kind="_dream")
    assert (told.status, told.kind) == ("_queued", "_dream")
    assert update("tool_call_update", toolCallId="t", status="paused").status == "paused"
    assert update("tool_call_update", toolCallId="t", status=7).status is UNSET


@pytest.mark.req("V2-TOOL-12")
def test_bad_content_leaves_a_tool_call_and_unknown_content_stays() -> None:
    chart = {"type": "_chart", "points": [1]}
    told = update(
        "tool_call_update", toolCallId="t", content=[{"type": "terminal"}, chart, TEXT["text"], {"type": "content"}]
    )
    assert told.content == [Other.of("_chart", chart)]
    with pytest.raises(Unreadable, match="terminalId"):
        update("tool_call_content_chunk", toolCallId="t", content={"type": "terminal"})


@pytest.mark.req("V2-TOOL-13")
def test_a_location_at_line_0_has_no_line() -> None:
    places = [{"path": "/a", "line": 0}, {"path": "/b", "line": 1}, {"line": 3}, {"path": "/c", "line": None}]
    told = update("tool_call_update", toolCallId="t", locations=places)
    assert told.locations == [
        v2.ToolCallLocation(path="/a"),
        v2.ToolCallLocation(path="/b", line=1),
        v2.ToolCallLocation(path="/c", line=None),
    ]


@pytest.mark.req("V2-TOOL-11")
@pytest.mark.parametrize(("kind", "key"), [("tool_call_update", "toolCallId"), ("terminal_update", "terminalId")])
def test_unreadable_capabilities_count_as_unsupported(kind: str, key: str) -> None:
    def capabilities(**data: Any) -> Any:
        return update(kind, **{key: "x"}, **data).capabilities

    assert capabilities(capabilities=True) is None
    assert capabilities(capabilities={"cancel": True}).cancel is UNSET
    assert capabilities(capabilities={"cancel": {}}).cancel is not UNSET
    assert capabilities() is UNSET


@pytest.mark.req("V2-TERM-09")
@pytest.mark.parametrize("size", [{"cols": 0, "rows": 24}, {"cols": 80, "rows": 65_536}, {"cols": 80}, "80x24"])
def test_a_terminal_of_no_possible_size_has_none(size: Any) -> None:
    assert update("terminal_update", terminalId="t", size=size).size is UNSET


@pytest.mark.req("V2-TERM-09")
def test_a_terminal_may_be_as_large_as_65535() -> None:
    told = update("terminal_update", terminalId="t", size={"cols": 1, "rows": 65_535})
    assert told.size == v2.TerminalSize(cols=1, rows=65_535)


@pytest.mark.req("V2-TERM-08")
def test_an_exit_status_is_there_even_when_it_says_nothing() -> None:
    assert update("terminal_update", terminalId="t", exitStatus={}).exit_status == v2.TerminalExitStatus()
    assert update("terminal_update", terminalId="t", exitStatus={"exitCode": -9}).exit_status.exit_code == -9


# State


@pytest.mark.req("V2-PROMPT-20", "V2-PROMPT-22")
@pytest.mark.parametrize(
    ("reason", "read"), [("end_turn", "end_turn"), ("_bored", "_bored"), (42, UNSET), ({}, UNSET), (None, None)]
)
def test_a_stop_reason_must_be_a_string_to_be_reported(reason: Any, read: Any) -> None:
    assert update("state_update", state="idle", stopReason=reason).stop_reason == read


@pytest.mark.req("V2-STATE-09", "V2-STATE-12")
@pytest.mark.parametrize(
    ("background", "read"),
    [
        ([], []),
        ([{"type": "_cron"}], [Other.of("_cron", {"type": "_cron"})]),
        ([{"type": "terminal", "terminalId": "t"}, {"type": "tool_call"}], UNSET),
        ("none", UNSET),
        (None, None),
    ],
)
def test_a_list_of_background_work_counts_whole_or_not_at_all(background: Any, read: Any) -> None:
    assert update("state_update", state="running", background=background).background == read


@pytest.mark.req("V2-STATE-01")
def test_a_state_from_the_future_is_kept() -> None:
    assert update("state_update", state="_dreaming").state == "_dreaming"


# Sessions


@pytest.mark.req("V2-SETUP-03")
@pytest.mark.parametrize("wanted", [v2.NewSessionResponse, v2.ForkSessionResponse])
def test_null_options_and_commands_read_as_none_given_and_are_never_written(wanted: Any) -> None:
    answer = decode(wanted, {"sessionId": "s", "configOptions": None, "availableCommands": None})
    assert encode(answer) == {"sessionId": "s"}


@pytest.mark.req("V2-SETUP-01", "V2-SETUP-07")
def test_a_new_session_needs_a_directory_alone_and_names_no_further_ones_uninvited() -> None:
    null = {"cwd": "/p", "mcpServers": None, "additionalDirectories": None}
    assert decode(v2.NewSessionRequest, null) == decode(v2.NewSessionRequest, {"cwd": "/p"})
    assert encode(v2.NewSessionRequest(cwd="/p")) == {"cwd": "/p", "mcpServers": []}


@pytest.mark.req("V2-SETUP-08", "V2-MCP-01")
@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"additionalDirectories": ["/a", 5]}, r"additionalDirectories\[1\]"),
        ({"mcpServers": [{"type": "stdio", "name": "x"}]}, r"mcpServers\[0\]\.command"),
        ({"mcpServers": [{"name": "x", "command": "/x"}]}, r"mcpServers\[0\]\.type"),
        (
            {"mcpServers": [{"type": "http", "name": "x", "url": "https://x", "headers": 1}]},
            r"mcpServers\[0\]\.headers",
        ),
        ({"systemPrompt": {"mode": "append", "content": [{"type": "text"}]}}, r"systemPrompt\.content\[0\]\.text"),
    ],
)
def test_a_session_is_not_begun_with_less_than_was_asked_for(data: dict[str, Any], where: str) -> None:
    with pytest.raises(Unreadable, match=f"^{where} is "):
        decode(v2.NewSessionRequest, {"cwd": "/p", **data})


@pytest.mark.req("V2-RESUME-07", "V2-RESUME-08")
def test_a_place_to_replay_from_is_known_kept_or_refused_but_never_guessed() -> None:
    def place(value: Any) -> Any:
        return decode(v2.ResumeSessionRequest, {"sessionId": "s", "cwd": "/p", "replayFrom": value}).replay_from

    assert place({"type": "start"}) == v2.ReplayFromStart()
    assert place({"type": "_message", "id": 3}) == Other.of("_message", {"type": "_message", "id": 3})
    assert place(None) is None
    for bad in ({}, {"type": None}, "start", 0):
        with pytest.raises(Unreadable, match=r"^replayFrom"):
            place(bad)


@pytest.mark.req("V2-LIST-03", "V2-LIST-04")
def test_a_list_drops_invalid_sessions_and_invalid_times() -> None:
    def info(**data: Any) -> dict[str, Any]:
        return {"sessionId": "s", "cwd": "/p", **data}

    answer = decode(
        v2.ListSessionsResponse,
        {"sessions": [info(updatedAt="yesterday"), {"sessionId": "s"}, info(updatedAt="2026-11-15T20:16:00+01:00")]},
    )
    assert [session.updated_at for session in answer.sessions] == [UNSET, "2026-11-15T20:16:00+01:00"]
    assert decode(v2.ListSessionsResponse, {"sessions": "none", "nextCursor": ""}).next_cursor == ""
    with pytest.raises(Unreadable, match="sessions is missing"):
        decode(v2.ListSessionsResponse, {})
    with pytest.raises(Unreadable, match="nextCursor"):
        decode(v2.ListSessionsResponse, {"sessions": [], "nextCursor": 5})


@pytest.mark.req("V2-INIT-14", "V2-INIT-15")
def test_a_capability_is_an_object_and_anything_else_is_none() -> None:
    def delete(value: Any) -> Any:
        return decode(v2.AgentCapabilities, {"session": {"delete": value, "_mine": 1}}).session.delete

    assert delete({}) == v2.SessionDeleteCapabilities()
    assert not any(isinstance(delete(value), v2.SessionDeleteCapabilities) for value in (None, True, [], "yes"))
    info = {"name": "a", "version": "1"}
    for bad in (None, [], "all"):
        answer = decode(v2.InitializeResponse, {"protocolVersion": 2, "info": info, "capabilities": bad})
        assert answer.capabilities == v2.AgentCapabilities()


# Questions to the user


@pytest.mark.req("V2-PERM-01")
@pytest.mark.parametrize(
    "options", [[], [OPTION, {"optionId": "no"}], None, [{**OPTION, "kind": 5}]], ids=["none", "bad", "null", "kind"]
)
def test_a_permission_request_needs_options_and_every_one_of_them(options: Any) -> None:
    with pytest.raises(Unreadable, match=r"^options"):
        decode(v2.RequestPermissionRequest, {"sessionId": "s", "title": "May I?", "options": options})


@pytest.mark.req("V2-PERM-06", "V2-PERM-11")
def test_a_permission_request_keeps_what_it_is_about_and_kinds_it_does_not_know() -> None:
    data = {
        "sessionId": "s",
        "title": "t",
        "subject": {"type": "_net", "host": "x"},
        "options": [{**OPTION, "kind": "_x"}],
    }
    assert encode(decode(v2.RequestPermissionRequest, data)) == data
    with pytest.raises(Unreadable, match=r"^subject\.cwd is missing"):
        decode(v2.RequestPermissionRequest, {**data, "subject": {"type": "command", "command": "make"}})


@pytest.mark.req("V2-ELIC-03")
@pytest.mark.parametrize(
    "scope", [{}, {"sessionId": "s", "requestId": 1}, {"sessionId": None}, {"sessionId": None, "requestId": 1}]
)
@pytest.mark.parametrize("mode", [FORM, {"mode": "_voice", "message": "Who?"}], ids=["form", "unknown"])
def test_a_question_belongs_to_a_session_or_to_a_request(mode: dict[str, Any], scope: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        decode(v2.CreateElicitationRequest, {**mode, **scope})
    assert decode(v2.CreateElicitationRequest, {**mode, "requestId": 7})
    assert decode(v2.CreateElicitationRequest, {**mode, "sessionId": "s"})


def test_our_own_question_cannot_go_without_a_scope() -> None:
    with pytest.raises(ValueError, match="exactly one of sessionId and requestId"):
        v2.ElicitationUrlMode(message="m", elicitation_id="e", url="https://x")


@pytest.mark.req("V2-ELIC-02", "V2-ELIC-04")
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {}},
        {"type": "object"},
        {"type": "array", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": []}}},
        {"type": "object", "properties": {"a": {"type": "string", "oneOf": []}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "enum": []}}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": []}}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ["x"]}}}},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": -1}}},
    ],
)
def test_a_form_that_cannot_be_filled_in_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(Unreadable, match=r"^requestedSchema"):
        decode(v2.CreateElicitationRequest, {**FORM, "sessionId": "s", "requestedSchema": schema})


@pytest.mark.req("V2-ELIC-05", "V2-SDK-03")
def test_a_form_keeps_formats_fields_and_choices_it_does_not_know() -> None:
    properties = {
        "address": {"type": "string", "format": "ipv4"},
        "color": {"type": "_color", "space": "rgb"},
        "several": {"type": "array", "items": {"type": "_tree", "root": {}}},
        "named": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
    }
    form = {**FORM, "sessionId": "s", "requestedSchema": {"type": "object", "properties": properties}}
    assert encode(decode(v2.CreateElicitationRequest, form)) == form


@pytest.mark.req("V2-ELIC-08")
def test_an_unknown_action_is_not_acceptance() -> None:
    assert decode(v2.CreateElicitationResponse, {"action": "_later"}) == Other.of("_later", {"action": "_later"})
    accepted = decode(v2.CreateElicitationResponse, {"action": "accept", "content": {"point": {"x": [1]}}})
    assert accepted.content == {"point": {"x": [1]}}


def test_an_unknown_outcome_is_not_approval() -> None:
    outcome = {"outcome": "_maybe", "optionId": "yes"}
    assert decode(v2.RequestPermissionResponse, {"outcome": outcome}).outcome == Other.of("_maybe", outcome)


# The vocabulary


@pytest.mark.req("V2-SDK-01")
def test_every_method_has_types_of_this_version_and_no_others() -> None:
    from accord.schema import v1

    for method in v2.METHODS.values():
        for wanted in (method.params, method.result):
            assert not getattr(wanted, "__module__", "").startswith("accord.schema.v1"), method
    assert set(v2.NOTIFICATIONS) | set(v2.REQUESTS) == set(v2.METHODS)
    assert v1.ToolCallUpdate is not v2.ToolCallUpdate


def test_every_name_of_the_vocabulary_says_what_it_does() -> None:
    classes = [
        each for each in vars(v2).values() if isinstance(each, type) and each.__module__.startswith("accord.schema.v2")
    ]
    assert [cls.__name__ for cls in classes if not cls.__doc__] == []
    assert all(hasattr(v2, name) for name in v2.__all__)


# States


@pytest.mark.req("V2-SCH-082", "V2-SCH-142")
@pytest.mark.parametrize("state", ["running", "requires_action", "unknown"])
@pytest.mark.parametrize("name, value", [("stop_reason", "end_turn"), ("error", {}), ("usage", {})])
def test_only_an_idle_session_can_report_a_result(state: str, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} belongs to the state 'idle', not to '{state}'"):
        v2.StateUpdate(state=state, **{name: value})


@pytest.mark.parametrize("state", ["running", "requires_action", "unknown"])
def test_a_result_in_another_state_is_ignored_like_any_unknown_key(state: str) -> None:
    told = update("state_update", state=state, stopReason="end_turn", usage=5, background=[])

    assert told == v2.StateUpdate(state=state, background=[])


def test_a_state_of_the_agents_own_keeps_its_result() -> None:
    assert update("state_update", state="_paused", stopReason="_tired").stop_reason == "_tired"


@pytest.mark.parametrize(
    "data, state",
    [
        ({"state": "running", "stopReason": "end_turn"}, v2.RunningStateUpdate()),
        ({"state": "idle", "stopReason": "error", "error": {"code": 1, "message": "x"}}, None),
        ({"state": "requires_action", "background": []}, v2.RequiresActionStateUpdate(background=[])),
        ({"state": "unknown"}, v2.UnknownStateUpdate()),
        ({"state": "_mine", "more": 1}, Other.of("_mine", {"state": "_mine", "more": 1})),
    ],
)
def test_the_state_of_a_subagent_is_a_class_for_each_state(data: dict[str, Any], state: Any) -> None:
    state = state or v2.IdleStateUpdate(stop_reason="error", error=v2.Error(code=1, message="x"))

    assert update("subagent_update", sessionId="c", state=data).state == state


def test_a_question_says_what_it_belongs_to() -> None:
    of_session = decode(v2.CreateElicitationRequest, {**FORM, "sessionId": "s", "toolCallId": "t"})
    of_request = decode(v2.CreateElicitationRequest, {**FORM, "requestId": 7})

    assert of_session.scope == v2.ElicitationSessionScope(session_id="s", tool_call_id="t")
    assert of_request.scope == v2.ElicitationRequestScope(request_id=7)
