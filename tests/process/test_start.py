"""A program that has been started, but not taken over: it can be abandoned, and isn't lost on an interrupt."""

from __future__ import annotations

import subprocess

import pytest
from process.processes import find_by_token, is_alive, until

from accord.process.child import Child
from accord.process.launch import start
from accord.process.supervision import SupervisedProcess

FAMILY = "trap '' TERM; setsid sleep 60 & echo up; sleep 60"


def test_an_abandoned_command_ends_with_its_descendants() -> None:
    started = start(["sh", "-c", FAMILY])
    token = started.marker.token
    with open(started.pipes["stdout"], "rb", closefd=False) as output:
        assert output.readline() == b"up\n"
    until(lambda: len(find_by_token(token)) >= 3, "the family")
    started.abandon()
    until(lambda: not find_by_token(token), "somebody of the family is left")
    assert started.process.returncode is not None


def test_an_interrupt_during_the_start_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []

    def read_then_interrupt(self: SupervisedProcess, timeout: float | None = 0.0) -> None:
        read(self, timeout)
        pids.append(self.pid)
        monkeypatch.setattr(SupervisedProcess, "read", read)
        raise KeyboardInterrupt

    read = SupervisedProcess.read
    monkeypatch.setattr(SupervisedProcess, "read", read_then_interrupt)
    with pytest.raises(KeyboardInterrupt):
        start(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: not is_alive(pids[0]), "the program that was started")


async def test_a_program_that_was_started_before_the_event_loop_is_looked_after_by_it() -> None:
    child = Child.of(start(["sh", "-c", "echo hello >&2; exit 3"]))
    assert await child.wait() == 3
    assert await child.final_stderr() == "hello"
    await child.stop()


def test_one_that_is_just_becoming_another_program_is_found() -> None:
    """Meanwhile it shows no environment, and so no mark; its parent is gone, and its session is its own."""
    for _ in range(40):
        started = start(["sh", "-c", "setsid sleep 600 & echo $!"], stdin=subprocess.DEVNULL, stderr=None)
        with open(started.pipes["stdout"], "rb", closefd=False) as output:
            pid = int(output.readline())
        started.process.wait()
        started.abandon()
        until(lambda pid=pid: not is_alive(pid), "it was not found")  # type: ignore[misc]
