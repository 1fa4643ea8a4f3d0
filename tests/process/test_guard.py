"""No orphans, however this process ends: seen from outside, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.alive import BOUND, carrying, is_alive, until

from accord.process import guard, tree

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
        supervisor, token = self.process.stdout.readline().split()
        self.supervisor, self.token = int(supervisor), token.decode()
        self.pids = [int(pid) for pid in iter(self.process.stdout.readline, b"all\n")]

    def until_done(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"done\n"

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        until(lambda: not is_alive(self.supervisor), "the supervisor is still there")
        for pid in carrying(self.token):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(*request.param)
    yield client
    client.close()


def nobody_is_left(client: Client) -> None:
    until(lambda: not carrying(client.token), "somebody who carries the mark")
    until(lambda: not any(map(is_alive, client.pids)), "somebody of the family")
    until(lambda: not is_alive(client.supervisor), "the supervisor")


@pytest.mark.parametrize(
    "client",
    [("wait", "ignoring", "deaf", "session", "daemon", "stopped"), ("wait", "ignoring", "bare"), ("wait",)],
    indirect=True,
    ids=["a difficult family", "one without environment", "an agent alone"],
)
def test_after_kill_9_of_the_parent_nobody_is_left(client: Client) -> None:
    client.until_done()
    assert all(map(is_alive, client.pids))
    client.process.kill()
    client.process.wait()

    nobody_is_left(client)


@pytest.mark.parametrize(
    "client, status", [(("return", "deaf", "daemon"), 0), (("raise", "deaf", "daemon"), 1)], indirect=["client"]
)
def test_after_the_end_of_a_parent_that_forgot_its_children_nobody_is_left(client: Client, status: int) -> None:
    assert client.process.wait(BOUND) == status

    nobody_is_left(client)


@pytest.mark.parametrize("client", [("stop", "deaf", "daemon")], indirect=True)
def test_after_an_orderly_end_the_supervisor_waits_for_the_next_child(client: Client) -> None:
    client.until_done()
    assert carrying(client.token) == []
    assert is_alive(client.supervisor)
    client.process.kill()
    client.process.wait()
    until(lambda: not is_alive(client.supervisor))


@pytest.mark.parametrize(
    "client",
    [("fork", "deaf", "daemon"), ("hold", "daemon")],
    indirect=True,
    ids=["forgets the pipe", "holds the pipe"],
)
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
    fds = {name: os.readlink(f"/proc/{client.supervisor}/fd/{name}") for name in _settled_fds(client.supervisor)}
    pipe = fds.pop("0")
    watched = [target for name, target in fds.items() if int(name) > 2]

    assert pipe.startswith("pipe:")
    assert fds["1"] == fds["2"] == "/dev/null"
    assert all("pidfd" in target for target in watched), "nothing of its parent's but the pipe"
    assert os.readlink(f"/proc/{client.supervisor}/cwd") == "/"
    assert os.getsid(client.supervisor) == client.supervisor, "a session of its own: no Ctrl-C from the terminal"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(client.supervisor, number)
    client.process.kill()
    client.process.wait()

    nobody_is_left(client)


def test_a_supervisor_that_was_killed_is_replaced_and_told_everything() -> None:
    first = guard.Ward()
    old = guard.supervisor_pid()
    assert old is not None
    os.kill(old, signal.SIGKILL)
    until(lambda: not is_alive(old))
    second = guard.Ward()
    new = guard.supervisor_pid()

    assert new is not None and new != old
    sleeper = subprocess.Popen(["sleep", "600"], env=first.environment())
    first.started(sleeper.pid)
    supervision = guard._supervision
    assert supervision._pipe is not None
    os.close(supervision._pipe)  # as if this process were gone
    assert sleeper.wait(BOUND) == -signal.SIGTERM, "the new one knew the child of the old one"
    supervision._pipe = supervision._pid = None
    supervision._wards.clear()
    assert second.environment()[tree.MARK].endswith(second.token)


def test_a_program_without_an_interpreter_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_supervision", guard._Supervision())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    ward = guard.Ward()
    ward.started(1)
    ward.over()

    assert guard.supervisor_pid() is None


def test_windows_says_that_it_is_not_guarded_yet() -> None:
    with pytest.raises(NotImplementedError, match="Windows"):
        guard.windows_job()


def _settled_fds(pid: int) -> list[str]:
    """Its descriptors, once it waits for its parent (before that, Python opens files to load itself)."""
    until(lambda: any("pidfd" in os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")))
    return os.listdir(f"/proc/{pid}/fd")
