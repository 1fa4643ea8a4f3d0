"""Helper programs: run to completion, with a timeout, leaving no processes behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli_runner import gone, with_time

from accord.config.environment import login_shell
from accord.config.programs import run
from accord.errors import LaunchError


def test_the_output_and_status_of_a_program_are_returned() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=300)
    assert (done.status, done.output, done.complaints) == (3, b"out\n", "err\n")


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"sleep 600 & echo $! > {pid}.new; mv {pid}.new {pid}; sleep 600"
    done = with_time(lambda seconds: run(["sh", "-c", program], timeout=float(seconds)), lambda _: pid.exists())
    assert done.status is None
    assert gone(int(pid.read_text()))


def test_an_exception_in_tick_ends_the_program(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    pid = tmp_path / "pid"

    def tick() -> None:
        if pid.exists():
            raise Enough

    with pytest.raises(Enough):
        run(["sh", "-c", f"echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 600"], timeout=300, tick=tick)
    assert gone(int(pid.read_text()))


def test_a_program_that_leaves_something_behind_does_not_keep_us(tmp_path: Path) -> None:
    done = run(["sh", "-c", f"setsid sleep 600 & echo $! > {tmp_path}/pid"], timeout=300)
    assert done.status == 0
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    "profile, words",
    [
        ("exit 3\n", "exit status 3"),
        ("sleep 60\n", "it took longer than 0.3 s"),
        ("echo oh no >&2; exit 1\n", "oh no"),
    ],
)
def test_a_failing_login_shell_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, words: str
) -> None:
    (tmp_path / ".profile").write_text(profile)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/sh")
    with pytest.raises(LaunchError, match=words) as caught:
        login_shell(0.3 if "sleep" in profile else 30)
    assert 'use environment = "inherit"' in str(caught.value)


def test_a_missing_login_shell_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/no/such/shell")
    with pytest.raises(LaunchError, match="/no/such/shell doesn't exist"):
        login_shell()
