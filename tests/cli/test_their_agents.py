"""accord run and accord doctor with agents on the official SDKs: Python and TypeScript, versions 1 and 2."""

from __future__ import annotations

import json
import shlex
import signal

import jsonschema_rs
import pytest
from peers import commands
from support.cli_runner import TIMEOUT_SECONDS, Accord, Done
from support.prerequisites import require

from accord.cli.support import output_events

pytestmark = pytest.mark.peer


class Peer:
    """One of their agents, and how it is run."""

    def __init__(self, accord: Accord, name: str) -> None:
        self.accord = accord
        self.name = name
        self.version = int(name[-1])
        self.command = shlex.join(commands.agent(name[:2], self.version))  # type: ignore[arg-type]
        self.flags = ["--v2"] if self.version == 2 else []

    def __call__(self, *words: str) -> Done:
        return self.accord("run", "--agent", self.command, *self.flags, *words)


@pytest.fixture(params=["py-agent-v1", "ts-agent-v1", "ts-agent-v2"])
def peer(request: pytest.FixtureRequest, accord: Accord) -> Peer:
    require(commands.missing(request.param[:2]))
    return Peer(accord, request.param)


def test_text_is_streamed_and_the_status_tells_how_the_turn_ended(peer: Peer) -> None:
    done = peer("hello big world")
    assert (done.status, done.out, done.err) == (0, "hello big world\n", "")
    assert peer("refuse").status == 3
    assert peer("die").status == 1


def test_a_script_with_every_feature_produces_valid_lines(peer: Peer) -> None:
    script = peer.accord.project / "script"
    script.write_text("\n---\n".join(["plan", "think", "tool", "usage", "commands", "title A name", "permission"]))
    done = peer("--json", "--mode", "careful", "--model", "Deep", "--script", "script")
    valid = jsonschema_rs.validator_for(json.loads(output_events.schema()))
    assert done.status == 6 and all(valid.is_valid(line) for line in done.lines)
    (session,) = done.events("session")
    assert (session["agent"], session["protocol_version"]) == (peer.name, peer.version)
    assert (session["mode"], session["model"]) == ("careful", "deep")
    assert [line["text"] for line in done.events("ended")] == [
        "planned",
        "four five six",
        "edited",
        *done_texts(done)[3:6],
        "denied",
    ]
    assert done.events("tool_call")[2]["status"] == "completed"
    assert "-old\n+new\n" in done.events("tool_call")[2]["changes"][0]["patch"]
    assert done.events("usage")[0]["cost"] == 0.25
    assert [step["status"] for step in done.events("plan")[-1]["steps"]] == ["completed", "in_progress", "pending"]
    assert done.events("permission")[0]["decision"] == "refused"


def test_an_exception_in_the_agent_is_shown(peer: Peer) -> None:
    """The SDKs answer "Internal error" and put what was raised into the data."""
    if peer.version == 2:
        return  # this agent answers a prompt before it works
    done = peer("throw")
    assert done.status == 1 and "Internal error: the credit balance is too low" in done.err
    (ended,) = peer("--json", "throw").events("ended")
    assert ended["data"]["details"] == "the credit balance is too low"


def done_texts(done: Done) -> list[str]:
    return [line["text"] for line in done.events("ended")]


def test_files_and_commands_are_subject_to_the_policy(peer: Peer) -> None:
    if peer.version == 2:
        assert peer("--allow", "all", "terminal echo hello").out.startswith("hello")
        return
    path = peer.accord.project / "a.txt"
    refused = peer("write a.txt hello")
    assert refused.out == "error -31001\n" and not path.exists()
    assert peer("--allow", "write:*.txt", "write a.txt hello").out == "written\n"
    assert peer("read a.txt").out == "hello\n"
    assert peer("--allow", "command:echo *", "terminal echo hello").out == "hello\nexit 0\n"


def test_an_earlier_session_can_be_continued(peer: Peer) -> None:
    done = peer("--session", "stored-1", "and now")
    assert (done.status, done.out) == (0, "and now\n")


def test_ctrl_c_cancels_the_turn(peer: Peer) -> None:
    with peer.accord.start("run", "--agent", peer.command, *peer.flags, "wait") as process:
        assert process.stdout is not None and process.stdout.read(7) == "waiting"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 130


def test_doctor_finds_no_problem(peer: Peer) -> None:
    done = peer.accord("doctor", peer.command, *peer.flags, "--prompt", "hello")
    assert done.status == 0, done.out
    assert f"{peer.name}" in done.out and f"protocol version {peer.version}" in done.out
    assert "ok   prompt: end_turn: hello" in done.out


def test_doctor_reports_a_required_login(peer: Peer) -> None:
    done = peer.accord("doctor", f"{peer.command} --auth", *peer.flags)
    assert done.status == 1
    assert "FAIL auth: " in done.out and "→ log in with: test: Test login (agent)" in done.out
