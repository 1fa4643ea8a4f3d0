"""The listening socket: its clients take turns, and none stays when it is closed."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import h2.config
import h2.connection
import pytest
from support.server import PING, serving

from accord.server.limits import ServerLimits
from accord.server.listener import READ_BYTES, Address, Listener

PONG = 10


async def serve_nothing(scope: object, receive: object, send: object) -> None:
    raise NotImplementedError


@pytest.mark.parametrize("steps", range(12))
async def test_a_client_that_connects_while_the_server_stops_is_disconnected(steps: int) -> None:
    listener = Listener(Address(port=0), ServerLimits())
    port = listener.bind()
    stopping = asyncio.Event()

    async def connect() -> socket.socket:
        await stopping.wait()
        for _ in range(steps):  # of the event loop: the server closes its socket within the next few
            await asyncio.sleep(0)
        return socket.create_connection(("127.0.0.1", port))

    connecting = asyncio.create_task(connect())
    asyncio.get_running_loop().call_soon(stopping.set)
    await listener.serve(serve_nothing, stopping.wait)  # type: ignore[arg-type]
    assert listener.gate.count == 0
    with suppress(ConnectionError):  # refused, or reset
        client = await connecting
        client.setblocking(False)
        with client:
            assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


@pytest.mark.parametrize("steps", range(12))
async def test_a_connection_that_fails_while_the_server_stops_does_not_fail_the_server(steps: int) -> None:
    listener = Listener(Address(port=0), ServerLimits())
    port = listener.bind()
    stopping = asyncio.Event()
    client = socket.create_connection(("127.0.0.1", port))
    http2 = h2.connection.H2Connection(h2.config.H2Configuration(validate_outbound_headers=False))
    http2.initiate_connection()
    client.sendall(http2.data_to_send())

    async def send_unreadable_path() -> None:
        await stopping.wait()
        for _ in range(steps):
            await asyncio.sleep(0)
        names = [(":method", "GET"), (":path", b"/\xff"), (":scheme", "http"), (":authority", "localhost")]
        http2.send_headers(1, names, end_stream=True)
        client.sendall(http2.data_to_send())

    async def stop() -> None:
        await asyncio.get_running_loop().sock_recv(client, 1000)  # its connection is served
        stopping.set()

    with client:
        client.setblocking(False)
        sending = asyncio.create_task(send_unreadable_path())
        await listener.serve(serve_nothing, stop)  # type: ignore[arg-type]
        await sending
    assert listener.gate.count == 0


async def test_a_flood_of_tiny_frames_lets_others_take_their_turns(tmp_path: Path) -> None:
    frames = 20_000
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with serving(tmp_path) as served:
        client = await served.open()
        client.write(served.upgrade(token=served.local_token))
        assert (await client.response()).status == 101
        other = asyncio.create_task(take_turns())
        client.write_frame(b"", first=0x01)
        client.write(b"\0\x80\0\0\0\0" * frames)  # empty parts of the message
        client.write_frame(b"", first=0x80)
        client.write_frame(b"bye", first=0x80 | PING)
        while (await client.frame())[0] != PONG:
            pass
        assert turns >= 6 * frames / READ_BYTES
        other.cancel()
        await client.close()
