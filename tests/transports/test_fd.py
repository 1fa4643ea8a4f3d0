"""The transport over file descriptors, against real pipes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
from collections.abc import AsyncIterator

import pytest
from support.receiver import BOUND, Listener

from accord.errors import ConnectionClosed
from accord.transports import sink
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import FdTransport
from accord.transports.sink import HIGH_WATER

pytestmark = pytest.mark.usefixtures("engine")


class Wire:
    """A transport, and the raw ends of the pipes that its peer would hold."""

    def __init__(self, **options: float) -> None:
        inlet, self.to_us = os.pipe()
        self.from_us, outlet = os.pipe()
        self.transport = FdTransport(Inlet.open_own(inlet), Outlet.open_own(outlet), **options)  # type: ignore[arg-type]
        self.heard = Listener()
        self.transport.start(self.heard)

    def hang_up(self, *fds: int) -> None:
        for fd in fds:
            os.close(fd)
            if fd == self.to_us:
                self.to_us = -1
            else:
                self.from_us = -1

    async def read(self, size: int) -> bytes:
        """Read this many bytes that the transport wrote."""
        data = b""
        while len(data) < size and (chunk := await asyncio.to_thread(os.read, self.from_us, size - len(data))):
            data += chunk
        return data

    async def close(self) -> None:
        await self.transport.close()
        self.hang_up(*(fd for fd in (self.to_us, self.from_us) if fd >= 0))


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    wire = Wire(drain_seconds=0.2)
    yield wire
    await wire.close()


@pytest.mark.req("V1-FRAME-02", "V2-FRAME-01")
async def test_whole_lines_arrive_and_leave(wire: Wire) -> None:
    os.write(wire.to_us, b"one\ntw")
    assert await wire.heard.until_heard(1) == [b"one"]
    os.write(wire.to_us, b"o\n")
    assert await wire.heard.until_heard(2) == [b"one", b"two"]
    await wire.transport.send(b"three\n")
    assert await wire.read(6) == b"three\n"


async def test_the_end_of_input_is_reported_once_after_an_incomplete_last_line(wire: Wire) -> None:
    os.write(wire.to_us, b"done\nunfinished")
    wire.hang_up(wire.to_us)

    assert await wire.heard.until_ended() is None
    assert wire.heard.heard == b"done\nunfinished"
    await wire.transport.close()
    assert wire.heard.endings == [None]


async def test_answers_still_go_out_after_the_end_of_input(wire: Wire) -> None:
    wire.hang_up(wire.to_us)
    await wire.heard.until_ended()
    await wire.transport.send(b"an answer\n")

    assert await wire.read(10) == b"an answer\n"


async def test_a_peer_that_stops_reading_for_good_ends_the_connection_once(wire: Wire, engine: str) -> None:
    os.write(wire.to_us, b"said before\n")
    if engine == "windows":  # a pipe there can't be polled: only what the thread has read is sure to be delivered
        await wire.heard.until_heard(1)
    wire.hang_up(wire.from_us)

    async def send_until_refused() -> None:
        while True:
            await wire.transport.send(b"anyone?\n")
            await asyncio.sleep(0)

    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(send_until_refused(), BOUND)
    error = await wire.heard.until_ended()
    assert isinstance(error, ConnectionClosed)
    assert "Broken pipe" in str(error)
    assert wire.heard.heard == b"said before\n", "what they said before is heard"
    with pytest.raises(ConnectionClosed):
        wire.transport.send(b"anyone?\n")
    assert len(wire.heard.endings) == 1


async def test_sending_waits_while_the_peer_does_not_read(wire: Wire) -> None:
    line = b"x" * 999 + b"\n"
    fits = HIGH_WATER // len(line)
    sent = 0

    async def send_all() -> None:
        nonlocal sent
        for _ in range(3 * fits):
            await wire.transport.send(line)
            sent += 1

    sending = asyncio.ensure_future(send_all())
    await _until_stuck(lambda: sent)
    assert not sending.done()
    assert sent < 1.5 * fits, "about as much as the high-water mark was taken, and no more"
    assert await wire.read(3 * fits * len(line)) == line * (3 * fits)
    await asyncio.wait_for(sending, BOUND)


async def test_cancelling_one_waiting_sender_leaves_the_others(wire: Wire) -> None:
    async def send(data: bytes) -> None:
        await wire.transport.send(data)

    big = b"x" * 2 * HIGH_WATER + b"\n"
    first = asyncio.ensure_future(send(big))
    second = asyncio.ensure_future(send(b"second\n"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert first.cancelled() and not second.done()
    assert await wire.read(len(big) + 7) == big + b"second\n", "cancelling the wait does not tear a message"
    await asyncio.wait_for(second, BOUND)


async def test_a_waiting_sender_gets_an_error_when_the_peer_is_gone(wire: Wire) -> None:
    async def send() -> None:
        await wire.transport.send(b"x" * 2 * HIGH_WATER + b"\n")

    sending = asyncio.ensure_future(send())
    await asyncio.sleep(0)
    wire.hang_up(wire.from_us)
    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(sending, BOUND)
    await wire.heard.until_ended()


async def test_nothing_is_heard_while_paused(wire: Wire) -> None:
    wire.transport.pause()
    wire.transport.pause()
    os.write(wire.to_us, b"hello\n")
    for _ in range(5):
        await asyncio.sleep(0)
    assert wire.heard.blocks == []
    wire.transport.resume()
    wire.transport.resume()
    assert await wire.heard.until_heard(1) == [b"hello"]


async def test_pausing_inside_a_delivery_holds_back_the_rest(wire: Wire) -> None:
    wire.heard.on_block = lambda _: wire.transport.pause()
    data = (b"x" * 1023 + b"\n") * 200
    writing = asyncio.ensure_future(asyncio.to_thread(_write_all, wire.to_us, data))
    await wire.heard.until(lambda: bool(wire.heard.blocks))
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(wire.heard.blocks) == 1
    wire.heard.on_block = None
    wire.transport.resume()
    await wire.heard.until_heard(200)
    await writing
    assert wire.heard.heard == data


async def test_closing_sends_what_was_collected_first(wire: Wire) -> None:
    for number in range(1000):
        wire.transport.send(b"%03d\n" % number)
    closing = asyncio.ensure_future(wire.transport.close())

    assert await wire.read(4000) == b"".join(b"%03d\n" % number for number in range(1000))
    await closing
    assert await wire.read(1) == b"", "and then the pipe is closed"
    with pytest.raises(ConnectionClosed):
        wire.transport.send(b"too late\n")


async def test_closing_does_not_wait_forever_for_a_peer_that_does_not_read() -> None:
    wire = Wire(drain_seconds=0.05)
    wire.transport.send(b"x" * 1_000_000 + b"\n")
    await asyncio.wait_for(asyncio.gather(wire.transport.close(), wire.transport.close()), BOUND)

    assert wire.heard.endings == [None]
    await wire.close()


async def test_a_transport_that_was_never_started_can_be_closed() -> None:
    reading, writing = os.pipe()
    transport = FdTransport(Inlet.open_own(reading), Outlet.open_own(writing))
    with pytest.raises(ConnectionClosed):
        transport.send(b"x\n")
    await transport.close()

    with pytest.raises(OSError):
        os.fstat(reading)


async def test_a_line_past_the_limit_is_skipped_and_reported() -> None:
    wire = Wire(max_message_bytes=100_000)
    data = b"before\n" + b"y" * 500_000 + b"\nafter\n"
    await asyncio.to_thread(_write_all, wire.to_us, data)
    await wire.heard.until_heard(2)

    assert wire.heard.story == [b"before", 500_000, b"after"]
    assert wire.heard.skipped == [(b"y" * 4096, 500_000)]
    await wire.close()


async def test_50_megabytes_through_a_halting_reader_stay_whole_and_in_order(engine: str) -> None:
    total = 50_000_000 if engine == "loop" else 10_000_000
    reading, writing = os.pipe()
    never, rest = os.pipe()
    sender = FdTransport(Inlet.open_own(never), Outlet.open_own(writing))
    receiver = FdTransport(Inlet.open_own(reading), Outlet.open_own(os.open(os.devnull, os.O_WRONLY)))
    heard = Listener()
    received = hashlib.sha256()
    dice = random.Random(7)

    def listen(block: bytes) -> None:
        received.update(block)
        heard.blocks.clear()
        heard.story.clear()
        if dice.random() < 0.05:
            receiver.pause()
            asyncio.get_running_loop().call_soon(receiver.resume)

    heard.on_block = listen
    sender.start(Listener())
    receiver.start(heard)
    sent, size = hashlib.sha256(), 0
    while size < total:
        length = dice.choice((1, 100, 200, 200, 5_000, 70_000, 300_000))
        line = dice.randbytes(1).hex().encode() * (length // 2 + 1) + b"\n"
        sent.update(line)
        size += len(line)
        await sender.send(line)
    await sender.close()
    await heard.until_ended()

    assert heard.size == size
    assert received.digest() == sent.digest()
    await receiver.close()
    os.close(rest)


async def test_an_answer_to_what_just_came_in_is_written_at_once(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "perf_counter", lambda: 100.0)
    wire = Wire()
    wire.heard.on_block = wire.transport.send
    wire.transport.send(b"first\n")
    wire.transport._on_chunk(b"second\n")

    if engine == "loop":
        os.set_blocking(wire.from_us, False)
        assert os.read(wire.from_us, 100) == b"first\nsecond\n"
    else:  # a thread is woken at the end of the pass
        assert await wire.read(13) == b"first\nsecond\n"
    await wire.close()


async def _until_stuck(progress: object) -> None:
    """Until nothing has moved for many passes of the loop."""
    still, before = 0, -1
    while still < 50:
        await asyncio.sleep(0.001)
        now = progress()  # type: ignore[operator]
        still, before = (still + 1, before) if now == before else (0, now)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
