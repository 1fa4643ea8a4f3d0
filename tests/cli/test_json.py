"""accord run --json: one documented object per line."""

from __future__ import annotations

import json
import sys

import jsonschema_rs
import pytest
from support.cli_runner import Accord, Done, agent

from accord.cli.support import output_events
from accord.cli.support.output import TextOutput
from accord.model.content import Image, TextContent, UnknownContent
from accord.model.tool import ExitStatus
from accord.transcript import events as heard
from accord.transcript.transcript import Transcript


def is_valid(done: Done, schema: bytes = output_events.schema()) -> bool:
    valid = jsonschema_rs.validator_for(json.loads(schema))
    return all(valid.is_valid(line) for line in done.lines)


def test_every_line_matches_the_schema(accord: Accord) -> None:
    schema = accord("run", "--output-schema")
    assert schema.status == 0
    done = accord.run("--json", "work", offer="modes,models")
    assert done.status == 0 and done.err == ""
    assert is_valid(done, schema.out.encode())
    kinds = [line["event"] for line in done.lines]
    assert kinds[0] == "session" and kinds[1] == "prompt" and kinds[-1] == "ended"
    assert done.lines[0] == {
        "event": "session",
        "session_id": "s-1",
        "agent": "Tester",
        "protocol_version": 1,
        "mode": "ask",
        "model": "fast",
    }
    assert done.events("plan")[0]["steps"][1] == {"content": "write", "status": "in_progress", "priority": "medium"}
    assert [line["text"] for line in done.events("thought")] == ["hm"]
    call = done.events("tool_call")[-1]
    assert (call["status"], call["locations"], call["text"], call["raw_input"]) == (
        "completed",
        ["/p/notes:3"],
        "done so",
        {"a": 1},
    )
    assert call["changes"][0]["paths"] == ["/p/notes"] and "-old\n+new\n" in call["changes"][0]["patch"]
    assert done.events("usage") == [{"event": "usage", "used": 10, "size": 100, "cost": 0.5, "currency": "EUR"}]
    assert done.events("media")[0]["content"]["mimeType"] == "image/png"
    assert {line["kind"] for line in done.events("other")} == {"commands_changed", "from_the_future"}
    assert done.events("ended") == [{"event": "ended", "stop_reason": "end_turn", "text": "finished"}]


def test_the_schema_rejects_unknown_events() -> None:
    valid = jsonschema_rs.validator_for(json.loads(output_events.schema()))
    assert not valid.is_valid({"event": "text"})
    assert not valid.is_valid({"event": "nothing", "text": "x"})


def test_a_failed_turn_has_the_reason(accord: Accord) -> None:
    done = accord.run("--json", "fail")
    assert done.status == 1 and is_valid(done)
    (ended,) = done.events("ended")
    assert (ended["text"], ended["code"], ended["stop_reason"]) == ("half an ", -32603, None)
    assert "the model said no: sorry" in ended["error"]


def test_the_data_of_an_error_is_complete_and_its_secrets_are_redacted(accord: Accord) -> None:
    data = {"details": "400 credit too low", "status": 400, "tried": [{"apiKey": "abcdef"}, "sk-aaaaaaaaaaaaaaaa"]}
    done = accord.run("--json", f"break {json.dumps(data)}")
    assert done.status == 1 and is_valid(done)
    (ended,) = done.events("ended")
    assert ended["error"] == "session/prompt: Internal error: 400 credit too low (code -32603)"
    assert ended["data"] == {**data, "tried": [{"apiKey": "••••"}, "••••"]}


def test_output_of_commands_on_the_clients_terminals_is_reported(accord: Accord) -> None:
    done = accord.run("--json", "--allow", "all", "terminal echo hello")
    assert done.status == 0 and is_valid(done)
    lines = done.events("terminal")
    assert lines[0]["command"] == "echo hello" and lines[0]["cwd"] == str(accord.project)
    assert "".join(line.get("text", "") for line in lines) == "hello\n"
    assert (lines[-1]["output"], lines[-1]["exit_code"]) == ("hello\n", 0)
    assert len({line["id"] for line in lines}) == 1


def test_output_of_the_agents_own_commands_is_reported(accord: Accord) -> None:
    done = accord.run("--json", "zed hello")
    assert done.status == 0 and is_valid(done)
    assert done.events("tool_call")[-1]["terminals"] == ["own-1"]
    assert done.events("terminal") == [
        {"event": "terminal", "id": "own-1", "cwd": "/p"},
        {"event": "terminal", "id": "own-1", "text": "hello\n"},
        {"event": "terminal", "id": "own-1", "cwd": "/p", "output": "hello\n", "exit_code": 0},
    ]


@pytest.mark.parametrize(
    "target, stage",
    [("no-such-agent", "resolve"), ("/no/such/agent", "spawn"), (agent("--fault", "dies"), "initialize")],
)
def test_a_run_that_fails_to_start_is_an_error_with_its_stage(accord: Accord, target: str, stage: str) -> None:
    done = accord("run", "--json", "--agent", target, "hello")
    assert done.status == 1 and is_valid(done)
    (error,) = done.lines
    assert (error["event"], error["stage"]) == ("error", stage)
    assert error["message"] in done.err


def test_accords_own_notices_are_lines_too(accord: Accord) -> None:
    accord.config.write_text("[mcp_servers.far]\nurl = 'https://example.org/mcp'\n")
    done = accord.run("--json", "--deny", "command:rm *", "permission rm -r x")
    assert is_valid(done) and done.err == ""
    assert "MCP server 'far' is not passed on" in done.events("notice")[0]["title"]
    (decided,) = done.events("permission")
    assert (decided["title"], decided["decision"]) == ("Run rm -r x", "refused")
    assert "deny command:rm *" in decided["why"]


def test_an_event_of_any_kind_is_a_valid_line() -> None:
    valid = jsonschema_rs.validator_for(json.loads(output_events.schema()))
    whole = heard.MessageSet(role="agent", message_id="m", content=[TextContent("all"), Image("aa", "image/png")])
    for event in (
        whole,
        heard.Media(UnknownContent("new", {"type": "new", "x": 1})),
        heard.PlanRemoved("p"),
        heard.OptionsChanged([]),
        heard.TerminalOutput("t", b"\xff"),
        heard.InfoChanged("title", None),
        heard.ConnectionChanged("lost", "why", 1),
    ):
        line = output_events.to_line(event)
        assert valid.is_valid(json.loads(output_events.msgspec.json.encode(line)))
    assert output_events.to_line(heard.UserText("x")) is None


def test_output_after_the_exit_of_a_terminal_is_printed_once() -> None:
    transcript = Transcript()
    events = [
        transcript.append_output("t", b"one\n"),
        transcript.patch_terminal("t", exit=ExitStatus(code=0)),
        transcript.append_output("t", b"two\n"),
    ]

    printed, ended, last = (output_events.to_line(event) for event in events)

    assert printed == output_events.Terminal(id="t", text="one\n")
    assert ended == output_events.Terminal(id="t", output="one\n", exit_code=0)
    assert last == output_events.Terminal(id="t", text="two\n")


def test_a_replaced_message_is_not_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    show = TextOutput(progress=False, out=sys.stdout, err=sys.stderr)
    for event in (
        heard.Text("Hel", "m1"),
        heard.MessageSet("agent", "m1", [TextContent("Hello")]),
        heard.Text(" world", "m1"),
        heard.Text("Another", "m2"),
        heard.MessageSet("agent", "m2", [TextContent("Other")]),
        heard.MessageSet("thought", "m3", [TextContent("secret")]),
        heard.MessageSet("agent", "m2", []),
    ):
        show.event(event)
    assert capsys.readouterr().out == "Hello world\nAnother\nOther"
