"""The peers against each other: a failure here is the fault of a peer or an SDK, not of Accord."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from peers import commands
from peers.client_run import COMMON_STEPS, FIRST_STEPS, LAST_STEPS, ClientRun, prompt_steps
from support.prerequisites import require

pytestmark = pytest.mark.peer

V1 = ("py-client-v1 ts-agent-v1", "ts-client-v1 py-agent-v1")
V2 = ("ts-client-v2 ts-agent-v2",)

PROMPTS = [
    "plan", "think", "tool", "terminal echo hi there", "fail", "refuse", "usage", "mode", "commands", "title New",
    "big 100000", "extension", "hello big world", "read notes.md", "write out.md some text", "read absent.md",
]  # fmt: skip
STEPS: dict[str, dict[str, Any]] = {
    **FIRST_STEPS,
    **prompt_steps(PROMPTS),
    **COMMON_STEPS,
    "echo": {"do": "request", "method": "_test/echo", "params": {"a": [1, {"b": None}]}},
    "unknown request": {"do": "request", "method": "_test/unknown"},
    "note": {"do": "notify", "method": "_test/note", "params": {"n": 1}, "until": "_test/noted"},
    "load": {"do": "load", "session": "stored-1"},
    "load unknown": {"do": "load", "session": "nobody"},
    "resume": {"do": "resume", "session": "session-1"},
    **LAST_STEPS,
}  # fmt: skip


@pytest.fixture(scope="module", params=[*V1, *V2])
def pair(request: pytest.FixtureRequest) -> str:
    names: str = request.param
    require(commands.missing("ts", *(["py"] if "py" in names else [])))
    return names


@pytest.fixture(scope="module")
def version(pair: str) -> int:
    return int(pair[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("peers")
    (folder / "notes.md").write_text("one\ntwo\n")
    return folder


@pytest.fixture(scope="module")
def seen(pair: str, version: int, folder: Path) -> ClientRun:
    client, agent = (name[:2] for name in pair.split())
    started = commands.client(client, version), commands.agent(agent, version)  # type: ignore[arg-type]
    return ClientRun(STEPS, commands.play(*started, *STEPS.values(), cwd=folder))


def test_the_handshake_agrees_on_the_version(seen: ClientRun, version: int) -> None:
    assert seen.one("initialize", "initialize")["result"]["protocolVersion"] == version


def test_logging_in_works_by_the_known_method_alone(seen: ClientRun) -> None:
    assert seen.one("log in", "answer")["result"] == {}
    assert seen.one("log in wrongly", "error")["code"] == -32602


def test_a_plan_is_shown_and_updated(seen: ClientRun, version: int) -> None:
    kind, entries = (
        ("plan", lambda u: u["entries"]) if version == 1 else ("plan_update", lambda u: u["plan"]["entries"])
    )
    first, second = (entries(update) for update in seen.updates("plan", kind))
    assert [entry["content"] for entry in first] == ["Look", "Write", "Check"]
    assert [entry["status"] for entry in second] == ["completed", "in_progress", "pending"]
    assert seen.texts("plan") == ["planned"]


def test_thoughts_and_chunks_come_in_order(seen: ClientRun) -> None:
    thoughts = seen.updates("think", "agent_thought_chunk")
    assert [thought["content"]["text"] for thought in thoughts] == ["one ", "two ", "three"]
    assert seen.texts("think") == ["four ", "five ", "six"]
    assert seen.stop("think") == "end_turn"


def test_a_tool_call_goes_from_pending_to_completed_with_a_diff(seen: ClientRun, version: int, folder: Path) -> None:
    pending, running, completed = seen.updates("tool", "tool_call", "tool_call_update")
    assert [call["status"] for call in (pending, running, completed)] == ["pending", "in_progress", "completed"]
    path = str(folder / "notes.txt")
    assert pending["locations"] == [{"path": path, "line": 1}]
    assert (pending["rawInput"], completed["rawOutput"]) == ({"path": path}, {"written": 4})
    (diff,) = completed["content"]
    assert diff["type"] == "diff"
    assert (
        ("+new" in diff["patch"]["text"]) if version == 2 else (diff["oldText"], diff["newText"]) == ("old\n", "new\n")
    )


def test_permission_is_asked_and_the_choice_arrives(seen: ClientRun) -> None:
    kinds = [option["kind"] for option in seen.one("allow", "permission")["options"]]
    assert kinds == ["allow_once", "reject_once"]
    assert seen.texts("allow") == ["allowed"]
    assert seen.texts("reject") == ["denied"]
    assert seen.texts("answer cancelled") == ["cancelled"]
    assert seen.stop("answer cancelled") == "end_turn"


def test_cancelling_while_permission_is_asked_ends_the_turn(seen: ClientRun) -> None:
    assert seen.stop("cancel while asked") == "cancelled"


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
    if version == 1:
        asked = [line["method"].split("/")[1] for line in seen.all(step, "request")]
        assert asked == ["create", "wait_for_exit", "output", "release"]
    else:
        chunks = seen.updates(step, "terminal_output_chunk")
        assert b"".join(base64.b64decode(chunk["data"]) for chunk in chunks) == b"hi there\n"
        assert seen.updates(step, "terminal_update")[-1]["exitStatus"] == {"exitCode": 0}


def test_cancelling_ends_the_turn_and_the_session_continues(seen: ClientRun) -> None:
    assert seen.texts("wait") == ["waiting"]
    assert seen.stop("wait") == "cancelled"
    assert seen.texts("after cancel") == ["still ", "here"]


def test_a_failing_turn_says_why(seen: ClientRun, version: int) -> None:
    failure = seen.one("fail", "error") if version == 1 else seen.one("fail", "stop")["error"]
    assert (failure["code"], failure["data"]) == (-32603, {"why": "asked"})


def test_a_refusal_is_a_stop_reason(seen: ClientRun) -> None:
    assert seen.stop("refuse") == "refusal"


def test_usage_title_and_commands_are_reported(seen: ClientRun) -> None:
    (usage,) = seen.updates("usage", "usage_update")
    assert (usage["used"], usage["size"], usage["cost"]) == (1200, 200000, {"amount": 0.25, "currency": "USD"})
    assert seen.updates("title New", "session_info_update")[0]["title"] == "New"
    (commands,) = seen.updates("commands", "available_commands_update")
    assert [command["name"] for command in commands["availableCommands"]] == ["plan", "help"]


def test_a_changed_mode_is_reported(seen: ClientRun, version: int) -> None:
    (options,) = seen.updates("mode", "config_option_update")
    values = [option["currentValue"] for option in options["configOptions"]]
    if version == 1:
        assert seen.updates("mode", "current_mode_update")[0]["currentModeId"] == "careful"
        assert values == ["deep"]
    else:
        assert values == ["careful", "deep"]


def test_setting_modes_and_options_is_answered(seen: ClientRun) -> None:
    assert seen.one("set mode", "answer")
    assert seen.one("set wrong mode", "error")["code"] == -32602
    options = seen.one("set option", "answer")["result"]["configOptions"]
    assert options[-1]["currentValue"] == "deep"


def test_a_form_is_filled_in_or_declined(seen: ClientRun) -> None:
    assert seen.one("elicit", "elicitation")["message"] == "Who are you?"
    assert seen.texts("elicit") == ["hello Ada"]
    assert seen.texts("decline") == ["decline"]


def test_extensions_work_both_ways(seen: ClientRun) -> None:
    assert seen.one("echo", "answer")["result"] == {"a": [1, {"b": None}]}
    assert seen.one("unknown request", "error")["code"] == -32601
    assert seen.one("note", "notification") == {"saw": "notification", "method": "_test/noted", "params": {"n": 1}}
    assert seen.texts("extension") == ['{"from":"agent"}']


def test_any_other_prompt_is_echoed_in_chunks(seen: ClientRun) -> None:
    assert seen.texts("hello big world") == ["hello ", "big ", "world"]
    assert seen.texts("big 100000") == ["x" * 100_000]


def test_a_stored_session_is_listed_and_replayed(seen: ClientRun) -> None:
    listed = seen.one("list", "answer")["result"]["sessions"]
    assert [session["sessionId"] for session in listed] == ["stored-1", "session-1"]
    replayed = seen.updates("load", "user_message", "user_message_chunk", "agent_message", "agent_message_chunk")
    contents = [update["content"] for update in replayed]
    texts = [content[0]["text"] if isinstance(content, list) else content["text"] for content in contents]
    assert texts == ["an earlier question", "an earlier answer"]
    assert seen.one("load", "session")["id"] == "stored-1"
    assert seen.one("load unknown", "error")["code"] == -32002


def test_a_session_is_resumed_without_replay_and_closed(seen: ClientRun) -> None:
    assert seen.one("resume", "session")["id"] == "session-1"
    assert seen.updates("resume", "agent_message", "agent_message_chunk") == []
    assert seen.one("close", "answer")
    assert seen.one("after close", "error")["code"] == -32002


def test_the_end_of_an_agent_is_noticed(seen: ClientRun) -> None:
    assert seen.one("die", "error")["code"] is None
    assert seen.one("exit", "exit")["status"] == 3


def test_without_a_login_no_session_opens_when_it_is_asked_for(pair: str, version: int, tmp_path: Path) -> None:
    client, agent = (name[:2] for name in pair.split())
    started = commands.client(client, version), commands.agent(agent, version, "--auth")  # type: ignore[arg-type]
    refused, _, opened = commands.play(*started, {"do": "new"}, {"do": "authenticate"}, {"do": "new"}, cwd=tmp_path)[
        1:4
    ]
    assert refused[0]["code"] == -32000
    assert opened[0]["id"] == "session-1"


@pytest.mark.parametrize("version", [1, 2])
def test_the_unstable_entry_of_the_typescript_sdk_serves_as_well(version: int, tmp_path: Path) -> None:
    require(commands.missing("ts"))
    agent = commands.agent("ts", version, "--unstable")
    _, _, turn, ended = commands.play(
        commands.client("ts", version), agent, {"do": "new"}, {"do": "prompt", "text": "think"}, cwd=tmp_path
    )
    assert turn[-1]["reason"] == "end_turn"
    assert ended[0]["status"] == 0
