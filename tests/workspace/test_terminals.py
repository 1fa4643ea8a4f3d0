"""Terminals as an agent uses them: create, output, wait, kill, release; and what a client does with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from process.processes import is_alive
from process.processes import until as wait_until
from support.link import until
from workspace.terminal_fixtures import python, until_printed

from accord.errors import RESOURCE_NOT_FOUND, NotFound, RequestFailed
from accord.model.tool import ExitStatus
from accord.workspace.output import Delta, Subscription
from accord.workspace.terminals import TerminalOutput, Terminals

OBEDIENT = """
import os, signal
def asked(*_):
    os.write(1, b"asked\\n")
    os._exit(9)
signal.signal(signal.SIGTERM, asked)
os.write(1, b"begun\\n")
while True:
    signal.pause()
"""


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    terminals = Terminals(grace=0.2)
    yield terminals
    await terminals.close()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A FIFO: who reads it waits until somebody writes."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


async def all_of(watcher: Subscription) -> list[Delta]:
    return [delta async for delta in watcher]


def let_through(gate: Path) -> None:
    gate.write_text("go\n")


@pytest.mark.req("V1-TERM-02")
async def test_a_terminal_from_its_beginning_to_its_end(terminals: Terminals) -> None:
    id = await terminals.create("s", "printf", ["%s-%s", "a", "b"], cwd="/")

    assert await terminals.wait_for_exit(id) == ExitStatus(code=0)
    assert terminals.output(id) == TerminalOutput("a-b", False, ExitStatus(code=0))
    await terminals.kill(id)
    await terminals.release(id)


@pytest.mark.req("V1-TERM-03")
async def test_the_id_is_there_while_the_command_runs(terminals: Terminals) -> None:
    id = await terminals.create("s", "sleep", ["600"], cwd="/")

    assert terminals.output(id) == TerminalOutput("", False, None)
    assert is_alive(terminals.terminal(id).pid)
    assert terminals.ids("s") == [id]


@pytest.mark.req("V1-TERM-06", "V1-TERM-17")
async def test_output_can_be_read_while_the_command_runs_and_others_wait_for_it(
    terminals: Terminals, gate: Path
) -> None:
    id = await terminals.create("s", f"echo one; read x < {gate}; echo two; exit 3", cwd="/")
    waiters = [asyncio.ensure_future(terminals.wait_for_exit(id)) for _ in range(20)]
    await until_printed(terminals, id, "one\n")
    assert terminals.output(id) == TerminalOutput("one\n", False, None)
    assert not any(waiter.done() for waiter in waiters)
    waiters.pop().cancel()
    await asyncio.to_thread(let_through, gate)

    assert await asyncio.gather(*waiters) == [ExitStatus(code=3)] * 19
    assert terminals.output(id) == TerminalOutput("one\ntwo\n", False, ExitStatus(code=3))
    assert await terminals.wait_for_exit(id) == ExitStatus(code=3)


@pytest.mark.req("V1-TERM-07", "V1-TERM-08")
@pytest.mark.parametrize(
    "limit, text, truncated",
    [
        (12, "0123456é漢", False),
        (11, "123456é漢", True),
        (4, "漢", True),
        (3, "漢", True),
        (2, "", True),
        (0, "", True),
    ],
)
async def test_the_beginning_is_left_out_and_no_character_is_cut(
    terminals: Terminals, limit: int, text: str, truncated: bool
) -> None:
    id = await terminals.create("s", "printf", ["0123456é漢"], cwd="/", output_limit=limit)
    await terminals.wait_for_exit(id)

    assert terminals.output(id) == TerminalOutput(text, truncated, ExitStatus(code=0))


@pytest.mark.req("V1-TERM-09")
@pytest.mark.parametrize(
    "line, exit",
    [
        ("exit 0", ExitStatus(code=0)),
        ("exit 3", ExitStatus(code=3)),
        ("exit 255", ExitStatus(code=255)),
        ("kill -TERM $$", ExitStatus(signal="SIGTERM")),
        ("kill -KILL $$", ExitStatus(signal="SIGKILL")),
        ("kill -SEGV $$", ExitStatus(signal="SIGSEGV")),
        ("kill -40 $$", ExitStatus(signal="SIG40")),
    ],
)
@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_the_exit_code_or_the_signal_is_reported(
    terminals: Terminals, line: str, exit: ExitStatus, pty: bool
) -> None:
    id = await terminals.create("s", f"ulimit -c 0; {line}", cwd="/", pty=pty)

    assert await terminals.wait_for_exit(id) == exit
    assert terminals.output(id).exit == exit


@pytest.mark.req("V1-TERM-10")
@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_after_a_kill_output_and_end_can_still_be_read(terminals: Terminals, pty: bool) -> None:
    id = await terminals.create("s", *python(OBEDIENT), cwd="/", pty=pty)
    await until_printed(terminals, id, "begun")
    waiting = asyncio.ensure_future(terminals.wait_for_exit(id))
    await terminals.kill(id)

    assert await waiting == ExitStatus(code=9)
    assert terminals.output(id).text.split() == ["begun", "asked"]
    await terminals.kill(id)
    assert await terminals.wait_for_exit(id) == ExitStatus(code=9)
    await terminals.release(id)


async def test_a_command_that_ignores_sigterm_is_killed(terminals: Terminals) -> None:
    id = await terminals.create("s", "trap '' TERM; echo begun; while :; do sleep 600; done", cwd="/")
    await until_printed(terminals, id, "begun")
    await terminals.kill(id)

    assert terminals.output(id) == TerminalOutput("begun\n", False, ExitStatus(signal="SIGKILL"))


@pytest.mark.req("V1-TERM-11", "V1-TERM-12")
async def test_release_ends_the_command_and_the_id(terminals: Terminals) -> None:
    id = await terminals.create("s", "echo begun; sleep 600", cwd="/")
    await until_printed(terminals, id, "begun")
    pid = terminals.terminal(id).pid
    waiting = asyncio.ensure_future(terminals.wait_for_exit(id))
    await asyncio.sleep(0)
    releasing = asyncio.ensure_future(terminals.release(id))
    await asyncio.sleep(0)
    with pytest.raises(NotFound):  # from the first moment
        terminals.output(id)
    await releasing

    assert not is_alive(pid)
    assert await waiting == ExitStatus(signal="SIGTERM")
    for call in (terminals.wait_for_exit, terminals.kill, terminals.release):
        with pytest.raises(NotFound):
            await call(id)


@pytest.mark.req("V1-TERM-12")
async def test_an_id_that_never_was_is_not_found(terminals: Terminals) -> None:
    with pytest.raises(NotFound, match="terminal 'term_1' doesn't exist") as caught:
        terminals.output("term_1")

    assert caught.value.code == RESOURCE_NOT_FOUND
    assert caught.value.data == {"terminalId": "term_1"}


@pytest.mark.req("V1-TERM-16")
async def test_a_released_terminal_can_still_be_shown(terminals: Terminals) -> None:
    id = await terminals.create("s", "seq 1000", cwd="/", output_limit=10)
    await terminals.wait_for_exit(id)
    assert terminals.output(id) == TerminalOutput("\n999\n1000\n", True, ExitStatus(code=0))
    await terminals.release(id)
    shown = "".join([f"{number}\n" for number in range(1, 1001)])

    assert terminals.read_output(id) == TerminalOutput(shown, False, ExitStatus(code=0)), (
        "a person sees more than the agent asked for"
    )
    assert await all_of(terminals.subscribe(id)) == [Delta(shown.encode(), 0, ExitStatus(code=0))]


async def test_of_what_was_released_the_oldest_is_forgotten() -> None:
    terminals = Terminals(kept_bytes=30_000)
    ids = [await terminals.create("s", "head -c 9000 /dev/zero | tr '\\0' x", cwd="/") for _ in range(4)]
    for id in ids:
        await terminals.wait_for_exit(id)
        await terminals.release(id)

    with pytest.raises(NotFound):
        terminals.read_output(ids[1])
    assert [len(terminals.read_output(id).text) for id in ids[2:]] == [9000, 9000]


@pytest.mark.req("V1-TERM-18")
async def test_with_its_session_every_terminal_is_released(terminals: Terminals) -> None:
    mine = [await terminals.create("mine", "sleep", ["600"], cwd="/") for _ in range(3)]
    other = await terminals.create("other", "sleep", ["600"], cwd="/")
    pids = [terminals.terminal(id).pid for id in mine]
    await asyncio.gather(terminals.release_session("mine"), terminals.release(mine[0]))

    assert not any(map(is_alive, pids))
    assert terminals.ids("mine") == []
    assert terminals.ids() == [other]
    assert terminals.output(other).exit is None
    assert terminals.read_output(mine[1]).exit == ExitStatus(signal="SIGTERM")


@pytest.mark.req("V1-TERM-18")
async def test_closing_ends_everything_and_lets_nothing_begin(terminals: Terminals) -> None:
    pids = [terminals.terminal(await terminals.create(name, "sleep", ["600"], cwd="/")).pid for name in "ab"]
    await terminals.close()
    await terminals.close()

    assert not any(map(is_alive, pids))
    with pytest.raises(RequestFailed, match="closed"):
        await terminals.create("a", "true", cwd="/")


async def test_the_same_id_is_never_given_twice(terminals: Terminals) -> None:
    ids = [await terminals.create("s", "true", cwd="/") for _ in range(10)]

    assert len(set(ids)) == 10


async def test_fifty_at_once_do_not_disturb_each_other(terminals: Terminals) -> None:
    ids = [
        await terminals.create("s", f"for i in 1 2 3; do echo {number}; sleep 0.01; done; exit {number}", cwd="/")
        for number in range(50)
    ]
    exits = await asyncio.gather(*map(terminals.wait_for_exit, ids))

    assert [exit.code for exit in exits] == list(range(50))
    assert [terminals.output(id).text for id in ids] == [f"{number}\n" * 3 for number in range(50)]
    await terminals.release_session("s")


async def test_the_number_of_terminals_is_limited() -> None:
    terminals = Terminals(max_terminals=2)
    first = await terminals.create("s", "true", cwd="/")
    await terminals.create("s", "true", cwd="/")
    with pytest.raises(RequestFailed, match="release some"):
        await terminals.create("s", "true", cwd="/")
    await terminals.release(first)
    await terminals.create("s", "true", cwd="/")
    await terminals.close()


async def test_a_command_that_closes_its_output_runs_on(terminals: Terminals, gate: Path) -> None:
    id = await terminals.create("s", f"echo bye; exec >&- 2>&-; read x < {gate}; exit 4", cwd="/")
    terminal = terminals.terminal(id)
    watching = asyncio.ensure_future(all_of(terminals.subscribe(id)))
    await until(lambda: terminal.output.finished)
    assert terminals.output(id) == TerminalOutput("bye\n", False, None)
    await asyncio.to_thread(let_through, gate)

    assert await terminals.wait_for_exit(id) == ExitStatus(code=4)
    assert [delta.data for delta in await watching] == [b"bye\n", b""]


async def test_what_the_command_leaves_in_the_background_neither_delays_its_end_nor_is_lost(
    terminals: Terminals, gate: Path
) -> None:
    id = await terminals.create("s", f"(read x < {gate}; echo later; sleep 600) & echo now", cwd="/")

    assert await terminals.wait_for_exit(id) == ExitStatus(code=0)
    assert terminals.output(id).text == "now\n"
    await asyncio.to_thread(let_through, gate)
    assert await until_printed(terminals, id, "later") == "now\nlater\n"
    await terminals.kill(id)
    assert terminals.terminal(id).output.finished


async def test_who_watches_is_done_when_the_last_in_the_background_is(terminals: Terminals, gate: Path) -> None:
    id = await terminals.create("s", f"(read x < {gate}) & echo now", cwd="/")
    watching = asyncio.ensure_future(all_of(terminals.subscribe(id)))
    await terminals.wait_for_exit(id)
    await asyncio.sleep(0)
    assert not watching.done()
    await asyncio.to_thread(let_through, gate)

    assert b"".join(delta.data for delta in await watching) == b"now\n"


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_all_output_has_been_read_when_the_exit_is_reported(terminals: Terminals, pty: bool) -> None:
    id = await terminals.create("s", "seq 2000", cwd="/", pty=pty)
    pid = terminals.terminal(id).pid
    wait_until(lambda: not is_alive(pid))  # holding up the event loop: all of it and the end come at once
    await terminals.wait_for_exit(id)

    assert terminals.output(id).text.split() == [str(number) for number in range(1, 2001)]


async def test_standard_output_and_error_come_in_the_order_they_were_written(terminals: Terminals) -> None:
    id = await terminals.create("s", "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done", cwd="/")
    await terminals.wait_for_exit(id)

    assert terminals.output(id).text == "".join(f"out{i}\nerr{i}\n" for i in range(1, 6))


async def test_a_command_on_a_pipe_has_nothing_to_read(terminals: Terminals) -> None:
    ours = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)  # what we read from is not for others
    try:
        id = await terminals.create("s", "cat; readlink /proc/self/fd/0", cwd="/")
        await terminals.wait_for_exit(id)
    finally:
        os.dup2(ours, 0)
        for fd in (ours, reading, writing):
            os.close(fd)

    assert terminals.output(id).text == "/dev/null\n"


async def test_invalid_bytes_in_the_output_are_harmless(terminals: Terminals) -> None:
    code = "import os; os.write(1, bytes(range(256)) * 300 + b'\\xf0\\x9f')"
    id = await terminals.create("s", *python(code), cwd="/")
    await terminals.wait_for_exit(id)
    raw = bytes(range(256)) * 300 + b"\xf0\x9f"

    assert terminals.output(id).text == raw.decode("utf-8", "replace")
    assert b"".join([delta.data async for delta in terminals.subscribe(id)]) == raw


@pytest.mark.parametrize("call", ["kill", "release"])
async def test_cancelling_while_a_command_ends_still_ends_it(terminals: Terminals, call: str) -> None:
    id = await terminals.create("s", "trap '' TERM; echo begun; while :; do sleep 600; done", cwd="/")
    await until_printed(terminals, id, "begun")
    terminal = terminals.terminal(id)
    terminals._grace = 60.0
    ending = asyncio.ensure_future(getattr(terminals, call)(id))
    await asyncio.sleep(0.02)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending

    assert await terminal.wait() == ExitStatus(signal="SIGKILL")
    assert not is_alive(terminal.pid)


async def test_nothing_stays_open_after_a_release(terminals: Terminals) -> None:
    async def one(pty: bool) -> None:
        await terminals.release(await terminals.create("s", "echo hello; sleep 600", cwd="/", pty=pty))

    await one(False)
    before = sorted(os.listdir("/proc/self/fd"))
    await asyncio.gather(*(one(number % 2 == 0) for number in range(10)))

    assert sorted(os.listdir("/proc/self/fd")) == before
