"""The contract of docs/transports.md for HTTP and WebSocket, with JSON messages: routing reads them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from support.receiver import Listener
from transports.http.web_server import KINDS, run_server

from accord.errors import ConnectionClosed
from accord.transports.base import Transport
from accord.transports.http.asgi import Endpoint, Peer
from accord.transports.http.client import open_url

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'


def note(number: int, text: str = "") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "_note", "params": {"n": number, "text": text}}).encode() + b"\n"


class Echo(Listener):
    """The server's end: answers `initialize`, and sends every other message back."""

    def __init__(self, transport: Transport) -> None:
        super().__init__()
        self.transport = transport

    def on_lines(self, block: bytes) -> None:
        super().on_lines(block)
        answer = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n' if b'"initialize"' in block else block
        self.transport.send(answer)


@pytest.fixture(params=[(kind, scheme) for kind in KINDS for scheme in ("http", "websocket")], ids="-".join)
async def connected(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Transport, Listener]]:
    """An initialized connection of our client to an endpoint that echoes."""

    async def accept(transport: Transport, peer: Peer) -> None:
        echo = Echo(transport)
        transport.start(echo)
        await echo.until_ended()

    kind, scheme = request.param
    async with run_server(Endpoint(accept), kind) as server:
        transport = await open_url(getattr(server, scheme))
        transport.max_message_bytes = 1000
        received = Listener()
        transport.start(received)
        await transport.send(INITIALIZE)
        await received.until_heard(1)
        yield transport, received
        await transport.close()


async def test_messages_arrive_whole_and_in_order(connected: tuple[Transport, Listener]) -> None:
    transport, received = connected
    for number in range(100):
        await transport.send(note(number, "ü" * (number % 90)))
    await received.until_heard(101)
    assert [json.loads(line)["params"]["n"] for line in received.heard.splitlines()[1:]] == list(range(100))


async def test_nothing_is_lost_while_receiving_is_paused(connected: tuple[Transport, Listener]) -> None:
    transport, received = connected
    transport.pause()
    transport.pause()
    await transport.send(note(1) + note(2))
    transport.resume()
    transport.resume()
    await received.until_heard(3)


async def test_a_message_past_the_limit_is_skipped_and_reported(connected: tuple[Transport, Listener]) -> None:
    transport, received = connected
    await transport.send(note(1) + note(2, "x" * 1200) + note(3))
    await received.until(lambda: b'"n": 3' in received.heard)
    assert [size for _, size in received.skipped] == [len(note(2, "x" * 1200)) - 1]


async def test_closing_ends_once_and_can_be_repeated(connected: tuple[Transport, Listener]) -> None:
    transport, received = connected
    await transport.close()
    await transport.close()
    assert received.endings == [None]
    with pytest.raises(ConnectionClosed):
        await transport.send(note(1))


async def test_a_transport_describes_its_peer(connected: tuple[Transport, Listener]) -> None:
    transport, _ = connected
    assert "/acp" in transport.describe()
    assert transport.stderr_tail() == ""
