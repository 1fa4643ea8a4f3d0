"""Clients on the official SDKs with our agent: Python and TypeScript in version 1, TypeScript in version 2.

Each client plays all steps once, with one process of the agent; the tests check what it saw."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

import pytest
from peers import commands
from peers.client_run import COMMON_STEPS, FIRST_STEPS, LAST_STEPS, ClientRun, prompt_steps
from support.prerequisites import require

pytestmark = pytest.mark.peer

CLIENTS = ["py-client-v1", "ts-client-v1", "ts-client-v2"]
AGENT = Path(__file__).resolve().parents[1] / "agents" / "interop_agent.py"

PROMPTS = [
    "plan", "think", "tool", "terminal echo hi there", "fail", "break", "refuse", "usage", "mode", "commands",
    "title New", "big 3000000", "extension", "hello big world", "read notes.md", "write out.md some text",
    "read absent.md", "print",
]  # fmt: skip
STEPS: dict[str, dict[str, Any]] = {
    **FIRST_STEPS,
    "log in with a question": {"do": "authenticate", "method": "ask", "elicitation": {"name": "Ada"}},
    "log in without an answer": {"do": "authenticate", "method": "ask"},
    "cleared": {"do": "prompt", "text": "cleared"},
    **prompt_steps(PROMPTS),
    **COMMON_STEPS,
    "set wrong option": {"do": "option", "option": "nothing", "value": "deep"},
    "echo": {"do": "request", "method": "_test/echo", "params": {"a": [1, {"b": None}]}},
    "unknown request": {"do": "request", "method": "_test/unknown"},
    "note": {"do": "notify", "method": "_test/note", "params": {"n": 1}, "until": "_test/noted"},
    "prompt unknown": {"do": "prompt", "text": "hello", "session": "nobody"},
    "bad params": {"do": "request", "method": "session/prompt", "params": {"sessionId": "x", "prompt": "no list"}},
    "load": {"do": "load", "session": "stored-1"},
    "load unknown": {"do": "load", "session": "nobody"},
    "resume": {"do": "resume", "session": "stored-1"},
    "after resume": {"do": "prompt", "text": "and now"},
    **LAST_STEPS,
}  # fmt: skip


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    require(commands.missing(name[:2]))  # type: ignore[arg-type]
    return name


@pytest.fixture(scope="module")
def version(client: str) -> int:
    return int(client[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "notes.md").write_text("one\ntwo\n")
    return folder


def play(client: str, folder: Path, *steps: dict[str, Any], flags: tuple[str, ...] = ()) -> list[list[dict[str, Any]]]:
    started = commands.client(client[:2], int(client[-1]))  # type: ignore[arg-type]
    return commands.play(started, [sys.executable, str(AGENT), str(folder), *flags], *steps, cwd=folder)


@pytest.fixture(scope="module")
def seen(client: str, folder: Path) -> ClientRun:
    return ClientRun(STEPS, play(client, folder, *STEPS.values()))


# -- connection and sessions


def test_the_handshake_tells_who_we_are_and_what_we_offer(seen: ClientRun, version: int) -> None:
    result = seen.one("initialize", "initialize")["result"]
    assert result["protocolVersion"] == version
    if version == 1:
        assert result["agentInfo"]["name"] == "interop-agent"
        assert result["authMethods"][0]["id"] == "test"
        offered = result["agentCapabilities"]
        assert offered["loadSession"] is True
        assert {"list", "resume", "close"} <= set(offered["sessionCapabilities"])
        assert (offered["promptCapabilities"]["image"], offered["promptCapabilities"]["embeddedContext"]) == (
            True,
            True,
        )
    else:
        assert result["info"]["name"] == "interop-agent"
        assert result["authMethods"][0]["methodId"] == "test"
        assert result["capabilities"]["session"]["prompt"] == {"image": {}, "embeddedContext": {}}


def test_logging_in_works_by_the_known_method_alone(seen: ClientRun) -> None:
    assert seen.one("log in", "answer")["result"] == {}
    assert seen.code("log in wrongly") == -32602


def test_a_login_may_ask_the_user(seen: ClientRun) -> None:
    assert seen.one("log in with a question", "elicitation")["message"] == "Who logs in?"
    assert seen.one("log in with a question", "answer")["result"] == {}
    assert seen.code("log in without an answer") == -32000


def test_cleared_fields_metadata_and_icons_are_understood(seen: ClientRun, version: int) -> None:
    updates = seen.updates("cleared", "tool_call", "tool_call_update")
    assert updates[-1]["_meta"] == {"test": 2}
    assert any(update.get("locations", 0) == (None if version == 2 else []) for update in updates)
    (info,) = seen.updates("cleared", "session_info_update")
    assert (info["updatedAt"], info["_meta"]) == ("2026-01-01T00:00:00Z", {"test": 3})
    link, said = [update["content"] for update in seen.updates("cleared", "agent_message_chunk")]
    assert ("icons" in link, said["text"]) == (version == 2, "cleared")


def test_without_a_login_no_session_opens_when_it_is_asked_for(client: str, tmp_path: Path) -> None:
    steps = [{"do": "new"}, {"do": "authenticate"}, {"do": "new"}, {"do": "prompt", "text": "hello"}]
    _, refused, _, opened, prompted, ended = play(client, tmp_path, *steps, flags=("--auth",))
    assert refused[-1]["code"] == -32000
    assert opened[-1]["saw"] == "session"
    assert prompted[-1]["reason"] == "end_turn"
    assert ended[-1]["status"] == 0, "the agent ends by itself when its client is gone"


def test_a_new_session_has_its_options(seen: ClientRun, version: int) -> None:
    result = seen.one("new", "session")["result"]
    ids = [option["id" if version == 1 else "configId"] for option in result["configOptions"]]
    assert ids == ["mode", "model"]
    assert [option["currentValue"] for option in result["configOptions"]] == ["ask", "fast"]
    if version == 1:
        assert result["modes"]["currentModeId"] == "ask"
        assert [mode["id"] for mode in result["modes"]["availableModes"]] == ["ask", "careful"]


def test_sessions_are_listed_the_newest_first(seen: ClientRun) -> None:
    newest, stored = seen.one("list", "answer")["result"]["sessions"]
    assert (newest["sessionId"], newest["title"]) == (seen.one("new", "session")["id"], "New")
    assert (stored["sessionId"], stored["title"]) == ("stored-1", "An earlier talk")


def test_a_stored_session_is_replayed(seen: ClientRun) -> None:
    told = seen.updates("load", "user_message", "user_message_chunk", "agent_message", "agent_message_chunk")
    contents = [update["content"] for update in told]
    texts = [content[0]["text"] if isinstance(content, list) else content["text"] for content in contents]
    assert [update["sessionUpdate"].split("_")[0] for update in told] == ["user", "agent"]
    assert texts == ["an earlier question", "an earlier answer"]
    opened = seen.one("load", "session")
    assert opened["id"] == "stored-1"
    assert [line["saw"] for line in seen.steps["load"]][-1] == "session", "the answer comes after what was said"


def test_a_stored_session_is_resumed_without_a_replay(seen: ClientRun) -> None:
    assert seen.one("resume", "session")["id"] == "stored-1"
    said = ("user_message", "user_message_chunk", "agent_message", "agent_message_chunk")
    assert seen.updates("resume", *said) == []
    assert seen.texts("after resume") == ["and ", "now"]


def test_a_closed_session_takes_no_prompt(seen: ClientRun) -> None:
    assert seen.one("close", "answer")
    assert seen.code("after close") == -32002


# -- what our agent says


def test_a_prompt_is_answered_in_chunks_of_one_message(seen: ClientRun) -> None:
    assert seen.texts("hello big world") == ["hello ", "big ", "world"]
    chunks = seen.updates("hello big world", "agent_message_chunk")
    assert len({chunk["messageId"] for chunk in chunks}) == 1
    assert seen.stop("hello big world") == "end_turn"


def test_a_plan_is_shown_and_changed(seen: ClientRun, version: int) -> None:
    updates = seen.updates("plan", "plan", "plan_update")
    first, second = (update["entries"] if version == 1 else update["plan"]["entries"] for update in updates)
    assert [(entry["content"], entry["priority"]) for entry in first] == [
        ("Look", "high"),
        ("Write", "medium"),
        ("Check", "low"),
    ]
    assert [entry["status"] for entry in second] == ["completed", "in_progress", "pending"]
    assert seen.texts("plan") == ["planned"]


def test_thoughts_come_before_words_and_apart_from_them(seen: ClientRun) -> None:
    spoken = seen.updates("think", "agent_thought_chunk", "agent_message_chunk")
    assert [update["sessionUpdate"] for update in spoken] == ["agent_thought_chunk"] * 3 + ["agent_message_chunk"] * 3
    assert "".join(update["content"]["text"] for update in spoken) == "one two threefour five six"
    assert len({update["messageId"] for update in spoken}) == 2


def test_a_tool_call_goes_its_way_and_shows_its_change(seen: ClientRun, version: int, folder: Path) -> None:
    updates = seen.updates("tool", "tool_call", "tool_call_update")
    assert [update["status"] for update in updates if "status" in update] == ["pending", "in_progress", "completed"]
    assert updates[0]["sessionUpdate"] == ("tool_call" if version == 1 else "tool_call_update")
    path = str(folder / "notes.txt")
    call = seen.call("tool")
    assert (call["title"], call["kind"], call["locations"]) == ("Edit the notes", "edit", [{"path": path, "line": 1}])
    assert (call["rawInput"], call["rawOutput"]) == ({"path": path}, {"written": 4})
    (diff,) = call["content"]
    if version == 1:
        assert diff == {"type": "diff", "path": path, "oldText": "old\n", "newText": "new\n"}
    else:
        assert diff["changes"] == [{"operation": "modify", "path": path, "fileType": "text"}]
        assert diff["patch"]["text"] == f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n-old\n+new\n"
    assert seen.texts("tool") == ["edited"]


def test_usage_title_and_commands_are_reported(seen: ClientRun) -> None:
    (usage,) = seen.updates("usage", "usage_update")
    assert (usage["used"], usage["size"], usage["cost"]) == (1200, 200000, {"amount": 0.25, "currency": "USD"})
    assert seen.updates("title New", "session_info_update")[0]["title"] == "New"
    (told,) = seen.updates("commands", "available_commands_update")
    plan, _ = told["availableCommands"]
    assert (plan["name"], plan["input"]["hint"]) == ("plan", "what to plan")


def test_changed_options_are_reported(seen: ClientRun, version: int) -> None:
    last = seen.updates("mode", "config_option_update")[-1]
    assert [option["currentValue"] for option in last["configOptions"]] == ["careful", "deep"]
    modes = [update["currentModeId"] for update in seen.updates("mode", "current_mode_update")]
    assert modes == (["careful"] if version == 1 else [])


def test_setting_modes_and_options_is_answered(seen: ClientRun) -> None:
    assert seen.one("set mode", "answer")
    assert seen.code("set wrong mode") == -32602
    options = seen.one("set option", "answer")["result"]["configOptions"]
    assert [option["currentValue"] for option in options] == ["careful", "deep"]
    assert seen.code("set wrong option") == -32602


def test_a_large_message_arrives_whole(seen: ClientRun) -> None:
    assert seen.texts("big 3000000") == ["x" * 3_000_000]


def test_a_refusal_is_how_the_turn_ended(seen: ClientRun) -> None:
    assert seen.stop("refuse") == "refusal"


def test_what_is_printed_does_no_harm(seen: ClientRun) -> None:
    assert seen.texts("print") == ["printed"]
    assert seen.stop("print") == "end_turn"


# -- what our agent asks


@pytest.mark.parametrize("step, said", [("allow", "allowed"), ("reject", "denied"), ("answer cancelled", "cancelled")])
def test_permission_is_asked_and_the_answer_arrives(seen: ClientRun, version: int, step: str, said: str) -> None:
    asked = seen.one(step, "permission")
    options = [(option["optionId"], option["kind"]) for option in asked["options"]]
    assert options == [("yes", "allow_once"), ("no", "reject_once")]
    call = asked["toolCall"] if version == 1 else asked["subject"]["toolCall"]
    assert (call["title"], call["kind"]) == ("Delete the notes", "delete")
    assert call["toolCallId"] == seen.call(step)["toolCallId"], "the call was shown before it was asked about"
    assert (seen.texts(step), seen.stop(step)) == ([said], "end_turn")


def test_version_2_reports_that_it_waits_for_the_user(seen: ClientRun, version: int) -> None:
    states = [update["state"] for update in seen.updates("allow", "state_update")]
    assert states == ([] if version == 1 else ["running", "requires_action", "running", "idle"])


def test_cancelling_while_asked_ends_the_turn_and_the_call(seen: ClientRun, version: int) -> None:
    assert (seen.texts("cancel while asked"), seen.stop("cancel while asked")) == ([], "cancelled")
    # Version 1 has no status for a cancelled call.
    assert seen.call("cancel while asked")["status"] == ("failed" if version == 1 else "cancelled")


def test_a_form_is_filled_in_or_declined(seen: ClientRun) -> None:
    asked = seen.one("elicit", "elicitation")
    assert (asked["message"], asked["schema"]["required"]) == ("Who are you?", ["name"])
    assert seen.texts("elicit") == ["hello Ada"]
    assert seen.texts("decline") == ["decline"]


def test_files_are_read_and_written_through_the_client(seen: ClientRun, version: int, folder: Path) -> None:
    if version == 2:
        assert seen.texts("read notes.md") == ["read ", "notes.md"]  # version 2 has no such methods
        return
    assert seen.texts("read notes.md") == ["one\ntwo\n"]
    assert seen.texts("write out.md some text") == ["written"]
    assert (folder / "out.md").read_text() == "some text"
    assert seen.texts("read absent.md") == ["error -32002"]


def test_a_command_runs_and_its_output_is_shown(seen: ClientRun, version: int) -> None:
    step = "terminal echo hi there"
    assert seen.texts(step) == ["hi there\n", "exit 0"]
    call = seen.call(step)
    assert (call["kind"], call["status"], call["content"][0]["type"]) == ("execute", "completed", "terminal")
    if version == 1:
        asked = [line["method"].split("/")[1] for line in seen.all(step, "request")]
        assert asked == ["create", "wait_for_exit", "output", "release"]
    else:
        first, *_, last = seen.updates(step, "terminal_update")
        assert (first["terminalId"], first["command"]) == (call["content"][0]["terminalId"], "echo hi there")
        assert last["exitStatus"] == {"exitCode": 0}
        chunks = seen.updates(step, "terminal_output_chunk")
        assert b"".join(base64.b64decode(chunk["data"]) for chunk in chunks) == b"hi there\n"


# -- cancelling


def test_cancelling_ends_the_turn_and_the_session_continues(seen: ClientRun) -> None:
    assert (seen.texts("wait"), seen.stop("wait")) == (["waiting"], "cancelled")
    assert (seen.texts("after cancel"), seen.stop("after cancel")) == (["still ", "here"], "end_turn")


# -- beyond the protocol, and errors


def test_extensions_work_both_ways(seen: ClientRun) -> None:
    assert seen.one("echo", "answer")["result"] == {"a": [1, {"b": None}]}
    assert seen.one("note", "notification") == {"saw": "notification", "method": "_test/noted", "params": {"n": 1}}
    assert seen.one("extension", "request")["params"] == {"from": "agent"}
    assert seen.texts("extension") == ['{"from":"agent"}']


def test_an_unknown_method_is_not_found(seen: ClientRun) -> None:
    assert seen.code("unknown request") == -32601


def test_a_failing_prompt_says_why(seen: ClientRun, version: int) -> None:
    failure = seen.one("fail", "error") if version == 1 else seen.one("fail", "stop")["error"]
    assert (failure["code"], failure["data"]) == (-32603, {"why": "asked"})
    assert failure["message"] == "the agent was asked to fail"


def test_an_unexpected_exception_is_an_internal_error(seen: ClientRun, version: int) -> None:
    failure = seen.one("break", "error") if version == 1 else seen.one("break", "stop")["error"]
    assert failure["code"] == -32603
    assert "ZeroDivisionError: nobody expected this" in failure["message"]


def test_an_unknown_session_is_not_found(seen: ClientRun) -> None:
    assert seen.code("load unknown") == -32002
    assert seen.code("prompt unknown") == -32002


def test_bad_params_are_refused_with_their_place(seen: ClientRun, client: str) -> None:
    if client.startswith("py"):
        assert seen.code("bad params") == -32601  # this SDK prefixes the method with an underscore
        return
    failure = seen.one("bad params", "error")
    assert failure["code"] == -32602
    assert "prompt" in failure["message"]


def test_the_end_of_our_agent_is_noticed(seen: ClientRun) -> None:
    assert seen.code("die") is None
    assert seen.one("exit", "exit")["status"] == 3
