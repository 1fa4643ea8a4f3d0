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

from accord.process import guard
from accord.process.supervisor import listed

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
    [
        ("wait", "ignoring", "deaf", "session", "daemon", "stopped"),
        ("wait", "ignoring", "bare"),
        ("wait",),
        ("no shell", "ignoring", "daemon"),
    ],
    indirect=True,
    ids=["a difficult family", "one without environment", "an agent alone", "a system without a shell"],
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
    pipe, out, err, families = (target for _, target in sorted(fds.items()))

    assert pipe.startswith("pipe:")
    assert out == err == "/dev/null"
    assert "accord-families" in families, "and nothing else of its parent's"
    assert os.readlink(f"/proc/{client.supervisor}/cwd") == "/"
    assert os.getsid(client.supervisor) == client.supervisor, "a session of its own: no Ctrl-C from the terminal"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(client.supervisor, number)
    client.process.kill()
    client.process.wait()

    nobody_is_left(client)


def test_a_supervisor_that_was_killed_is_replaced_and_knows_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_supervision", supervision := guard._Supervision())
    first = guard.Ward()
    sleeper = subprocess.Popen(["sleep", "600"], env=first.environment())
    first.started(sleeper.pid)
    old = guard.supervisor_pid()
    assert old is not None
    os.kill(old, signal.SIGKILL)
    until(lambda: not is_alive(old))
    guard.Ward()
    new = guard.supervisor_pid()

    assert new is not None and new != old
    supervision.forget()  # the pipe breaks, as if this process were gone
    assert sleeper.wait(BOUND) == -signal.SIGTERM, "the new one knew the child of the old one"
    os.waitpid(new, 0)


def test_the_list_is_as_long_as_there_are_children_at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_supervision", supervision := guard._Supervision())
    kept = guard.Ward()
    kept.started(41)
    for number in range(100):
        ward = guard.Ward()
        ward.started(1000 + number)
        ward.over()
        ward.over()
    assert supervision._list is not None and supervision.pid is not None
    families = listed(supervision._list, None)

    assert os.fstat(supervision._list).st_size == 2 * guard.ENTRY_BYTES
    assert [(family.token, family.root) for family in families] == [(kept.token, 41)]
    kept.over()
    supervisor = supervision.pid
    supervision.forget()
    os.waitpid(supervisor, 0)


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


@pytest.mark.parametrize("is_over", [True, False])
def test_a_parent_that_leaves_nobody_behind_spares_the_supervisor_its_search(tmp_path: Path, is_over: bool) -> None:
    """Only the search is a Python; here it would leave a file."""
    searched = tmp_path / "searched"
    code = (
        "import sys\nfrom accord.process import guard\n"
        f"guard._START = \"open({str(searched)!r}, 'w')\"\n"
        "ward = guard.Ward()\n"
        f"ward.over() if {is_over} else None\n"
        "print(guard.supervisor_pid(), flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    until(lambda: not is_alive(int(done.stdout)), "the supervisor")
    assert searched.exists() != is_over
