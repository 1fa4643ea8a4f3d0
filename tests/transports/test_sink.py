"""Messages are written at once or combined; partial writes are completed later."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from support.receiver import BOUND

from accord.transports import sink
from accord.transports.base import READY, YIELD
from accord.transports.descriptors import Outlet
from accord.transports.sink import HIGH_WATER, LoopSink


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(sink, "perf_counter", clock)
    return clock


class Kernel:
    """Stands for the operating system: takes what `room` allows, and says when there is room again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: Callable[[int], int] = lambda size: size) -> None:
        self.room = room
        self.writes: list[bytes] = []
        self.failures: list[OSError] = []
        loop = asyncio.get_running_loop()
        self.on_room: Callable[[], None] | None = None
        monkeypatch.setattr(type(loop), "add_writer", lambda _, fd, callback: setattr(self, "on_room", callback))
        monkeypatch.setattr(type(loop), "remove_writer", lambda _, fd: setattr(self, "on_room", None))
        self.sink = LoopSink(loop, Outlet(99, self.write, close=lambda: None), self.failures.append)

    def write(self, fd: int, data: bytes | bytearray | memoryview) -> int:
        taken = min(self.room(len(data)), len(data))
        if not taken:
            raise BlockingIOError
        self.writes.append(bytes(data[:taken]))
        return taken

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)


async def test_a_message_alone_is_written_when_it_is_sent(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(monkeypatch)
    for number in range(3):
        clock.now += 0.001
        kernel.sink.send(b"%d\n" % number)
        assert len(kernel.writes) == number + 1


async def test_a_burst_is_written_together_at_the_end_of_the_pass(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    for number in range(5):
        clock.now += 5e-6
        kernel.sink.send(b"%d\n" % number)
    assert kernel.writes == [b"0\n"]
    await asyncio.sleep(0)
    assert kernel.writes == [b"0\n", b"1\n2\n3\n4\n"]


async def test_what_was_collected_leaves_with_the_next_message_when_it_is_old(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    kernel.sink.send(b"0\n")
    kernel.sink.send(b"1\n")
    clock.now += 900e-6
    kernel.sink.send(b"2\n")
    assert kernel.writes == [b"0\n"]
    clock.now += 200e-6
    kernel.sink.send(b"3\n")
    assert kernel.writes == [b"0\n", b"1\n2\n3\n"]


async def test_64_kilobytes_are_written_at_once_and_let_the_loop_run(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    line = b"x" * 999 + b"\n"
    awaitables = [kernel.sink.send(line) for _ in range(140)]

    assert len(kernel.writes[-1]) >= 65536
    assert YIELD in awaitables[120:140], "with the first write of this size, after 2, 4, 8, 16 and 32 kilobytes"
    assert awaitables[10:120] == [READY] * 110


async def test_a_sender_that_never_waits_lets_the_loop_run_now_and_then(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    answers = []
    for _ in range(100):
        clock.now += 0.001
        answers.append(kernel.sink.send(b"x\n"))

    assert 9 <= answers.count(YIELD) <= 11


async def test_after_something_came_in_the_next_message_is_written_at_once(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    kernel.sink.send(b"0\n")
    kernel.sink.end_burst()
    kernel.sink.send(b"1\n")
    assert kernel.writes == [b"0\n", b"1\n"]


async def test_flush_writes_what_was_collected_now(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(monkeypatch)
    kernel.sink.send(b"0\n")
    kernel.sink.send(b"1\n")
    kernel.sink.flush()
    assert kernel.writes == [b"0\n", b"1\n"]


async def test_a_large_message_is_written_from_where_it_lies(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(monkeypatch)
    large = b"x" * 200_000 + b"\n"
    seen: list[object] = []
    take = kernel.write

    def write(fd: int, data: bytes | bytearray | memoryview) -> int:
        seen.append(data.obj if isinstance(data, memoryview) else data)
        return take(fd, data)

    kernel.sink._write = write
    kernel.room = lambda size: 65536
    kernel.sink.send(b"small\n")
    kernel.sink.send(b"collected\n")
    kernel.sink.send(large)
    while kernel.on_room is not None:
        kernel.on_room()

    assert kernel.written == b"small\ncollected\n" + large
    assert all(data is large for data in seen[2:]), "never copied"


async def test_a_message_that_its_sender_changes_afterwards_leaves_as_it_was(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch, room=lambda size: 1000)
    data = bytearray(b"x" * 100_000 + b"\n")
    kernel.sink.send(data)  # type: ignore[arg-type]
    data[:] = b"changed"
    while kernel.on_room is not None:
        kernel.on_room()

    assert kernel.written == b"x" * 100_000 + b"\n"


@pytest.mark.parametrize("seed", range(20))
async def test_partial_writes_and_refusals_change_nothing_about_the_order(
    seed: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    kernel = Kernel(monkeypatch, room=lambda size: dice.choice((0, 1, 7, 1000, 65536, size)))
    sent = b""
    for number in range(400):
        line = b"%d " % number + b"x" * dice.choice((0, 10, 300, 3000, 70_000)) + b"\n"
        sent += line
        clock.now += dice.choice((0, 10e-6, 100e-6))
        kernel.sink.send(line)
        if dice.random() < 0.3:
            await asyncio.sleep(0)
        if kernel.on_room is not None and dice.random() < 0.7:
            kernel.on_room()
    kernel.sink.flush()
    while kernel.on_room is not None:
        kernel.on_room()

    assert kernel.written == sent


async def test_a_full_pipe_makes_senders_wait_until_most_of_it_is_gone(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch, room=lambda size: 0)
    line = b"x" * 9_999 + b"\n"
    waiting = None
    for _ in range(2 * HIGH_WATER // len(line)):
        waiting = kernel.sink.send(line)
    assert waiting is not None and waiting not in (READY, YIELD)
    task = asyncio.ensure_future(_await(waiting))
    await asyncio.sleep(0)
    left = HIGH_WATER * 3 // 2  # of what the peer takes before it is busy again

    def room(size: int) -> int:
        nonlocal left
        taken = min(size, left)
        left -= taken
        return taken

    kernel.room = room
    assert kernel.on_room is not None
    kernel.on_room()
    await asyncio.sleep(0)
    assert not task.done(), "half of the high-water mark is left"
    left = HIGH_WATER
    kernel.on_room()
    await asyncio.wait_for(task, BOUND)


async def test_a_sender_that_never_waits_uses_the_room_that_its_peer_makes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch, room=lambda size: 0)
    line = b"x" * 999 + b"\n"
    kernel.sink.send(line)
    kernel.room = lambda size: size
    for _ in range(200):
        kernel.sink.send(line)

    assert len(kernel.written) > 100 * len(line), "the event loop hasn't run, so it couldn't report the room"
    assert set(kernel.written.split(b"\n")) == {line[:-1], b""}


async def test_a_burst_is_written_in_parts_that_double_up_to_64_kib(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(monkeypatch)
    line = b"x" * 511 + b"\n"
    for _ in range(600):
        kernel.sink.send(line)

    assert [len(part) // 1024 for part in kernel.writes[1:]] == [2, 4, 8, 16, 32, 64, 64, 64], "the first was alone"


async def _await(awaitable: object) -> None:
    await awaitable  # type: ignore[misc]
