"""The contract of docs/transports.md, for every transport: each case connects one to a peer that echoes its lines."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from support.receiver import Listener

import accord.transports
from accord.errors import ConnectionClosed
from accord.transports.base import Transport
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import FdTransport
from accord.transports.memory import MemoryTransport, pair
from accord.transports.stdio import StdioTransport
from accord.transports.subprocess import SubprocessTransport

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from custom_transport import SocketTransport

MAX_MESSAGE_BYTES = 1000
ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


class Echo(Listener):
    """A peer that sends every line back, and closes when its own stream ends."""

    def __init__(self, transport: Transport) -> None:
        super().__init__()
        self.transport = transport
        self.on_block = lambda block: transport.send(block)  # `send` may be rebound by `start`
        self.closing: asyncio.Task[None] | None = None

    def on_end(self, error: Exception | None) -> None:
        super().on_end(error)
        self.closing = asyncio.ensure_future(self.transport.close())


def join(ours: Transport, theirs: Transport) -> Transport:
    theirs.start(Echo(theirs))
    return ours


async def open_memory() -> Transport:
    return join(*pair())


async def open_pipes() -> Transport:
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    theirs = FdTransport(Inlet.open_own(their_in), Outlet.open_own(their_out))
    return join(FdTransport(Inlet.open_own(our_in), Outlet.open_own(our_out)), theirs)


async def open_process() -> Transport:
    return await SubprocessTransport.launch([sys.executable, "-c", ECHO])


async def open_socket() -> Transport:
    ours, theirs = socket.socketpair()
    return join(await SocketTransport.over(ours), await SocketTransport.over(theirs))


TRANSPORTS: dict[type[Transport], Callable[[], Awaitable[Transport]]] = {
    MemoryTransport: open_memory,
    FdTransport: open_pipes,
    SubprocessTransport: open_process,
    SocketTransport: open_socket,
}
COVERED_BY_ITS_BASE = {StdioTransport}
"""Transports that only choose the descriptors of another one; tests/transports/test_stdio.py runs them for real."""
# tests/transports/http/test_contract.py has the contract for those in `transports/http`, which carry only JSON.


@pytest.fixture(params=TRANSPORTS, ids=lambda kind: kind.__name__)
async def transport(request: pytest.FixtureRequest) -> AsyncIterator[Transport]:
    transport = await TRANSPORTS[request.param]()
    transport.max_message_bytes = MAX_MESSAGE_BYTES
    yield transport
    await transport.close()


def test_every_transport_is_under_contract() -> None:
    package = Path(inspect.getfile(accord.transports)).parent
    defined = {kind for kind in list_subclasses(Transport) if Path(inspect.getfile(kind)).parent == package}
    assert defined <= set(TRANSPORTS) | COVERED_BY_ITS_BASE, "add the new transport to TRANSPORTS"


def list_subclasses(kind: type) -> set[type]:
    return {each for child in kind.__subclasses__() for each in {child, *list_subclasses(child)}}


async def test_lines_arrive_whole_and_in_order(transport: Transport) -> None:
    received = Listener()
    transport.start(received)
    lines = [b"%d %s" % (number, b"x" * (number % 700)) for number in range(300)]
    for line in lines:
        await transport.send(line + b"\n")
    transport.flush()

    assert await received.until_heard(len(lines)) == lines


async def test_nothing_is_lost_while_receiving_is_paused(transport: Transport) -> None:
    received = Listener()
    transport.start(received)
    transport.pause()
    transport.pause()
    await transport.send(b"one\ntwo\n")
    transport.flush()
    transport.resume()
    transport.resume()

    assert await received.until_heard(2) == [b"one", b"two"]


async def test_a_line_past_the_limit_is_skipped_and_reported(transport: Transport) -> None:
    received = Listener()
    transport.start(received)
    await transport.send(b"before\n" + b"x" * 5000 + b"\nafter\n")
    transport.flush()

    await received.until(lambda: b"after" in received.story)
    assert received.story == [b"before", 5000, b"after"]


async def test_closing_ends_once_and_can_be_repeated(transport: Transport) -> None:
    received = Listener()
    transport.start(received)
    await transport.close()
    await transport.close()

    assert received.endings == [None]
    with pytest.raises(ConnectionClosed):
        await transport.send(b"late\n")


async def test_a_transport_describes_its_peer(transport: Transport) -> None:
    transport.start(Listener())
    assert transport.describe()
    assert isinstance(transport.stderr_tail(), str)
