"""One child process: how it starts, how it ends, and who ends with it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from process.alive import BOUND, carrying, is_alive, until

from accord.errors import LaunchError
from accord.process.child import DEVNULL, PIPE, STDOUT, Child, in_words
from accord.process.tree import MARK

FAMILY = str(Path(__file__).with_name("family_agent.py"))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def family(*kinds: str) -> tuple[Child, list[int]]:
    """An agent with a family, and everyone's process id."""
    child = await Child.start([sys.executable, FAMILY, *kinds])
    said = b""
    assert child.stdout is not None
    while not said.endswith(b"all\n"):
        chunk = await asyncio.to_thread(os.read, child.stdout, 1000)
        assert chunk, child.stderr_tail()
        said += chunk
    return child, [int(pid) for pid in said.split()[:-1]]


@pytest.fixture(params=["pidfd", "thread"])
def watcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "thread":
        monkeypatch.delattr(os, "pidfd_open")


@pytest.mark.usefixtures("watcher")
async def test_the_status_is_known_when_it_has_ended() -> None:
    child = await Child.start(python("raise SystemExit(7)"))
    assert child.status is None

    assert await asyncio.wait_for(child.wait(), BOUND) == 7
    assert child.status == 7
    assert await child.stop() == 7


@pytest.mark.usefixtures("watcher")
async def test_a_child_that_heeds_the_end_of_its_input_is_not_signalled() -> None:
    child = await Child.start(python("import sys; sys.stdin.read(); sys.exit(5)"))

    assert await asyncio.wait_for(child.stop(stdin_grace=BOUND), BOUND) == 5
    assert await child.stop() == 5


async def test_it_runs_where_and_with_what_it_was_told(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['COLOUR'], os.environ.get('HOME'), os.getsid(0) == os.getpid())"
    child = await Child.start(python(code), cwd=tmp_path, env={"COLOUR": "blue"}, stdin=DEVNULL)
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000).decode().split() == [str(tmp_path), "blue", "None", "True"]
    assert child.stdin is None
    await child.stop()


async def test_standard_error_can_go_with_standard_output() -> None:
    child = await Child.start(["/bin/sh", "-c", "echo out; echo err >&2"], stderr=STDOUT)
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000) == b"out\nerr\n"
    await child.stop()


async def test_nothing_of_a_failed_start_is_left_open(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(LaunchError):
        await Child.start([str(tmp_path / "nothing")], stdin=PIPE)
    await (await Child.start(["true"])).stop()

    assert len(set(os.listdir("/proc/self/fd")) - before) <= 1, "at most the pipe to the supervisor is new"


async def test_everyone_it_started_ends_with_it() -> None:
    child, pids = await family("deaf", "session", "daemon", "stopped")
    assert len(pids) == 5
    token = _token(child)
    assert set(pids) <= set(carrying(token))
    await asyncio.wait_for(child.stop(stdin_grace=1.0, term_grace=0.1), BOUND)

    assert not any(map(is_alive, pids))
    assert carrying(token) == []


async def test_one_that_wiped_its_environment_and_left_the_session_ends_too() -> None:
    child, (_, bare) = await family("bare")
    assert bare not in carrying(_token(child))
    await asyncio.wait_for(child.stop(stdin_grace=1.0, term_grace=0.1), BOUND)

    assert not is_alive(bare)


async def test_a_child_that_ignores_everything_is_killed() -> None:
    child, pids = await family("ignoring", "deaf")
    status = await asyncio.wait_for(child.stop(stdin_grace=0.05, term_grace=0.05), BOUND)

    assert status == -signal.SIGKILL
    assert not any(map(is_alive, pids))


async def test_what_a_dead_child_left_behind_is_ended_by_stop() -> None:
    child, pids = await family("deaf", "daemon")
    os.kill(child.pid, signal.SIGKILL)
    await asyncio.wait_for(child.wait(), BOUND)
    assert sum(map(is_alive, pids)) == 2
    await asyncio.wait_for(child.stop(term_grace=0.05), BOUND)

    assert not any(map(is_alive, pids))


async def test_cancelling_stop_cuts_it_short_and_leaves_nobody() -> None:
    child, pids = await family("ignoring", "deaf", "session")
    stopping = asyncio.ensure_future(child.stop(stdin_grace=60.0))
    await asyncio.sleep(0.05)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping

    assert child.status == -signal.SIGKILL
    until(lambda: not carrying(_token(child)) and not any(map(is_alive, pids)))


async def test_stopping_twice_at_once_is_stopping_once() -> None:
    child, _ = await family("deaf")

    assert await asyncio.gather(child.stop(term_grace=0.05), child.stop(term_grace=0.05)) == [0, 0]


async def test_a_signal_reaches_the_whole_group() -> None:
    child = await Child.start(["/bin/sh", "-c", "sleep 600; exit 1"])
    child.signal(signal.SIGTERM)

    assert await asyncio.wait_for(child.wait(), BOUND) == -signal.SIGTERM
    await child.stop()
    child.signal(signal.SIGTERM)  # harmless once it has ended


async def test_a_child_inherits_no_descriptor_of_ours() -> None:
    leaked = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    child = await Child.start(["/bin/sh", "-c", "ls /proc/$$/fd"])
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000).split() == [b"0", b"1", b"2"]
    await child.stop()
    os.close(leaked)


async def test_families_inside_families_carry_the_marks_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "outer")
    child = await Child.start(["/bin/sh", "-c", f"echo ${MARK}"], env={"PATH": os.environ["PATH"]})
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000).decode().strip() == f"outer:{_token(child)}"
    await child.stop()


@pytest.mark.parametrize(
    "status, words",
    [
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-9, "was ended by SIGKILL"),
        (-63, "was ended by signal 63"),
    ],
)
def test_how_it_ended_is_said_in_words(status: int, words: str) -> None:
    assert in_words(status) == words


def _token(child: Child) -> str:
    return child._ward.token
