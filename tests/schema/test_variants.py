"""Variants of unions: known, unknown, untagged and invalid ones."""

from __future__ import annotations

from typing import Any

import pytest
from schema.decoding import decode, encode

from accord.schema import v1
from accord.schema.repair import Unreadable
from accord.schema.shape import Other

TEXT = {"type": "text", "text": "hi"}
ENTRY = {"content": "look", "priority": "high", "status": "pending"}
BOOLEAN = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True}
CHOICE = {"value": "a", "name": "A"}
VARIABLE = {"name": "HOME", "value": "/root"}
PROPERTY = {"type": "string", "title": "Name"}


@pytest.mark.req("V1-UPD-12")
@pytest.mark.parametrize(
    "wanted, data, where",
    [
        (v1.SessionUpdate, {"sessionUpdate": "plan"}, "entries"),
        (v1.SessionUpdate, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}, "content.text"),
        (v1.ElicitationPropertySchema, {"type": "string", "minLength": "x"}, "minLength"),
        (v1.CreateElicitationResponse, {"action": "accept", "content": 1}, "content"),
    ],
)
def test_a_known_variant_that_is_bad_never_passes_for_an_unknown_one(wanted: Any, data: Any, where: str) -> None:
    with pytest.raises(Unreadable, match=f"^{where} is "):
        decode(wanted, data)


@pytest.mark.req("V1-ELIC-08", "V1-UPD-12")
@pytest.mark.parametrize(
    "wanted, tag_field, rest",
    [
        (v1.SessionUpdate, "sessionUpdate", {}),
        (v1.CreateElicitationRequest, "mode", {"message": "Well?", "sessionId": "s"}),
        (v1.CreateElicitationResponse, "action", {}),
        (v1.ElicitationPropertySchema, "type", {}),
        (v1.MultiSelectItems, "type", {"anyOf": []}),
        (v1.StateUpdate, "state", {}),
    ],
)
def test_a_variant_from_the_future_is_kept_whole(wanted: Any, tag_field: str, rest: Any) -> None:
    data = {tag_field: "_later", "deep": {"er": [1, None, "x"]}, **rest, "title": 5}

    message = decode(wanted, data)

    assert message == Other.of("_later", data)
    assert encode(message) == data


def test_a_variant_from_the_future_inside_a_message_goes_out_as_it_came() -> None:
    schema = {"type": "object", "properties": {"when": {"type": "_date", "from": 1.5}, "who": PROPERTY}}

    form = decode(v1.ElicitationSchema, schema)

    assert form.properties["when"] == Other.of("_date", {"type": "_date", "from": 1.5})
    assert encode(form) == schema


@pytest.mark.req("V1-NOTICE-05", "V1-NOTICE-13", "V1-PROV-09", "V1-CONF-07")
@pytest.mark.parametrize(
    "wanted, data, key",
    [
        (v1.Notice, {"severity": "_shout", "title": "Hey"}, "severity"),
        (v1.CompactionUpdate, {"compactionId": "c", "status": "_later"}, "status"),
        (v1.ProviderCurrentConfig, {"apiType": "_own", "baseUrl": "http://x"}, "apiType"),
        (v1.SessionConfigBoolean, {**BOOLEAN, "category": "_own"}, "category"),
        (v1.AuthStatusResponse, {"state": "_half"}, "state"),
        (v1.SessionStatusResponse, {"status": "_frozen"}, "status"),
        (v1.SystemPrompt, {"mode": "_mix", "content": []}, "mode"),
        (v1.IdleStateUpdate, {"stopReason": "_bored"}, "stopReason"),
        (v1.PromptResponse, {"stopReason": "bored"}, "stopReason"),
        (v1.PermissionOption, {"optionId": "y", "name": "Yes", "kind": "allow"}, "kind"),
    ],
)
def test_a_word_from_the_future_is_kept_where_words_are_open(wanted: Any, data: Any, key: str) -> None:
    assert encode(decode(wanted, data))[key] == data[key]


@pytest.mark.parametrize(
    "wanted, data, complaint",
    [
        (v1.PlanEntry, {**ENTRY, "priority": "top"}, "priority is 'top'; it may be high, medium or low"),
        (
            v1.RequestPermissionResponse,
            {"outcome": {"outcome": "maybe"}},
            "outcome.outcome is 'maybe'; it may be cancelled or selected",
        ),
        (
            v1.NewSessionRequest,
            {"cwd": "/", "mcpServers": [{"type": "pigeon", "name": "x", "command": "/x"}]},
            "mcpServers[0].type is 'pigeon'; it may be http, sse, acp or stdio",
        ),
        (v1.SessionUpdate, {"content": TEXT}, "sessionUpdate is missing; it may be user_message_chunk, "),
        (v1.SessionUpdate, {"sessionUpdate": 5}, "sessionUpdate is a number, not a string; it may be "),
    ],
)
def test_a_word_or_variant_from_the_future_is_refused_where_they_are_closed(
    wanted: Any, data: Any, complaint: str
) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(wanted, data)

    assert str(caught.value).startswith(complaint)


def test_a_tool_status_that_only_later_versions_have_counts_as_absent() -> None:
    update = decode(v1.SessionUpdate, {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "cancelled"})

    assert update == v1.ToolCallUpdate(tool_call_id="t")


@pytest.mark.req("V1-MCP-02")
def test_an_mcp_server_without_a_type_is_started() -> None:
    data = {"name": "x", "command": "/x", "args": ["-v"], "env": [VARIABLE]}

    request = decode(
        v1.NewSessionRequest, {"cwd": "/", "mcpServers": [data, {"type": "acp", "name": "y", "serverId": "1"}]}
    )

    assert request.mcp_servers == [
        v1.McpServerStdio(name="x", command="/x", args=["-v"], env=[v1.EnvVariable(name="HOME", value="/root")]),
        v1.McpServerAcp(name="y", server_id="1"),
    ]
    assert encode(request)["mcpServers"][0] == data


@pytest.mark.req("V1-AUTH-02", "V1-AUTH-03")
@pytest.mark.parametrize("more", [{}, {"type": "agent"}, {"type": "env_var", "vars": []}, {"type": None}])
def test_an_auth_method_of_no_known_type_is_the_agents_own(more: Any) -> None:
    answer = decode(v1.InitializeResponse, {"protocolVersion": 1, "authMethods": [{"id": "k", "name": "Key", **more}]})

    assert answer.auth_methods == [v1.AuthMethodAgent(id="k", name="Key")]


def test_a_bad_terminal_login_is_dropped_and_never_taken_for_the_agents_own() -> None:
    methods = [{"type": "terminal", "id": "t", "name": "Term", "args": 5}, {"type": "terminal", "id": "u", "name": "U"}]

    answer = decode(v1.InitializeResponse, {"protocolVersion": 1, "authMethods": methods})

    assert answer.auth_methods == [v1.AuthMethodTerminal(id="u", name="U")]


def test_a_stop_reason_of_another_type_counts_as_absent() -> None:
    state = decode(v1.StateUpdate, {"state": "idle", "stopReason": 5, "error": {"code": "x"}})

    assert state == v1.IdleStateUpdate()


@pytest.mark.req("V1-CONF-13")
@pytest.mark.parametrize(
    "data, choice",
    [
        ({"type": "boolean", "value": True}, v1.SetSessionConfigBoolean(session_id="s", config_id="c", value=True)),
        ({"value": "a"}, v1.SetSessionConfigId(session_id="s", config_id="c", value="a")),
        ({"type": "id", "value": "a"}, v1.SetSessionConfigId(session_id="s", config_id="c", value="a")),
    ],
)
def test_an_option_is_boolean_only_with_that_type(data: Any, choice: Any) -> None:
    assert decode(v1.SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", **data}) == choice


@pytest.mark.parametrize("data", [{"value": True}, {"type": "boolean", "value": "yes"}, {"type": "id", "value": True}])
def test_a_choice_whose_value_does_not_fit_its_type_is_refused(data: Any) -> None:
    with pytest.raises(Unreadable, match=r"^value is "):
        decode(v1.SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", **data})


def test_the_values_of_a_list_may_be_grouped() -> None:
    select = {"type": "select", "id": "m", "name": "Model", "currentValue": "a"}
    group = {"group": "g", "name": "G", "options": [CHOICE]}

    grouped = decode(v1.SessionConfigOption, {**select, "options": [group]})

    assert grouped.options == [
        v1.SessionConfigSelectGroup(group="g", name="G", options=[v1.SessionConfigSelectOption(value="a", name="A")])
    ]
    assert decode(v1.SessionConfigOption, {**select, "options": [CHOICE]}).options == [
        v1.SessionConfigSelectOption(value="a", name="A")
    ]


def test_a_resource_is_text_or_bytes() -> None:
    block = decode(v1.ContentBlock, {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}})

    assert block == v1.EmbeddedResource(resource=v1.BlobResourceContents(uri="file:///a", blob="AA=="))


@pytest.mark.req("V1-MCPACP-04")
def test_an_mcp_answer_with_both_is_its_result() -> None:
    error = {"code": -1, "message": "no"}

    assert decode(v1.MessageMcpResponse, {"result": None, "error": error}) == v1.MessageMcpResult(result=None)
    assert decode(v1.MessageMcpResponse, {"error": error}) == v1.MessageMcpError(
        error=v1.McpError(code=-1, message="no")
    )


def test_a_question_says_what_it_belongs_to() -> None:
    form = {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object"}}
    of_session = decode(v1.CreateElicitationRequest, {**form, "sessionId": "s", "toolCallId": "t"})
    of_request = decode(v1.CreateElicitationRequest, {**form, "requestId": 7})

    assert of_session.scope == v1.ElicitationSessionScope(session_id="s", tool_call_id="t")
    assert of_request.scope == v1.ElicitationRequestScope(request_id=7)
