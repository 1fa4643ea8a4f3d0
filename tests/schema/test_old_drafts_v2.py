"""Older drafts of the second version are understood, and never written."""

from __future__ import annotations

from typing import Any

import pytest
from schema.decoding import decode, encode

from accord.schema import v2
from accord.schema.repair import Unreadable
from accord.schema.shape import UNSET, Other

OPTIONS = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]


def update(kind: str, /, **data: Any) -> Any:
    """An update of a session, as it comes."""
    return decode(v2.UpdateSessionNotification, {"sessionId": "s", "update": {"sessionUpdate": kind, **data}}).update


# Plans


@pytest.mark.req("V2-PLAN-02")
@pytest.mark.parametrize(
    "plan",
    [
        {"type": "items", "entries": []},
        {"type": "file", "uri": "file:///plan.md"},
        {"type": "markdown", "content": "# Plan"},
    ],
)
def test_a_plan_may_still_call_its_id_id_and_none_goes_without(plan: dict[str, Any]) -> None:
    told = update("plan_update", plan={**plan, "id": "p1"})
    assert told.plan.plan_id == "p1"
    assert encode(told)["plan"] == {**plan, "planId": "p1"}

    with pytest.raises(Unreadable, match=r"update\.plan\.planId is missing"):
        update("plan_update", plan=plan)


@pytest.mark.req("V2-PLAN-02")
def test_the_present_name_of_an_id_wins_over_the_old_one() -> None:
    told = update("plan_removed", planId="new", id="old")
    assert told.plan_id == "new"
    assert update("plan_removed", id="old").plan_id == "old"


@pytest.mark.req("V2-PLAN-02")
def test_a_plan_of_an_unknown_kind_is_kept_if_it_has_an_id() -> None:
    plan = {"type": "_graph", "planId": "p1", "nodes": [1, 2]}
    assert update("plan_update", plan=plan).plan == Other.of("_graph", plan)

    with pytest.raises(Unreadable, match=r"update\.plan\.planId is missing"):
        update("plan_update", plan={"type": "_graph"})


# Commands


@pytest.mark.req("V2-CMD-02")
def test_a_command_without_a_type_is_a_plain_command() -> None:
    told = update(
        "available_commands_update",
        availableCommands=[{"name": "web", "description": "Search", "input": {"hint": "what for"}}],
    )
    assert told.available_commands == [
        v2.Command(name="web", description="Search", input=v2.TextCommandInput(hint="what for"))
    ]
    assert encode(told)["availableCommands"] == [
        {"type": "command", "name": "web", "description": "Search", "input": {"type": "text", "hint": "what for"}}
    ]


@pytest.mark.req("V2-CMD-02")
def test_a_command_keeps_an_input_it_does_not_know_and_loses_one_nobody_can_know() -> None:
    def input_of(value: Any) -> Any:
        command = {"type": "command", "name": "n", "description": "d", "input": value}
        return decode(v2.AvailableCommand, command).input

    assert input_of({"type": "_form", "fields": 2}) == Other.of("_form", {"type": "_form", "fields": 2})
    assert input_of({}) is UNSET
    assert input_of(None) is None


@pytest.mark.req("V2-CMD-02", "V2-CMD-03")
def test_a_command_of_an_unknown_type_is_kept_and_one_without_a_name_is_dropped() -> None:
    macro = {"type": "_macro", "name": "m", "description": "d", "steps": []}
    told = update("available_commands_update", availableCommands=[macro, {"type": "_macro", "steps": []}])
    assert told.available_commands == [Other.of("_macro", macro)]


# Diffs


def the_diff(item: dict[str, Any]) -> Any:
    """A diff as the content of a tool call, where a bad one is dropped."""
    patch = decode(v2.ToolCallPatch, {"toolCallId": "t", "content": [{"type": "diff", **item}]})
    return patch.content[0] if patch.content else None


@pytest.mark.req("V2-DIFF-01", "V2-DIFF-05")
def test_a_diff_of_two_texts_becomes_a_change_and_a_patch() -> None:
    assert the_diff({"path": "/p/a.txt", "oldText": "one\ntwo\n", "newText": "one\n2\n"}) == v2.Diff(
        changes=[v2.DiffModify(path="/p/a.txt", file_type="text")],
        patch=v2.DiffPatch(
            format="git_patch",
            text="diff --git /p/a.txt /p/a.txt\n--- /p/a.txt\n+++ /p/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        ),
    )


@pytest.mark.req("V2-DIFF-01", "V2-DIFF-05")
@pytest.mark.parametrize("old", [{}, {"oldText": None}])
def test_a_diff_without_old_text_adds_a_file(old: dict[str, Any]) -> None:
    diff = the_diff({"path": "/p/new", "newText": "hello", **old})
    assert diff.changes == [v2.DiffAdd(path="/p/new", file_type="text")]
    assert diff.patch.text == (
        "diff --git /p/new /p/new\nnew file mode 100644\n--- /dev/null\n+++ /p/new\n"
        "@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n"
    )


@pytest.mark.req("V2-DIFF-06")
def test_a_diff_that_changes_nothing_has_no_patch() -> None:
    assert the_diff({"path": "/p/a", "oldText": "same", "newText": "same"}).patch is UNSET
    assert the_diff({"changes": [], "patch": None}).patch is None


def test_a_patch_may_still_call_its_text_diff() -> None:
    diff = the_diff({"changes": [], "patch": {"format": "git_patch", "diff": "diff --git /a /a\n"}})
    assert diff.patch == v2.DiffPatch(format="git_patch", text="diff --git /a /a\n")


@pytest.mark.req("V2-DIFF-08")
@pytest.mark.parametrize(
    "item",
    [{}, {"changes": "all"}, {"path": 5, "newText": ""}, {"path": "/a"}, {"path": "/a", "oldText": 1, "newText": ""}],
)
def test_a_diff_without_changes_is_dropped(item: dict[str, Any]) -> None:
    assert the_diff(item) is None


@pytest.mark.req("V2-DIFF-01", "V2-DIFF-02", "V2-DIFF-08")
def test_bad_changes_leave_a_diff_and_unknown_ones_stay() -> None:
    chmod = {"operation": "_chmod", "path": "/a", "mode": "755"}
    move = {"operation": "move", "oldPath": "/a", "path": "/b", "fileType": "_fifo"}
    diff = the_diff({"changes": [{"operation": "add"}, chmod, 3, {"operation": "move", "path": "/b"}, move]})
    assert diff.changes == [Other.of("_chmod", chmod), v2.DiffMove(old_path="/a", path="/b", file_type="_fifo")]


# Permissions


@pytest.mark.req("V2-PERM-01")
def test_a_permission_request_about_a_bare_tool_call_gets_a_subject_and_a_title() -> None:
    request = decode(
        v2.RequestPermissionRequest,
        {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "Edit a.txt"}, "options": OPTIONS},
    )
    assert request.title == "Edit a.txt"
    assert request.subject == v2.ToolCallPermissionSubject(
        tool_call=v2.ToolCallPatch(tool_call_id="t", title="Edit a.txt")
    )
    assert "toolCall" not in encode(request)


@pytest.mark.parametrize("subject", [{}, {"subject": None}])
def test_a_bare_tool_call_becomes_the_subject_even_beside_a_title(subject: dict[str, Any]) -> None:
    data = {"sessionId": "s", "title": "May I?", "toolCall": {"toolCallId": "t"}, "options": OPTIONS, **subject}
    request = decode(v2.RequestPermissionRequest, data)
    assert (request.title, request.subject.tool_call.tool_call_id) == ("May I?", "t")
    assert "toolCall" not in encode(request)


def test_a_subject_wins_over_a_bare_tool_call() -> None:
    subject = {"type": "command", "command": "make", "cwd": "/p"}
    data = {
        "sessionId": "s",
        "title": "May I?",
        "toolCall": {"toolCallId": "t"},
        "subject": subject,
        "options": OPTIONS,
    }
    assert encode(decode(v2.RequestPermissionRequest, data))["subject"] == subject


@pytest.mark.parametrize(
    ("about", "title"),
    [
        ({}, "The agent asks for permission"),
        ({"toolCall": {"toolCallId": "t", "title": None}}, "The agent asks for permission"),
        ({"subject": {"type": "tool_call", "toolCall": {"toolCallId": "t", "title": "Run"}}}, "Run"),
        ({"subject": {"type": "_x"}}, "The agent asks for permission"),
    ],
)
def test_a_permission_request_without_words_gets_some(about: dict[str, Any], title: str) -> None:
    assert decode(v2.RequestPermissionRequest, {"sessionId": "s", "options": OPTIONS, **about}).title == title


# Prompts


def test_an_empty_response_to_a_prompt_has_no_message_id() -> None:
    assert decode(v2.PromptResponse, {}) == v2.PromptResponse(message_id="")


def test_an_answer_at_the_end_of_a_turn_tells_its_stop_reason() -> None:
    assert decode(v2.PromptResponse, {"stopReason": "end_turn"}).stop_reason == "end_turn"
    both = decode(v2.PromptResponse, {"messageId": "m", "stopReason": "_mine"})
    assert (both.message_id, both.stop_reason) == ("m", "_mine")


@pytest.mark.req("V2-PROMPT-06")
def test_our_own_answer_to_a_prompt_cannot_go_without_an_id() -> None:
    with pytest.raises(TypeError, match="message_id"):
        v2.PromptResponse()  # type: ignore[call-arg]


# Login


@pytest.mark.req("V2-AUTH-04", "V2-AUTH-05")
def test_a_login_method_may_call_its_id_id_and_leave_its_type_out() -> None:
    sso = {"type": "_sso", "id": "s", "name": "Single sign-on", "realm": "x"}
    answer = decode(
        v2.InitializeResponse,
        {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "1"},
            "authMethods": [
                {"id": "k", "name": "Key"},
                {"type": "terminal", "id": "t", "name": "T"},
                sso,
                {"type": "_y"},
            ],
        },
    )
    assert answer.auth_methods == [
        v2.AuthMethodAgent(method_id="k", name="Key"),
        v2.AuthMethodTerminal(method_id="t", name="T"),
        Other.of("_sso", sso),
    ]
    assert encode(answer)["authMethods"][0] == {"type": "agent", "methodId": "k", "name": "Key"}


@pytest.mark.parametrize(("flag", "state"), [(True, "authenticated"), (False, "unauthenticated")])
@pytest.mark.parametrize("wanted", [v2.AuthStatusResponse, v2.AuthStatusUpdateNotification])
def test_the_login_state_may_be_a_boolean(wanted: Any, flag: bool, state: str) -> None:
    assert decode(wanted, {"authenticated": flag, "message": "hi"}) == wanted(state=state)


@pytest.mark.req("V2-INIT-14")
@pytest.mark.parametrize(
    ("marker", "read"),
    [(True, v2.AuthStatusCapabilities()), (False, UNSET), (None, None), ({}, v2.AuthStatusCapabilities())],
)
def test_the_login_status_may_be_offered_with_a_bare_true(marker: Any, read: Any) -> None:
    assert decode(v2.AgentAuthCapabilities, {"status": marker}).status == read


# Options


def test_options_and_groups_may_carry_their_old_ids() -> None:
    values = [{"value": "fast", "name": "Fast"}]
    option = {"id": "model", "name": "Model", "type": "select", "currentValue": "fast"}
    told = update("config_option_update", configOptions=[{**option, "options": [{"group": "g", "options": values}]}])
    assert encode(told)["configOptions"] == [
        {
            "configId": "model",
            "name": "Model",
            "type": "select",
            "currentValue": "fast",
            "options": [{"groupId": "g", "name": "g", "options": values}],
        }
    ]


@pytest.mark.req("V2-CONF-04")
@pytest.mark.parametrize(
    ("value", "read"),
    [
        (True, v2.SetSessionConfigBoolean(session_id="s", config_id="c", value=True)),
        ("fast", v2.SetSessionConfigId(session_id="s", config_id="c", value="fast")),
    ],
)
def test_a_choice_without_a_type_is_known_by_its_value(value: Any, read: Any) -> None:
    assert decode(v2.SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", "value": value}) == read
    assert encode(read)["type"] in ("boolean", "id")


@pytest.mark.req("V2-CONF-04")
@pytest.mark.parametrize(
    "choice", [{"value": 3}, {"value": None}, {}, {"type": "id", "value": True}, {"type": "boolean", "value": "yes"}]
)
def test_a_choice_of_no_known_kind_is_refused(choice: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        decode(v2.SetSessionConfigOptionRequest, {"sessionId": "s", "configId": "c", **choice})


# The first words


@pytest.mark.req("V2-INIT-13")
@pytest.mark.parametrize("info", [{}, {"info": "me"}, {"info": {"name": "me"}}, {"info": None}])
def test_a_client_of_a_newer_version_may_introduce_itself_in_unknown_words(info: dict[str, Any]) -> None:
    request = decode(v2.InitializeRequest, {"protocolVersion": 3, "capabilities": [], **info})
    assert request == v2.InitializeRequest(
        protocol_version=3, info=v2.Implementation(name="unknown", version="unknown")
    )


@pytest.mark.req("V2-INIT-02", "V2-INIT-04")
@pytest.mark.parametrize(
    "request_", [{"protocolVersion": 2}, {"protocolVersion": "2"}, {"protocolVersion": 70_000}, {"protocolVersion": -1}]
)
def test_a_client_of_this_version_may_not(request_: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        decode(v2.InitializeRequest, request_)
