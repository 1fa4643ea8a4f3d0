"""No orphans, however this process ends: tested from outside, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.processes import BOUND, find_by_token, is_alive, until

from accord.process import supervision
from accord.process.launch import start

CLIENT = str(Path(__file__).with_name("client.py"))


class Client:
    """A client in another process, with a supervisor, an agent and the agent's family."""

    def __init__(self, ending: str, *kinds: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, CLIENT, ending, *kinds],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        supervisor, keeper, token = self.process.stdout.readline().split()
        self.supervisor, self.keeper, self.token = int(supervisor), int(keeper), token.decode()
        self.pids = [int(pid) for pid in iter(self.process.stdout.readline, b"all\n")]

    def until_done(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"done\n"

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        until(lambda: not is_alive(self.supervisor), "the supervisor is still there")
        for pid in find_by_token(self.token):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(*request.param)
    yield client
    client.close()


def nobody_is_left(client: Client) -> None:
    until(lambda: not find_by_token(client.token), "somebody who carries the mark")
    until(lambda: not any(map(is_alive, client.pids)), "somebody of the family")
    until(lambda: not is_alive(client.supervisor), "the supervisor")


@pytest.mark.parametrize(
    "client",
    [
        ("wait", "ignoring", "deaf", "session", "daemon", "stopped"),
        ("wait", "ignoring", "bare"),
        ("wait",),
        ("wait", "wiped"),
        ("wait", "ignoring", "wiped"),
    ],
    indirect=True,
    ids=["a difficult family", "one without environment", "an agent alone", "a wiped daemon", "of a deaf agent"],
)
def test_no_process_is_left_after_kill_9_of_the_parent(client: Client) -> None:
    client.until_done()
    assert all(map(is_alive, client.pids))
    client.process.kill()
    client.process.wait()

    nobody_is_left(client)


@pytest.mark.parametrize(
    "client, status", [(("return", "deaf", "daemon"), 0), (("raise", "deaf", "daemon"), 1)], indirect=["client"]
)
def test_no_child_outlives_a_parent_that_forgot_it(client: Client, status: int) -> None:
    assert client.process.wait(BOUND) == status

    nobody_is_left(client)


@pytest.mark.parametrize("client", [("fork", "deaf", "daemon")], indirect=True)
def test_a_fork_of_the_parent_does_not_keep_its_children_alive(client: Client) -> None:
    client.until_done()
    client.process.kill()
    client.process.wait()

    until(lambda: not any(map(is_alive, client.pids)))
    until(lambda: not is_alive(client.supervisor))
    os.killpg(client.process.pid, signal.SIGKILL)  # the fork was there all the while


@pytest.mark.parametrize("client", [("wait", "deaf")], indirect=True)
def test_the_supervisor_is_out_of_everyones_way(client: Client) -> None:
    client.until_done()
    folder = f"/proc/{client.supervisor}/fd"
    fds = {int(name): os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}

    assert fds[0] == fds[1] == fds[2] == "/dev/null"
    others = [target for number, target in fds.items() if number > 2 and "/libffi." not in target]  # ctypes keeps that
    assert all(target.startswith(("pipe:", "socket:")) for target in others)
    assert os.readlink(f"/proc/{client.supervisor}/cwd") == "/"
    assert os.getsid(client.supervisor) == client.supervisor, "a session of its own: no Ctrl-C from the terminal"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(client.supervisor, number)
    client.process.kill()
    client.process.wait()

    nobody_is_left(client)


WHO = ["supervisor", "keeper"]


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("client", [("wait", "ignoring", "deaf", "daemon", "wiped")], indirect=True)
def test_if_a_supervisor_or_keeper_is_killed_everything_below_it_ends_at_once(client: Client, who: str) -> None:
    client.until_done()
    os.kill(client.supervisor if who == "supervisor" else client.keeper, signal.SIGKILL)

    until(lambda: not any(map(is_alive, client.pids)), "somebody of the family")
    assert client.process.poll() is None, "the client itself goes on"


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("client", [("wait", "ignoring", "daemon", "wiped")], indirect=True)
def test_when_one_of_them_is_killed_with_its_client_no_process_is_left(client: Client, who: str) -> None:
    client.until_done()
    for pid in (client.supervisor if who == "supervisor" else client.keeper, client.process.pid):
        os.kill(pid, signal.SIGKILL)

    until(lambda: not any(map(is_alive, client.pids)), "somebody of the family")


@pytest.mark.parametrize("client", [("attack", "wiped")], indirect=True)
def test_a_child_that_kills_supervisor_and_keeper_at_once_is_looked_for(client: Client) -> None:
    """Nobody holds the family together then; who still carries the mark is found when the child is stopped."""
    client.until_done()

    until(lambda: not find_by_token(client.token), "somebody who carries the mark")
    for pid in client.pids:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)  # the limit: one that wiped its environment as well


def test_a_supervisor_that_was_killed_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = supervision.SupervisorConnection()
    monkeypatch.setattr(supervision, "_supervisor", supervisor)
    first = start(["sleep", "600"])
    old = supervision._supervisor.pid
    assert old is not None
    os.kill(old, signal.SIGKILL)
    assert first.process.wait(BOUND) == -signal.SIGKILL
    second = start(["sleep", "600"])

    assert supervision._supervisor.pid not in (None, old)
    assert second.process.poll() is None
    first.abandon()
    second.abandon()
    supervisor.forget()


def test_a_program_without_an_interpreter_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "_supervisor", supervision.SupervisorConnection())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    started = start(["sh", "-c", "setsid sleep 600 & echo up; sleep 600"])
    with open(started.pipes["stdout"], "rb", closefd=False) as output:
        assert output.readline() == b"up\n"
    until(lambda: len(find_by_token(started.marker.token)) == 3, "the shell and the two that it starts")
    started.abandon()

    assert supervision._supervisor.pid is None
    assert find_by_token(started.marker.token) == []
