"""The formats of early agents and clients are read, and never written."""

from __future__ import annotations

from typing import Any

import pytest
from schema.decoding import decode, encode

from accord.codec import from_wire
from accord.model.tool import Location
from accord.schema import v1
from accord.schema.repair import Unreadable
from accord.schema.shape import UNSET

ENTRY = {"content": "look", "priority": "high", "status": "pending"}


@pytest.mark.req("V1-MODE-07", "V1-MODE-06")
def test_the_current_mode_may_be_called_mode_id() -> None:
    update = decode(v1.SessionUpdate, {"sessionUpdate": "current_mode_update", "modeId": "ask"})

    assert encode(update) == {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}


def test_the_present_name_wins_over_the_older_one() -> None:
    both = {"sessionUpdate": "current_mode_update", "modeId": "a", "currentModeId": "b"}

    assert decode(v1.SessionUpdate, both) == v1.CurrentModeUpdate(current_mode_id="b")
    assert decode(v1.SessionUpdate, {**both, "_meta": "bad"}) == v1.CurrentModeUpdate(current_mode_id="b")


def test_mcp_capabilities_may_be_called_mcp() -> None:
    answer = decode(v1.InitializeResponse, {"protocolVersion": 1, "agentCapabilities": {"mcp": {"http": True}}})

    assert answer.agent_capabilities.mcp_capabilities == v1.McpCapabilities(http=True)
    assert "mcp" not in encode(answer)["agentCapabilities"]


@pytest.mark.parametrize(
    "capabilities, http",
    [
        ({"mcp": {"http": True}, "mcpCapabilities": {}}, False),
        ({"mcp": {"http": True}, "mcpCapabilities": {"http": False}}, False),
        ({"mcp": {}, "mcpCapabilities": {"http": True}}, True),
        ({"mcp": {"http": True}, "loadSession": "bad"}, True),
        ({"mcp": None}, False),
        ({"mcp": 5}, False),
    ],
)
def test_mcp_is_read_only_where_mcp_capabilities_are_missing(capabilities: Any, http: bool) -> None:
    found = decode(v1.AgentCapabilities, capabilities)

    assert found.mcp_capabilities == v1.McpCapabilities(http=http)
    assert found.mcp is UNSET


def test_capabilities_of_our_own_share_nothing() -> None:
    one, other = v1.AgentCapabilities(), v1.AgentCapabilities()
    one.mcp_capabilities.http = True

    assert other.mcp_capabilities == v1.McpCapabilities()


@pytest.mark.parametrize("kind", ["text", "image", "audio", "resource", "resource_link"])
def test_a_bare_block_among_tool_content_is_wrapped(kind: str) -> None:
    blocks: dict[str, dict[str, Any]] = {
        "text": {"text": "hi"},
        "image": {"data": "AA==", "mimeType": "image/png"},
        "audio": {"data": "AA==", "mimeType": "audio/wav"},
        "resource": {"resource": {"uri": "file:///a", "text": "a"}},
        "resource_link": {"uri": "file:///a", "name": "a"},
    }
    block = {"type": kind, **blocks[kind]}

    request = decode(
        v1.RequestPermissionRequest,
        {"sessionId": "s", "toolCall": {"toolCallId": "t", "content": [block]}, "options": []},
    )
    call = decode(v1.SessionUpdate, {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "content": [block]})
    update = decode(v1.SessionUpdate, {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [block]})

    wrapped = [{"type": "content", "content": block}]
    assert encode(request.tool_call)["content"] == wrapped
    assert encode(call)["content"] == wrapped
    assert encode(update)["content"] == wrapped


@pytest.mark.req("V1-MCP-03", "V1-SETUP-04")
def test_lists_that_must_be_there_may_be_missing_and_are_always_written() -> None:
    stdio = {"name": "x", "command": "/x"}

    new = decode(v1.NewSessionRequest, {"cwd": "/", "mcpServers": [stdio, {"type": "http", "name": "y", "url": "u"}]})

    assert encode(new)["mcpServers"] == [
        {**stdio, "args": [], "env": []},
        {"type": "http", "name": "y", "url": "u", "headers": []},
    ]
    assert encode(decode(v1.NewSessionRequest, {"cwd": "/"})) == {"cwd": "/", "mcpServers": []}
    assert encode(decode(v1.LoadSessionRequest, {"cwd": "/", "sessionId": "s"}))["mcpServers"] == []


@pytest.mark.req("V1-SETUP-13")
@pytest.mark.parametrize("wanted", [v1.LoadSessionRequest, v1.ResumeSessionRequest, v1.ForkSessionRequest])
def test_further_directories_are_written_only_when_there_are_any(wanted: Any) -> None:
    assert encode(wanted(cwd="/", session_id="s")) == {"cwd": "/", "sessionId": "s", "mcpServers": []}
    assert encode(wanted(cwd="/", session_id="s", additional_directories=["/a"]))["additionalDirectories"] == ["/a"]


@pytest.mark.req("V1-MODEL-01")
@pytest.mark.parametrize(
    "wanted, rest",
    [
        (v1.NewSessionResponse, {"sessionId": "s"}),
        (v1.LoadSessionResponse, {}),
        (v1.ResumeSessionResponse, {}),
        (v1.ForkSessionResponse, {"sessionId": "s"}),
    ],
)
def test_the_models_of_early_agents_are_read(wanted: Any, rest: Any) -> None:
    models = {"currentModelId": "a", "availableModels": [{"modelId": "a", "name": "A"}, {"name": "nameless"}]}

    answer = decode(wanted, {**rest, "models": models})

    assert answer.models == v1.SessionModelState(
        current_model_id="a", available_models=[v1.ModelInfo(model_id="a", name="A")]
    )


def test_line_0_is_written_as_it_was_given() -> None:
    """Its meaning is up to the reader: the neutral API has it as the first line, or as none."""
    assert encode(v1.ReadTextFileRequest(session_id="s", path="/a", line=0)) == {
        "sessionId": "s",
        "path": "/a",
        "line": 0,
    }
    assert encode(v1.ToolCallLocation(path="/a", line=0)) == {"path": "/a", "line": 0}


@pytest.mark.req("V1-TOOL-16")
def test_line_0_of_a_location_means_no_line() -> None:
    place = decode(v1.ToolCallLocation, {"path": "/a", "line": 0})

    assert from_wire.location(place) == Location(path="/a")


@pytest.mark.parametrize("code", [-1, 2**32, "1", 1.5])
def test_an_exit_code_out_of_range_is_none(code: Any) -> None:
    for wanted in (v1.TerminalExitStatus, v1.WaitForTerminalExitResponse):
        assert decode(wanted, {"exitCode": code, "signal": "SIGTERM"}) == wanted(signal="SIGTERM")


@pytest.mark.req("V1-PLAN-09")
@pytest.mark.parametrize(
    "plan",
    [
        {"type": "items", "entries": [ENTRY]},
        {"type": "markdown", "content": "# Plan"},
        {"type": "file", "uri": "file:///plan.md"},
    ],
)
def test_a_plan_may_call_its_plan_id_id(plan: Any) -> None:
    update = decode(v1.SessionUpdate, {"sessionUpdate": "plan_update", "plan": {**plan, "id": "p"}})

    assert encode(update) == {"sessionUpdate": "plan_update", "plan": {**plan, "planId": "p"}}
    with pytest.raises(Unreadable, match=r"^plan\.planId is missing$"):
        decode(v1.SessionUpdate, {"sessionUpdate": "plan_update", "plan": plan})


def test_a_removed_plan_may_call_its_plan_id_id() -> None:
    assert decode(v1.SessionUpdate, {"sessionUpdate": "plan_removed", "id": "p"}) == v1.PlanRemoved(plan_id="p")


@pytest.mark.parametrize("flag, state", [(True, "authenticated"), (False, "unauthenticated")])
def test_the_auth_state_may_be_a_flag(flag: bool, state: str) -> None:
    for wanted in (v1.AuthStatusResponse, v1.AuthStatusUpdateNotification):
        assert decode(wanted, {"authenticated": flag, "message": "well"}) == wanted(state=state)


def test_the_auth_status_capability_may_be_a_flag() -> None:
    found = decode(v1.AgentCapabilities, {"auth": {"status": True, "logout": {}}})

    assert found.auth == v1.AgentAuthCapabilities(status=v1.AuthStatusCapabilities(), logout=v1.LogoutCapabilities())
    assert decode(v1.AgentAuthCapabilities, {"status": False}).status is UNSET


def test_a_negative_size_says_nothing() -> None:
    link = {"type": "resource_link", "name": "a", "uri": "file:///a"}

    assert encode(decode(v1.ContentBlock, {**link, "size": -1})) == link


@pytest.mark.req("V1-ELIC-06")
def test_a_form_without_type_and_properties_has_no_fields() -> None:
    assert encode(decode(v1.ElicitationSchema, {})) == {"type": "object", "properties": {}}


def test_an_unknown_text_format_is_preserved() -> None:
    field = {"type": "string", "format": "phone"}

    assert encode(decode(v1.ElicitationPropertySchema, field)) == field


def test_options_and_groups_may_use_the_names_of_the_next_version() -> None:
    option = {
        "type": "select",
        "configId": "model",
        "name": "Model",
        "currentValue": "a",
        "options": [{"groupId": "fast", "options": [{"value": "a", "name": "A"}]}],
    }

    found = decode(v1.SessionConfigOption, option)

    assert encode(found) == {
        "type": "select",
        "id": "model",
        "name": "Model",
        "currentValue": "a",
        "options": [{"group": "fast", "name": "fast", "options": [{"value": "a", "name": "A"}]}],
    }
