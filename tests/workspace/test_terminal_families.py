"""No orphans: everyone whom a command started ends with it, and every command ends with its client."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from process.alive import carrying, is_alive, until
from workspace.printing import until_printed

from accord.workspace.terminals import Terminals

FAMILY = str(Path(__file__).parents[1] / "process" / "family_agent.py")
CLIENT = str(Path(__file__).with_name("terminal_client.py"))
AT_ONCE = 5


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    terminals = Terminals(grace=0.1)
    yield terminals
    await terminals.close()


async def family(terminals: Terminals, *kinds: str, pty: bool = False) -> tuple[str, list[int]]:
    """A command with a family, and everyone's process id."""
    id = await terminals.create("s", sys.executable, [FAMILY, "ignoring", *kinds], cwd="/", pty=pty)
    printed = await until_printed(terminals, id, "all")
    return id, [int(pid) for pid in printed.split()[:-1]]


@pytest.mark.req("V1-TERM-10", "V1-TERM-11")
@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
@pytest.mark.parametrize("how", ["kill", "release", "release_session", "close"])
async def test_everyone_whom_a_command_started_ends_with_it(terminals: Terminals, how: str, pty: bool) -> None:
    id, pids = await family(terminals, "deaf", "session", "daemon", "bare", "stopped", pty=pty)
    assert len(pids) == 6
    assert all(map(is_alive, pids))
    await {
        "kill": lambda: terminals.kill(id),
        "release": lambda: terminals.release(id),
        "release_session": lambda: terminals.release_session("s"),
        "close": terminals.close,
    }[how]()

    assert not any(map(is_alive, pids))


async def test_who_was_left_behind_by_a_command_that_has_ended_ends_at_the_release(terminals: Terminals) -> None:
    id = await terminals.create("s", "trap '' TERM; sleep 600 & setsid sleep 600 & echo $!", cwd="/")
    await terminals.wait_for_exit(id)
    left = int(terminals.output(id).text)
    assert is_alive(left)
    await terminals.release(id)

    assert not is_alive(left)


def killed_clients(moments: list[float]) -> int:
    """Starts clients, ends each by SIGKILL at its moment, waits until nobody is left; gives how many there had been."""
    token = f"accord-test-{os.urandom(8).hex()}"
    environment = {**os.environ, "ACCORD_TEST_RUN": token}
    clients = [
        subprocess.Popen([sys.executable, CLIENT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in moments
    ]

    def end(client: subprocess.Popen[bytes], moment: float) -> None:
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        time.sleep(moment)  # the moment is the subject
        client.kill()
        client.wait()

    try:
        with ThreadPoolExecutor() as threads:
            list(threads.map(end, clients, moments))
        seen = len(carrying(token))
        until(lambda: not carrying(token), "somebody is left")
    finally:
        for client in clients:
            client.kill()
            client.communicate()
    return seen


def in_batches(runs: int, seed: int) -> None:
    at = random.Random(seed)
    seen = 0
    for start in range(0, runs, AT_ONCE):
        seen += killed_clients([at.uniform(0.0, 0.12) for _ in range(min(AT_ONCE, runs - start))])
    assert seen > runs, "the clients must have had families, or this proves nothing"


@pytest.mark.req("V1-TERM-18")
def test_after_kill_9_of_the_client_at_any_moment_nobody_is_left() -> None:
    in_batches(10, seed=10)


@pytest.mark.slow
@pytest.mark.req("V1-TERM-18")
def test_after_kill_9_of_the_client_at_two_hundred_moments_nobody_is_left() -> None:
    in_batches(200, seed=200)
