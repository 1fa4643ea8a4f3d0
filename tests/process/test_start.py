"""A program between its start and its keeper: it can be abandoned, and is not lost when we are interrupted."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from process.alive import carrying, is_alive, until

from accord.process import start as starting
from accord.process.child import Child
from accord.process.launch import launch
from accord.process.start import start

FAMILY = "trap '' TERM; setsid sleep 60 & echo up; sleep 60"


def test_what_is_abandoned_is_gone_with_its_family() -> None:
    started = start(["sh", "-c", FAMILY])
    token = started.ward.token
    with open(started.pipes["stdout"], "rb", closefd=False) as output:
        assert output.readline() == b"up\n"
    until(lambda: len(carrying(token)) >= 3, "the family")
    started.abandon()
    until(lambda: not carrying(token), "somebody of the family is left")
    assert started.process.returncode is not None


def test_an_interrupt_while_it_starts_leaves_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []

    def interrupted(*args: Any, **how: Any) -> None:
        process = launch(*args, **how)
        pids.append(process.pid)
        process.returncode = 0  # nobody holds it, as after an interrupt
        raise KeyboardInterrupt

    monkeypatch.setattr(starting, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: not is_alive(pids[0]), "the program that was started")


async def test_a_program_that_was_started_before_the_event_loop_is_looked_after_by_it() -> None:
    child = Child.of(start(["sh", "-c", "echo hello >&2; exit 3"]))
    assert await child.wait() == 3
    assert await child.last_said() == "hello"
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
