"""Slow peers: memory stays bounded, nothing is lost, and there is no deadlock."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.chains import between, initialize

from accord.proxy import Notification, Proxy, to_client
from accord.testing import WirePeer
from accord.transports.base import Transport

MESSAGE = 64 * 1024
MANY = 800  # 50 MiB
BOUND = 12 * 1024 * 1024  # the buffers of all hops of the longest chain together

CHAINS = {
    "one proxy": lambda: [Proxy()],
    "two proxies": lambda: [Proxy(), Proxy()],
}


class Flood:
    """Sends many notifications, as fast as the other end reads."""

    def __init__(self, transport: Transport, method: str, count: int = MANY, *, size: int = MESSAGE) -> None:
        self.sent = 0
        self._count = count
        self._size = size
        self._method = method.encode()
        self._transport = transport
        self.task = asyncio.create_task(self._send())

    async def _send(self) -> None:
        filler = b"x" * self._size
        for number in range(self._count):
            params = b'{"sessionId":"s","n":%d,"filler":"%b"}' % (number, filler)
            await self._transport.send(b'{"jsonrpc":"2.0","method":"%b","params":%b}\n' % (self._method, params))
            self.sent += 1


async def settle(flood: Flood) -> None:
    """Let the event loop run until the flood has stopped: everything is in memory, so nothing else takes time."""
    before = -1
    while before != flood.sent:
        before = flood.sent
        for _ in range(500):
            await asyncio.sleep(0)


async def read_all(peer: WirePeer, method: str, count: int = MANY) -> None:
    for number in range(count):
        assert (await peer.next_call(method))["params"]["n"] == number


@pytest.mark.parametrize("chain", CHAINS)
async def test_a_client_that_does_not_read_stops_the_agent(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        ends.client.transport.pause()
        flood = Flood(ends.agent.transport, "session/update")
        await settle(flood)
        assert 0 < flood.sent * MESSAGE < BOUND
        ends.client.transport.resume()
        await read_all(ends.client, "session/update")
        await flood.task


@pytest.mark.parametrize("chain", CHAINS)
async def test_an_agent_that_does_not_read_stops_the_client(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        ends.agent.transport.pause()
        flood = Flood(ends.client.transport, "_data")
        await settle(flood)
        assert 0 < flood.sent * MESSAGE < BOUND
        ends.agent.transport.resume()
        await read_all(ends.agent, "_data")
        await flood.task


@pytest.mark.parametrize("chain", CHAINS)
async def test_an_agent_that_writes_everything_before_it_reads_causes_no_deadlock(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        ends.agent.transport.pause()
        down, up = Flood(ends.client.transport, "_data"), Flood(ends.agent.transport, "session/update")
        await read_all(ends.client, "session/update")
        await up.task
        ends.agent.transport.resume()
        await read_all(ends.agent, "_data")
        await down.task


class Slow(Proxy):
    """Handles updates, the first of them slowly."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.go = asyncio.Event()

    @to_client("session/update")
    async def update(self, notification: Notification[Any]) -> None:
        if not self.started.is_set():
            self.started.set()
            await self.go.wait()
        await notification.forward()


def update(number: int) -> dict[str, Any]:
    return {"sessionId": "s", "n": number, "update": {"sessionUpdate": "later"}}


async def test_a_slow_handler_stops_the_agent() -> None:
    proxy = Slow()
    async with between(proxy) as ends:
        await initialize(ends)
        await ends.agent.tell("session/update", update(0))
        flood = Flood(ends.agent.transport, "_data")
        await settle(flood)
        assert 0 < flood.sent * MESSAGE < BOUND
        proxy.go.set()
        await ends.client.next_call("session/update")
        await read_all(ends.client, "_data")
        await flood.task


async def test_small_messages_behind_a_slow_handler_stop_the_agent_too() -> None:
    proxy = Slow()
    async with between(proxy) as ends:
        await initialize(ends)
        await ends.agent.tell("session/update", update(0))
        await proxy.started.wait()
        flood = Flood(ends.agent.transport, "_data", 20_000, size=0)
        await settle(flood)
        assert 0 < flood.sent < 20_000
        proxy.go.set()
        await ends.client.next_call("session/update")
        await read_all(ends.client, "_data", 20_000)
        await flood.task


async def test_reading_continues_while_a_handler_waits_for_a_response_behind_the_backlog() -> None:
    class Curious(Proxy):
        @to_client("session/update")
        async def update(self, notification: Notification[Any]) -> None:
            await self.agent.request("_ask", {})
            await notification.forward()

    count = 100
    async with between(Curious()) as ends:
        await initialize(ends)
        await ends.agent.tell("session/update", update(0))
        asked = await ends.agent.next_call("_ask")
        await Flood(ends.agent.transport, "_data", count).task
        await ends.agent.reply(asked, {})
        await ends.client.next_call("session/update")
        await read_all(ends.client, "_data", count)


async def test_a_handler_whose_response_is_behind_too_much_gets_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("accord.proxy.handled_direction.HARD_LIMIT", 2 * 1024 * 1024)

    class Curious(Proxy):
        @to_client("session/update")
        async def update(self, notification: Notification[Any]) -> None:
            await self.agent.request("_ask", {})

    async with between(Curious()) as ends:
        await initialize(ends)
        await ends.agent.tell("session/update", update(0))
        await ends.agent.next_call("_ask")
        await Flood(ends.agent.transport, "_data", 100).task
        await read_all(ends.client, "_data", 100)
    assert "Overloaded" in caplog.text
