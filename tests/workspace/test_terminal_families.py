"""No orphans: all descendants end with their command, and every command ends with its client."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from process.processes import find_by_token, is_alive, until
from support.fork_server import Forked, ForkServer
from workspace.terminal_fixtures import until_printed

from accord.workspace.terminals import Terminals

FAMILY = str(Path(__file__).parents[1] / "process" / "family_agent.py")
CLIENT = Path(__file__).with_name("terminal_client.py")
AT_ONCE = 10


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
async def test_all_descendants_end_with_a_command(terminals: Terminals, how: str, pty: bool) -> None:
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


async def test_processes_left_by_a_finished_command_end_at_release(terminals: Terminals) -> None:
    id = await terminals.create("s", "trap '' TERM; sleep 600 & setsid sleep 600 & echo $!", cwd="/")
    await terminals.wait_for_exit(id)
    left = int(terminals.output(id).text)
    assert is_alive(left)
    await terminals.release(id)

    assert not is_alive(left)


def kill_clients(server: ForkServer, moments: list[float]) -> int:
    """Start clients, kill each at its moment, and wait until no process is left. Return how many there were."""
    token = f"accord-test-{os.urandom(8).hex()}"
    clients = [server.start(env={"ACCORD_TEST_RUN": token}) for _ in moments]

    def end(client: Forked, moment: float) -> None:
        assert client.stdout.readline() == b"ready\n"
        time.sleep(moment)  # the moment is the subject
        client.kill()
        until(lambda: not is_alive(client.pid), "a killed client is alive")

    try:
        with ThreadPoolExecutor() as threads:
            list(threads.map(end, clients, moments))
        seen = len(find_by_token(token))
        until(lambda: not find_by_token(token), "somebody is left")
    finally:
        for client in clients:
            client.kill()
            client.stdin.close()
            client.stdout.close()
    return seen


@pytest.mark.slow
@pytest.mark.req("V1-TERM-18")
def test_after_kill_9_of_the_client_at_two_hundred_moments_nobody_is_left() -> None:
    at = random.Random(200)
    with ForkServer(CLIENT) as server:
        seen = sum(kill_clients(server, [at.uniform(0.0, 0.12) for _ in range(AT_ONCE)]) for _ in range(200 // AT_ONCE))

    assert seen > 200, "the clients must have had families, or this proves nothing"
