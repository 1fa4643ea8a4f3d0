"""Ctrl-C once and twice, timeouts and signals: their effect on the turn and on processes."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

from support.cli_runner import TIMEOUT_SECONDS, Accord, agent, gone, happens, is_alive, with_time


def test_ctrl_c_asks_the_agent_to_cancel_the_turn(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "slow")
    screen.until("working")
    screen.press("c")
    screen.until("Cancelling… Press Ctrl-C again to kill the agent.")
    assert screen.until("stopped") and screen.end() == 130
    screen.close()


def test_ctrl_c_twice_kills_the_agent_and_its_descendants(accord: Accord) -> None:
    log = accord.folder / "log"
    with accord.start("run", "--agent", agent("--log", str(log)), "stubborn") as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.send_signal(signal.SIGINT)
        assert happens(lambda: log.exists() and log.read_text().endswith("session/cancel\n")), process.poll()
        assert process.poll() is None and all(map(is_alive, pids)), "once is a request, and it may be declined"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 130
        assert gone(*pids)
    assert log.read_text().endswith("session/cancel\n"), "it is not asked once more: its input never ends"


def test_ctrl_c_before_the_turn_ends_the_run(accord: Accord) -> None:
    log = accord.folder / "log"
    with accord.start("run", "--agent", agent("--fault", "slow-session", "--log", str(log)), "hello") as process:
        assert happens(lambda: log.exists() and "session/new" in log.read_text())
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 130
        assert process.stderr is not None and process.stderr.read() == ""


def test_a_turn_that_takes_too_long_is_cancelled(accord: Accord) -> None:
    done = with_time(
        lambda seconds: accord.run("--json", "--timeout", seconds, "slow"),
        lambda done: [event["text"] for event in done.events("ended")] == ["working stopped"],
    )
    assert done.status == 124
    (ended,) = done.events("ended")
    assert (ended["stop_reason"], ended["text"]) == ("cancelled", "working stopped")


def test_an_agent_that_does_not_stop_in_time_is_killed(accord: Accord) -> None:
    done = with_time(
        lambda seconds: accord("run", "--timeout", seconds, "--agent", agent(), "stubborn"),
        lambda done: done.out != "",
    )
    assert done.status == 124 and re.search(
        r"accord: timed out after [\d.]+ s waiting for Tester to answer\n", done.err
    )
    assert gone(*map(int, done.out.split()))


def test_the_timeout_includes_startup(accord: Accord) -> None:
    done = accord("run", "--timeout", "0.5", "--agent", agent("--fault", "never"), "hello")
    name = Path(sys.executable).name
    assert (done.status, done.err) == (124, f"accord: timed out after 0.5 s waiting for {name} to start\n")


def test_sigterm_ends_the_run_and_the_agent(accord: Accord) -> None:
    log = accord.folder / "log"
    with accord.start("run", "--agent", agent("--log", str(log)), "slow") as process:
        assert process.stdout is not None and process.stdout.read(8) == "working "
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 143
    assert log.read_text().split() == ["initialize", "session/new", "session/prompt"]


def test_ctrl_c_works_while_the_output_is_blocked(accord: Accord) -> None:
    with accord.start("run", "--agent", agent(), "many 200000") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "line 0\n"

        def ends() -> bool:
            process.send_signal(signal.SIGINT)
            return process.poll() is not None

        assert happens(ends) and process.returncode == 130


def test_ctrl_c_at_a_permission_request_cancels_it(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "write a.txt hello")
    screen.until("Your choice: ")
    screen.press("c")
    assert screen.end() == 130
    assert not (accord.project / "a.txt").exists()
    screen.close()
