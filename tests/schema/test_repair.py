"""Lenient decoding repairs what the specification allows, and nothing more. Literals in, types out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from schema.decoding import decode, encode

from accord.schema import v1
from accord.schema.repair import Unreadable, read
from accord.schema.shape import UNSET

TEXT = {"type": "text", "text": "hi"}
ENTRY = {"content": "look", "priority": "high", "status": "pending"}
COMMAND = {"name": "test", "description": "Runs the tests"}
BOOLEAN = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True}
MODE = {"id": "ask", "name": "Ask"}
SESSION = {"sessionId": "s", "cwd": "/project"}
CHOICE = {"value": "a", "name": "A"}
CALL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read"}


# A bad optional field counts as absent (L-01)


@pytest.mark.req("V1-CONTENT-09")
def test_a_bad_optional_field_counts_as_absent() -> None:
    block = decode(v1.TextContent, {**TEXT, "annotations": {"priority": "x", "lastModified": "today"}})

    assert block == v1.TextContent(text="hi", annotations=v1.Annotations(last_modified="today"))


def test_an_optional_object_of_another_type_counts_as_absent() -> None:
    assert decode(v1.TextContent, {**TEXT, "annotations": [1]}) == v1.TextContent(text="hi")


def test_a_bad_optional_field_with_a_default_takes_the_default() -> None:
    call = decode(v1.ToolCall, {**CALL, "kind": "juggle", "status": 7, "content": "x", "locations": None})

    assert call == v1.ToolCall(tool_call_id="t", title="Read", kind="other", status="pending")


def test_a_bad_field_of_a_patch_leaves_things_as_they_were() -> None:
    patch = decode(v1.ToolCallPatch, {"toolCallId": "t", "title": 5, "status": "cancelled", "content": {}})

    assert patch == v1.ToolCallPatch(tool_call_id="t")


@pytest.mark.req("V1-INIT-20")
def test_a_bad_capability_does_not_fail_initialize() -> None:
    request = decode(
        v1.InitializeRequest,
        {
            "protocolVersion": 1,
            "clientCapabilities": {"terminal": "yes", "fs": {"readTextFile": True, "writeTextFile": 1}},
        },
    )

    assert request.client_capabilities.terminal is False
    assert request.client_capabilities.fs == v1.FileSystemCapabilities(read_text_file=True)


@pytest.mark.req("V1-INIT-20")
def test_capabilities_of_another_type_become_the_defaults() -> None:
    answer = decode(v1.InitializeResponse, {"protocolVersion": 1, "agentCapabilities": "all", "authMethods": 3})

    assert answer == v1.InitializeResponse(protocol_version=1)


@pytest.mark.req("V1-USAGE-06")
def test_a_bad_cost_leaves_the_usage_standing() -> None:
    update = {"sessionUpdate": "usage_update", "used": 1, "size": 2}

    assert decode(v1.SessionUpdate, {**update, "cost": {"amount": 1}}) == v1.UsageUpdate(used=1, size=2)


@pytest.mark.req("V1-USAGE-06")
def test_usage_without_numbers_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"^size is missing$"):
        decode(v1.SessionUpdate, {"sessionUpdate": "usage_update", "used": 1})


@pytest.mark.req("V1-EXT-01")
@pytest.mark.parametrize("meta", [5, "x", [], True])
def test_a_meta_of_another_type_counts_as_absent(meta: Any) -> None:
    assert decode(v1.TextContent, {**TEXT, "_meta": meta}).meta is UNSET


# A required field that may be emptied (L-02)


@pytest.mark.parametrize(
    "wanted, key, rest",
    [
        (v1.Plan, "entries", {}),
        (v1.PlanItems, "entries", {"planId": "p"}),
        (v1.AvailableCommandsUpdate, "availableCommands", {}),
        (v1.ConfigOptionUpdate, "configOptions", {}),
        (v1.SetSessionConfigOptionResponse, "configOptions", {}),
        (v1.ListSessionsResponse, "sessions", {}),
        (v1.SessionModeState, "availableModes", {"currentModeId": "ask"}),
        (v1.SessionModelState, "availableModels", {"currentModelId": "m"}),
        (v1.SessionConfigSelectGroup, "options", {"group": "g", "name": "G"}),
        (v1.ProviderInfo, "supported", {"providerId": "main", "required": True}),
    ],
)
def test_some_required_lists_are_emptied_when_bad_but_not_when_missing(
    wanted: Any, key: str, rest: dict[str, Any]
) -> None:
    assert encode(decode(wanted, {**rest, key: "nonsense"}))[key] == []
    assert encode(decode(wanted, {**rest, key: None}))[key] == []
    with pytest.raises(Unreadable, match=f"^{key} is missing$"):
        decode(wanted, rest)


# Lists that lose their bad items (L-03)


@pytest.mark.parametrize(
    "wanted, key, rest, good, bad",
    [
        pytest.param(
            v1.Annotations, "audience", {}, "user", "everyone", marks=pytest.mark.req("V1-CONTENT-09"), id="audience"
        ),
        pytest.param(
            v1.ToolCall,
            "content",
            {"toolCallId": "t", "title": "Read"},
            {"type": "terminal", "terminalId": "x"},
            {"type": "diff", "path": "/a"},
            marks=pytest.mark.req("V1-TOOL-17"),
            id="content",
        ),
        pytest.param(
            v1.ToolCallPatch,
            "locations",
            {"toolCallId": "t"},
            {"path": "/a", "line": 3},
            {"line": 3},
            marks=pytest.mark.req("V1-TOOL-17"),
            id="locations",
        ),
        pytest.param(
            v1.Plan, "entries", {}, ENTRY, {**ENTRY, "priority": "top"}, marks=pytest.mark.req("V1-PLAN-07"), id="plan"
        ),
        pytest.param(v1.PlanItems, "entries", {"planId": "p"}, ENTRY, {**ENTRY, "status": 1}, id="plan items"),
        pytest.param(
            v1.AvailableCommandsUpdate,
            "availableCommands",
            {},
            COMMAND,
            {"name": "test"},
            marks=pytest.mark.req("V1-CMD-06"),
            id="commands",
        ),
        pytest.param(
            v1.NewSessionResponse,
            "configOptions",
            {"sessionId": "s"},
            BOOLEAN,
            {**BOOLEAN, "type": "slider"},
            marks=pytest.mark.req("V1-CONF-06"),
            id="config options",
        ),
        pytest.param(v1.ListSessionsResponse, "sessions", {}, SESSION, {"sessionId": "s"}, id="sessions"),
        pytest.param(v1.SessionModeState, "availableModes", {"currentModeId": "ask"}, MODE, {"id": "x"}, id="modes"),
        pytest.param(v1.SessionConfigSelectGroup, "options", {"group": "g", "name": "G"}, CHOICE, {}, id="choices"),
        pytest.param(
            v1.CompactionUpdate,
            "summary",
            {"compactionId": "c", "status": "completed"},
            TEXT,
            {"type": "text"},
            id="summary",
        ),
        pytest.param(v1.SessionMessage, "content", {"messageId": "m"}, TEXT, {"type": "text"}, id="session message"),
        pytest.param(v1.AuthStatusResponse, "accounts", {"state": "unknown"}, {"label": "me"}, {}, id="accounts"),
        pytest.param(
            v1.MultiSelectPropertySchema, "default", {"items": {"type": "string", "enum": ["a"]}}, "a", 1, id="default"
        ),
        pytest.param(
            v1.ProviderInfo, "supported", {"providerId": "p", "required": False}, "_own", 5, id="provider protocols"
        ),
        pytest.param(v1.SessionInfo, "additionalDirectories", SESSION, "/more", 5, id="reported directories"),
    ],
)
def test_a_bad_item_leaves_its_list_and_the_rest_stays_in_order(
    wanted: Any, key: str, rest: dict[str, Any], good: Any, bad: Any
) -> None:
    message = decode(wanted, {**rest, key: [good, bad, good]})

    assert message == decode(wanted, {**rest, key: [good, good]})
    assert len(encode(message)[key]) == 2


@pytest.mark.parametrize(
    "wanted, data, where",
    [
        (v1.PromptRequest, {"sessionId": "s", "prompt": [TEXT, {"type": "text"}]}, r"prompt\[1\].text"),
        (v1.NewSessionRequest, {"cwd": "/", "mcpServers": [{"name": "x"}]}, r"mcpServers\[0\].command"),
        (v1.NewSessionRequest, {"cwd": "/", "additionalDirectories": ["/a", None]}, r"additionalDirectories\[1\]"),
        (v1.McpServerStdio, {"name": "x", "command": "/x", "args": [1]}, r"args\[0\]"),
        (v1.McpServerStdio, {"name": "x", "command": "/x", "env": [{"name": "A"}]}, r"env\[0\].value"),
        (v1.McpServerHttp, {"name": "x", "url": "http://x", "headers": [{}]}, r"headers\[0\].name"),
        (v1.CreateTerminalRequest, {"sessionId": "s", "command": "ls", "args": "-l"}, "args"),
        (
            v1.RequestPermissionRequest,
            {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "y"}]},
            r"options\[0\].name",
        ),
        (v1.StringPropertySchema, {"enum": ["a", 1]}, r"enum\[1\]"),
        (v1.StringPropertySchema, {"oneOf": [{"const": "a"}]}, r"oneOf\[0\].title"),
        (v1.ElicitationSchema, {"required": [1]}, r"required\[0\]"),
        (v1.SystemPrompt, {"mode": "append", "content": [TEXT, 5]}, r"content\[1\]"),
        (v1.ListProvidersResponse, {"providers": [{"providerId": "p"}]}, r"providers\[0\].supported"),
    ],
)
def test_one_bad_item_of_any_other_list_fails_the_whole(wanted: Any, data: Any, where: str) -> None:
    with pytest.raises(Unreadable, match=f"^{where} "):
        decode(wanted, data)


# Null that means empty (L-04)


@pytest.mark.req("V1-MCP-04", "V1-SETUP-04", "V1-RESUME-02", "V1-TERM-04")
@pytest.mark.parametrize(
    "wanted, keys, rest",
    [
        (v1.McpServerStdio, ["args", "env"], {"name": "x", "command": "/x"}),
        (v1.McpServerHttp, ["headers"], {"name": "x", "url": "http://x"}),
        (v1.McpServerSse, ["headers"], {"name": "x", "url": "http://x"}),
        (v1.NewSessionRequest, ["mcpServers", "additionalDirectories"], {"cwd": "/"}),
        (v1.LoadSessionRequest, ["mcpServers", "additionalDirectories"], SESSION),
        (v1.ResumeSessionRequest, ["mcpServers", "additionalDirectories"], SESSION),
        (v1.ForkSessionRequest, ["mcpServers", "additionalDirectories"], SESSION),
        (v1.CreateTerminalRequest, ["args", "env"], {"sessionId": "s", "command": "ls"}),
        (v1.AuthMethodTerminal, ["args", "env"], {"id": "login", "name": "Log in"}),
    ],
)
def test_null_means_empty_where_it_may_and_so_does_a_missing_key(wanted: Any, keys: list[str], rest: Any) -> None:
    assert decode(wanted, {**rest, **dict.fromkeys(keys)}) == decode(wanted, rest)


# Strict fields (L-05)


@pytest.mark.parametrize(
    "wanted, rest, key, bad",
    [
        (v1.ReadTextFileRequest, {"sessionId": "s", "path": "/a"}, "line", "2"),
        (v1.ReadTextFileRequest, {"sessionId": "s", "path": "/a"}, "limit", -1),
        (v1.CreateTerminalRequest, {"sessionId": "s", "command": "ls"}, "cwd", 5),
        (v1.CreateTerminalRequest, {"sessionId": "s", "command": "ls"}, "outputByteLimit", 0.5),
        (v1.ListSessionsRequest, {}, "cwd", []),
        (v1.ListSessionsRequest, {}, "cursor", 5),
        (v1.ListSessionsRequest, {}, "archived", True),
        (v1.NewSessionRequest, {"cwd": "/"}, "systemPrompt", "be kind"),
        (v1.ProviderInfo, {"providerId": "p", "supported": [], "required": True}, "current", 5),
        (v1.StringPropertySchema, {}, "maxLength", "long"),
        (v1.IntegerPropertySchema, {}, "minimum", 1.5),
        (v1.NumberPropertySchema, {}, "maximum", "9"),
        (v1.ElicitationSchema, {}, "properties", None),
        (v1.ElicitationAcceptAction, {}, "content", 5),
        (v1.SubagentUpdate, {"sessionId": "s"}, "cwd", 5),
        (v1.SetProviderRequest, {"providerId": "p", "apiType": "openai", "baseUrl": "http://x"}, "headers", None),
    ],
)
def test_a_bad_value_of_a_strict_field_fails_the_message(wanted: Any, rest: Any, key: str, bad: Any) -> None:
    with pytest.raises(Unreadable, match=f"^{key} is "):
        decode(wanted, {**rest, key: bad})


# Unknown keys, numbers, scopes, three states, defaults (L-10, L-11, L-12, L-14, L-17)


@pytest.mark.req("V1-EXT-11", "V1-INIT-27")
def test_unknown_keys_are_ignored() -> None:
    assert decode(v1.TextContent, {**TEXT, "__proto__": {"a": 1}, "constructor": 5}) == v1.TextContent(text="hi")


@pytest.mark.parametrize("number", [1.0, 1])
def test_a_number_with_nothing_after_the_point_is_an_integer(number: Any) -> None:
    assert decode(v1.UsageUpdate, {"used": number, "size": 1e15}) == v1.UsageUpdate(used=1, size=10**15)


@pytest.mark.req("V1-INIT-03")
@pytest.mark.parametrize("number", [1.5, True, "1", None, -1, -1.0, 65536, 65536.0])
def test_an_integer_of_another_type_or_range_is_rejected(number: Any) -> None:
    with pytest.raises(Unreadable, match=r"^protocolVersion is "):
        decode(v1.InitializeRequest, {"protocolVersion": number})


@pytest.mark.req("V1-ELIC-05")
@pytest.mark.parametrize("mode", [{"mode": "url", "url": "http://x", "elicitationId": "e"}, {"mode": "_later"}])
@pytest.mark.parametrize(
    "scope", [{}, {"sessionId": "s", "requestId": 1}, {"sessionId": "s", "requestId": None}, {"sessionId": None}]
)
def test_a_question_belongs_to_a_session_or_to_a_request(mode: Any, scope: Any) -> None:
    with pytest.raises(Unreadable):
        decode(v1.CreateElicitationRequest, {**mode, "message": "Well?", **scope})


@pytest.mark.req("V1-ELIC-05")
@pytest.mark.parametrize("scope", [{"sessionId": "s", "toolCallId": "t"}, {"requestId": 0}, {"requestId": None}])
def test_a_question_with_one_scope_is_read_and_written_alike(scope: Any) -> None:
    data = {"mode": "url", "url": "http://x", "elicitationId": "e", "message": "Well?", **scope}

    assert encode(decode(v1.CreateElicitationRequest, data)) == data


def test_our_own_elicitation_needs_a_scope() -> None:
    with pytest.raises(ValueError, match="sessionId or a requestId"):
        v1.ElicitationFormMode(message="Well?", requested_schema=v1.ElicitationSchema())


@pytest.mark.req("V1-UPD-16")
@pytest.mark.parametrize("patch", [{}, {"title": None}, {"title": "New"}, {"title": None, "updatedAt": "now"}])
def test_the_three_states_of_a_field_survive(patch: Any) -> None:
    data = {"sessionUpdate": "session_info_update", **patch}

    assert encode(decode(v1.SessionUpdate, data)) == data


def test_the_three_states_survive_the_forgiving_reading() -> None:
    data = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": None, "kind": "juggle"}

    assert encode(decode(v1.SessionUpdate, data)) == {key: data[key] for key in data if key != "kind"}


@pytest.mark.req("V1-INIT-12", "V1-INIT-18")
def test_what_initialize_leaves_out_is_off() -> None:
    request, answer = (
        decode(wanted, {"protocolVersion": 1}) for wanted in (v1.InitializeRequest, v1.InitializeResponse)
    )

    assert encode(request.client_capabilities) == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "auth": {"terminal": False},
    }
    assert encode(answer.agent_capabilities) == {
        "loadSession": False,
        "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
        "mcpCapabilities": {"http": False, "sse": False, "acp": False},
        "sessionCapabilities": {},
        "auth": {},
    }
    assert answer.auth_methods == []


@pytest.mark.req("V1-INIT-19")
def test_a_marker_is_on_when_it_is_an_object() -> None:
    offered = decode(v1.SessionCapabilities, {"list": {}, "close": None, "fork": False})

    assert offered == v1.SessionCapabilities(list=v1.SessionListCapabilities(), close=None)


# Error messages (L-18)


@pytest.mark.parametrize(
    "wanted, data",
    [
        (v1.SetProviderRequest, {"providerId": "p", "apiType": "openai", "baseUrl": 5, "headers": {"key": "s3cret"}}),
        (
            v1.SetProviderRequest,
            {"providerId": "p", "apiType": "openai", "baseUrl": "u", "headers": {"key": ["s3cret"]}},
        ),
        (v1.McpServerStdio, {"name": "x", "command": ["s3cret"]}),
        (v1.McpServerStdio, {"name": "x", "command": "/x", "env": [{"name": "K", "value": {"a": "s3cret"}}]}),
        (v1.PromptRequest, {"sessionId": "s", "prompt": "s3cret"}),
        (v1.ReadTextFileRequest, {"sessionId": "s", "path": "/s3cret", "line": "s3cret"}),
    ],
)
def test_a_complaint_names_the_place_and_never_the_value(wanted: Any, data: Any) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(wanted, data)

    assert caught.value.where
    assert "s3cret" not in str(caught.value)


def test_the_invalid_value_is_quoted_but_truncated() -> None:
    with pytest.raises(Unreadable) as caught:
        decode(v1.ToolCallContent, {"type": "x" * 500})

    assert "'xxx" in str(caught.value)
    assert len(str(caught.value)) < 160


def test_data_nested_without_end_is_refused() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]

    with pytest.raises(Unreadable):
        read(v1.PromptRequest, {"sessionId": "s", "prompt": deep})


def test_the_strict_reading_takes_what_is_right_by_itself() -> None:
    text = b'{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}'

    assert msgspec.json.decode(text, type=v1.SessionNotification).update == v1.AgentMessageChunk(
        content=v1.TextContent(text="hi")
    )
