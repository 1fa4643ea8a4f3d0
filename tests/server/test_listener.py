"""The listening socket while it is being closed."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import pytest

from accord.server.limits import ServerLimits
from accord.server.listener import Address, Listener


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
