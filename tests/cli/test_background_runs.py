"""accord run --name NAME --no-wait: turns in the background."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import Accord, agent, gone, happens, is_alive

from accord.status.attention_list import AttentionList


class Background:
    """Starts runs in the background, and ends those that a test leaves behind."""

    def __init__(self, accord: Accord) -> None:
        self.accord = accord
        self.processes: list[int] = []

    def start(self, *words: str, name: str = "api", log: Path | None = None, **how: Any) -> dict[str, Any]:
        command = agent("--offer", "load", *(["--log", str(log)] if log is not None else []))
        done = self.accord("run", "--agent", command, "--name", name, "--no-wait", "--json", *words, **how)
        assert done.status == 0, done
        (started,) = done.events("background")
        self.processes.append(started["process_id"])
        return started

    def states(self) -> list[str]:
        return [each.state for each in AttentionList(self.accord.data / "status").read()]

    def close(self) -> None:
        for process in self.processes:
            if is_alive(process):
                os.kill(process, signal.SIGTERM)
        assert gone(*self.processes)


@pytest.fixture
def background(accord: Accord) -> Iterator[Background]:
    made = Background(accord)
    yield made
    made.close()


def read_events(started: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(started["log"]).read_text().splitlines()]


def test_the_command_returns_while_the_turn_runs_and_the_status_lists_it(background: Background) -> None:
    started = background.start("slow")
    assert started["name"] == "api" and started["session_id"] == "s-1"
    assert is_alive(started["process_id"])
    done = background.accord("status", "--json")
    (line,) = done.lines
    assert (line["state"], line["title"], line["process_id"]) == ("running", "slow", started["process_id"])
    assert f"to stop it: kill {started['process_id']}" in background.accord("status").out


def test_the_outcome_can_be_read_afterwards(background: Background) -> None:
    started = background.start("hello")
    assert gone(started["process_id"])
    assert background.states() == ["finished"]
    (ended,) = [line for line in read_events(started) if line["event"] == "ended"]
    assert (ended["stop_reason"], ended["text"]) == ("end_turn", "You said: hello")
    assert "kill" not in background.accord("status").out


def test_a_turn_that_fails_is_listed_as_failed(background: Background) -> None:
    started = background.start("fail")
    assert gone(started["process_id"])
    assert background.states() == ["failed"]
    assert "the model said no" in Path(started["log"]).read_text()


def test_it_is_detached_from_the_terminal_and_from_the_pipes_of_the_command(background: Background) -> None:
    # `accord(…)` has returned although it reads standard output until that is closed: no pipe was kept open.
    process = background.start("slow")["process_id"]
    assert os.getsid(process) == process
    opened = {os.readlink(f"/proc/{process}/fd/{number}") for number in (0, 1, 2)}
    assert opened == {"/dev/null", str(next((background.accord.data / "background").glob("*.log")))}


def test_only_the_user_can_read_its_log(background: Background) -> None:
    log = Path(background.start("hello")["log"])
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_a_run_waits_for_the_earlier_runs_of_its_session(background: Background, tmp_path: Path) -> None:
    first = background.start("slow")
    log = tmp_path / "methods"
    second = background.start("second", log=log)
    third = background.start("third")
    assert "session_id" not in second and "session_id" not in third
    other = background.start("hello", name="other")
    assert other["session_id"] == "s-1", "other sessions don't wait"
    assert read_events(second) == [] and not log.exists()
    os.kill(first["process_id"], signal.SIGKILL)
    assert gone(second["process_id"], third["process_id"])
    assert "session/load" in log.read_text().splitlines(), "it continued the session"
    assert [read_events(each)[-1]["text"] for each in (second, third)] == ["You said: second", "You said: third"]


def test_a_run_in_the_foreground_waits_for_those_in_the_background(background: Background) -> None:
    started = background.start("slow")
    waiting = background.accord.start("run", "--agent", agent("--offer", "load"), "--name", "api", "hello")
    assert waiting.stderr is not None and waiting.stdout is not None
    assert "Waiting for the run of session 'api' in the background" in waiting.stderr.readline()
    os.kill(started["process_id"], signal.SIGTERM)
    assert waiting.communicate()[0] == "You said: hello\n"
    assert waiting.returncode == 0


def test_nobody_is_asked_so_only_rules_allow(background: Background) -> None:
    refused = background.start("permission make test")
    allowed = background.start("permission make test", "--yes", name="other")
    assert gone(refused["process_id"], allowed["process_id"])
    decisions = [
        [line["decision"] for line in read_events(each) if line["event"] == "permission"] for each in (refused, allowed)
    ]
    assert decisions == [["refused"], ["allowed"]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_stopping_it_ends_its_agent_and_everything_that_the_agent_started(
    background: Background, number: signal.Signals
) -> None:
    started = background.start("stubborn")

    def read_text() -> str:
        return "".join(line["text"] for line in read_events(started) if line["event"] == "text")

    assert happens(lambda: read_text().endswith("\n"))
    processes = [int(each) for each in read_text().split()]
    assert all(map(is_alive, processes))
    os.kill(started["process_id"], number)
    assert gone(started["process_id"], *processes)
    assert background.states() == ([] if number == signal.SIGTERM else ["failed"])
    assert "kill" not in background.accord("status").out


def test_a_failure_to_start_is_reported_by_the_command(accord: Accord) -> None:
    done = accord("run", "--agent", agent("--fault", "dies"), "--name", "api", "--no-wait", "hello")
    assert done.status == 1
    assert "config.json: no such file" in done.err


def test_a_queued_run_that_cannot_start_is_listed_as_failed(background: Background) -> None:
    first = background.start("slow")
    second = background.start("--set", "nonsense=1", "second")
    os.kill(first["process_id"], signal.SIGTERM)
    assert gone(second["process_id"])
    assert background.states() == ["failed"]


def test_the_prompt_can_come_from_a_pipe(background: Background) -> None:
    started = background.start(stdin="from a pipe\n")
    assert gone(started["process_id"])
    assert read_events(started)[-1]["text"] == "You said: from a pipe"


def test_the_output_says_how_to_follow_and_stop_it(accord: Accord) -> None:
    done = accord("run", "--agent", agent(), "--name", "api", "--no-wait", "hello")
    first, *rest = done.out.splitlines()
    process = first.rpartition(" ")[2].rstrip(".")
    assert first == f"Started in session 'api' (s-1), as process {process}."
    assert [line.split()[0] for line in rest] == ["State", "Answer", "Continue", "Stop"]
    assert gone(int(process))
    assert Path(rest[1].split()[-1]).read_text() == "You said: hello\n"


def test_it_needs_a_name(accord: Accord) -> None:
    done = accord("run", "--agent", agent(), "--no-wait", "hello")
    assert done.status == 2 and "--no-wait needs --name" in done.err
