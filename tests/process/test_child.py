"""Child processes: start, exit, and the end of their descendants."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from process.processes import BOUND, find_by_token, is_alive, until

from accord.errors import LaunchError
from accord.process import supervision
from accord.process.child import DEVNULL, PIPE, STDOUT, Child, describe_exit
from accord.process.tree import MARKER_VARIABLE

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


@pytest.fixture(params=["loop", "thread"])
async def watcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event loop that cannot watch descriptors has a thread do it."""
    if request.param == "thread":
        loop = asyncio.get_running_loop()
        watch = loop.add_reader

        def add_reader(fd: int, callback: Any, *args: Any) -> None:
            if getattr(callback, "__name__", "") == "_note":
                raise NotImplementedError
            watch(fd, callback, *args)

        monkeypatch.setattr(loop, "add_reader", add_reader)


@pytest.mark.usefixtures("watcher")
async def test_the_status_is_known_when_it_has_ended() -> None:
    child = await Child.start(python("raise SystemExit(7)"))
    assert child.status is None

    assert await asyncio.wait_for(child.wait(), BOUND) == 7
    assert child.status == 7
    assert await child.stop() == 7


@pytest.mark.usefixtures("watcher")
async def test_a_child_that_exits_at_the_end_of_its_input_is_not_signalled() -> None:
    child = await Child.start(python("import sys; sys.stdin.read(); sys.exit(5)"))

    assert await asyncio.wait_for(child.stop(stdin_grace=BOUND), BOUND) == 5
    assert await child.stop() == 5


async def test_it_runs_with_the_given_directory_arguments_and_environment(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['COLOR'], os.environ.get('HOME'), os.getsid(0) == os.getpid())"
    child = await Child.start(python(code), cwd=tmp_path, env={"COLOR": "blue"}, stdin=DEVNULL)
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


async def test_all_descendants_end_with_it() -> None:
    child, pids = await family("deaf", "session", "daemon", "stopped")
    assert len(pids) == 5
    token = _token(child)
    assert set(pids) <= set(find_by_token(token))
    await asyncio.wait_for(child.stop(stdin_grace=1.0, term_grace=0.1), BOUND)

    assert not any(map(is_alive, pids))
    assert find_by_token(token) == []


@pytest.mark.parametrize("kind", ["bare", "wiped"])
async def test_one_that_wiped_its_environment_and_left_the_session_ends_too(kind: str) -> None:
    child, (_, bare) = await family(kind)
    assert bare not in find_by_token(_token(child))
    await asyncio.wait_for(child.stop(stdin_grace=1.0, term_grace=0.1), BOUND)

    assert not is_alive(bare)


async def test_a_child_that_ignores_everything_is_killed() -> None:
    child, pids = await family("ignoring", "deaf")
    status = await asyncio.wait_for(child.stop(stdin_grace=0.05, term_grace=0.05), BOUND)

    assert status == -signal.SIGKILL
    assert not any(map(is_alive, pids))


async def test_stop_ends_the_descendants_of_an_exited_child() -> None:
    child, pids = await family("deaf", "daemon")
    os.kill(child.pid, signal.SIGKILL)
    await asyncio.wait_for(child.wait(), BOUND)
    assert sum(map(is_alive, pids)) == 2
    await asyncio.wait_for(child.stop(term_grace=0.05), BOUND)

    assert not any(map(is_alive, pids))


async def test_cancelling_stop_kills_at_once_and_leaves_no_process() -> None:
    child, pids = await family("ignoring", "deaf", "session")
    stopping = asyncio.ensure_future(child.stop(stdin_grace=60.0))
    await asyncio.sleep(0.05)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping

    assert child.status == -signal.SIGKILL
    until(lambda: not find_by_token(_token(child)) and not any(map(is_alive, pids)))


async def test_one_that_is_left_ends_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "EXIT_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(supervision, "TERM_GRACE_SECONDS", 0.1)
    child, pids = await family("ignoring", "wiped")
    child.detach()
    child.detach()

    until(lambda: not any(map(is_alive, pids)))


async def test_stopping_twice_at_once_is_stopping_once() -> None:
    child, _ = await family("deaf")

    stops = [child.stop(stdin_grace=BOUND, term_grace=0.05) for _ in range(2)]
    assert await asyncio.gather(*stops) == [0, 0]


async def test_a_signal_reaches_the_whole_group() -> None:
    child = await Child.start(["/bin/sh", "-c", "sleep 600; exit 1"])
    child.signal(signal.SIGTERM)

    assert await asyncio.wait_for(child.wait(), BOUND) == -signal.SIGTERM
    await child.stop()
    child.signal(signal.SIGTERM)  # harmless once it has ended


async def test_a_child_inherits_none_of_our_descriptors() -> None:
    leaked = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    child = await Child.start(["/bin/sh", "-c", "ls /proc/$$/fd"])
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000).split() == [b"0", b"1", b"2"]
    await child.stop()
    os.close(leaked)


async def test_families_inside_families_carry_the_marks_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER_VARIABLE, "outer")
    child = await Child.start(["/bin/sh", "-c", f"echo ${MARKER_VARIABLE}"], env={"PATH": os.environ["PATH"]})
    await asyncio.wait_for(child.wait(), BOUND)
    assert child.stdout is not None

    assert os.read(child.stdout, 1000).decode().strip() == f"outer:{_token(child)}"
    await child.stop()


@pytest.mark.parametrize(
    "status, words",
    [
        (0, "exited with status 0"),
        (3, "exited with status 3"),
        (-9, "was killed by SIGKILL"),
        (-63, "was killed by signal 63"),
    ],
)
def test_the_exit_is_described(status: int, words: str) -> None:
    assert describe_exit(status) == words


def _token(child: Child) -> str:
    return child._marker.token
