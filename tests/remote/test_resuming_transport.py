"""A transport over connections that break: memory transports, and a server without I/O behind them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from support.receiver import Listener
from support.resume_server import Link, ResumeServer

from accord.errors import ConnectionClosed, LaunchError
from accord.remote.resuming_transport import HIGH_WATER, ResumingTransport, Retry
from accord.transports.base import Interruption, Transport
from accord.transports.memory import pair

AT_ONCE = Retry(back_off_seconds=(0.0,), heartbeat_seconds=3600, timeout_seconds=3600)


def line(**fields: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


class Connection:
    """The server's end of one connection."""

    def __init__(self, server: ResumeServer, transport: Transport) -> None:
        self.server, self.transport = server, transport
        self.link: Link = server.connect()
        self.link.on_send = self._send
        self.is_silent = False
        """Whether nothing gets through, in either direction, as with a dead network."""

    def on_lines(self, block: bytes) -> None:
        for each in block.splitlines():
            if not self.is_silent:
                self.server.receive(self.link, each)

    def _send(self) -> None:
        while self.link.out:
            message = msgspec.json.encode(self.link.out.pop(0)) + b"\n"
            if not self.is_silent:
                try:
                    self.transport.send(message)
                except ConnectionClosed:
                    return

    def on_oversized(self, head: bytes, size: int) -> None: ...

    def on_end(self, error: Exception | None) -> None: ...


class Network:
    """Opens connections to one server, and breaks them."""

    def __init__(self, server: ResumeServer | None = None) -> None:
        self.server = server or ResumeServer()
        self.connections: list[Connection] = []
        self.errors: list[Exception] = []
        """The errors of the next attempts to connect."""
        self.silent = 0
        """How many of the next connections are silent."""

    async def open(self) -> Transport:
        if self.errors:
            raise self.errors.pop(0)
        ours, theirs = pair()
        self.connections.append(Connection(self.server, theirs))
        self.connections[-1].is_silent = self.silent > 0
        self.silent -= 1
        theirs.start(self.connections[-1])
        return ours

    async def cut(self) -> None:
        await self.connections[-1].transport.close()


class ChangeListener(Listener):
    """Also records the changes of the connection."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Interruption] = []

    def on_change(self, change: Interruption) -> None:
        self.changes.append(change)
        self._something.set()


class Client:
    """A client that has initialized and created a session."""

    def __init__(self, network: Network, retry: Retry = AT_ONCE) -> None:
        self.network = network
        self.retry = retry
        self.listener = ChangeListener()
        self.transport: ResumingTransport

    async def start(self) -> Client:
        self.transport = ResumingTransport(
            await self.network.open(), self.network.open, on_change=self.listener.on_change, retry=self.retry
        )
        self.transport.start(self.listener)
        await self.transport.send(line(id=0, method="initialize", params={"protocolVersion": 1}))
        await self.listener.until_heard(1)
        await self.transport.send(line(id=1, method="session/new", params={"cwd": "/", "mcpServers": []}))
        await self.listener.until_heard(2)
        return self

    @property
    def changes(self) -> list[Interruption]:
        return self.listener.changes

    async def until(self, *states: str) -> None:
        await self.listener.until(lambda: [change.state for change in self.changes] == list(states))

    @property
    def texts(self) -> list[str]:
        messages = map(msgspec.json.decode, self.listener.heard.splitlines())
        return [m["params"]["update"]["content"]["text"] for m in messages if m.get("method") == "session/update"]


async def test_events_during_a_cut_arrive_once_and_in_order() -> None:
    network = Network()
    client = await Client(network).start()
    network.server.emit("s1", "one")
    await client.listener.until(lambda: client.texts == ["one"])
    await network.cut()
    network.server.link = None
    network.server.emit("s1", "two")
    await client.until("lost", "resumed")
    network.server.emit("s1", "three")
    await client.listener.until(lambda: len(client.texts) >= 3)
    assert client.texts == ["one", "two", "three"]
    await client.transport.close()


async def test_a_request_sent_during_a_cut_is_answered_after_it() -> None:
    network = Network()
    client = await Client(network).start()
    network.errors = [LaunchError("refused", stage="connect")] * 2
    await network.cut()
    await client.until("lost")
    await client.transport.send(line(id=2, method="session/set_mode", params={"sessionId": "s1", "modeId": "m"}))
    await client.listener.until_heard(3)
    assert client.changes[-1].attempts == 3
    await client.transport.close()


async def test_an_end_that_nothing_can_repair_ends_the_transport_with_its_reason() -> None:
    network = Network()
    client = await Client(network).start()
    network.errors = [LaunchError("the token was revoked", stage="auth")]
    await network.cut()
    error = await client.listener.until_ended()
    assert str(error) == "couldn't reconnect: the token was revoked"
    assert [change.state for change in client.changes] == ["lost", "gone"]
    with pytest.raises(ConnectionClosed, match="the token was revoked"):
        client.transport.send(line(method="session/cancel", params={"sessionId": "s1"}))


async def test_it_gives_up_after_the_configured_time() -> None:
    network = Network()
    client = await Client(network, AT_ONCE._replace(give_up_seconds=0.0)).start()
    network.errors = [LaunchError("connection refused", stage="connect")] * 2
    await network.cut()
    assert str(await client.listener.until_ended()) == "couldn't reconnect: connection refused"
    assert len(network.errors) == 1


async def test_a_silent_connection_is_found_by_its_heartbeat_and_replaced() -> None:
    network = Network()
    client = await Client(network, AT_ONCE._replace(heartbeat_seconds=0.02, timeout_seconds=0.02)).start()
    network.connections[-1].is_silent = True
    network.server.emit("s1", "one")
    await client.listener.until(lambda: client.texts == ["one"])
    assert client.changes[0] == Interruption("lost", "the server doesn't respond")
    await client.transport.close()


async def test_a_server_that_accepts_but_never_answers_is_tried_again() -> None:
    network = Network()
    client = await Client(network, AT_ONCE._replace(heartbeat_seconds=0.02, timeout_seconds=0.02)).start()
    network.silent = 1
    await network.cut()
    await client.listener.until(lambda: len(network.connections) >= 3 and client.changes[-1].state == "resumed")
    await client.transport.close()


async def test_a_paused_transport_stays_paused_after_a_reconnect() -> None:
    network = Network()
    client = await Client(network).start()
    client.transport.pause()
    await network.cut()
    client.transport.resume()
    await client.until("lost", "resumed")
    client.transport.pause()
    network.server.emit("s1", "one")
    for _ in range(10):
        await asyncio.sleep(0)
    assert client.texts == []
    client.transport.resume()
    await client.listener.until(lambda: client.texts == ["one"])
    await client.transport.close()


async def test_senders_wait_while_too_much_waits_for_a_connection() -> None:
    network = Network()
    client = await Client(network).start()
    network.errors = [LaunchError("refused", stage="connect")] * 3
    await network.cut()
    await client.until("lost")
    text = "x" * (HIGH_WATER + 1)
    client.transport.send(line(id=2, method="_echo", params={"text": text}))
    waiting = asyncio.ensure_future(client.transport.send(line(id=3, method="_echo", params={})))
    await asyncio.sleep(0)
    assert not waiting.done()
    await client.until("lost", "resumed")
    await waiting
    await client.listener.until_heard(4)
    await client.transport.close()


async def test_a_server_without_the_extension_gets_a_plain_connection_whose_end_is_the_end() -> None:
    network = Network(ResumeServer(supports_resuming=False))
    transport = ResumingTransport(await network.open(), network.open, retry=AT_ONCE)
    listener = Listener()
    transport.start(listener)
    await transport.send(line(id=0, method="initialize", params={"protocolVersion": 1}))
    await listener.until_heard(1)
    await network.cut()
    assert await listener.until_ended() is None
    assert len(network.connections) == 1
    assert not transport.supports_resuming


async def test_a_cut_before_initialize_is_answered_is_repaired() -> None:
    network = Network()
    transport = ResumingTransport(await network.open(), network.open, retry=AT_ONCE)
    listener = Listener()
    transport.start(listener)
    network.connections[-1].is_silent = True
    await transport.send(line(id=0, method="initialize", params={"protocolVersion": 1}))
    await network.cut()
    (answer,) = await listener.until_heard(1)
    assert msgspec.json.decode(answer)["id"] == 0
    await transport.close()


async def test_a_server_that_always_hangs_up_on_initialize_is_given_up() -> None:
    network = Network()
    opened = network.open

    async def open_and_cut() -> Transport:
        transport = await opened()
        await network.cut()
        return transport

    transport = ResumingTransport(await open_and_cut(), open_and_cut, retry=AT_ONCE)
    listener = Listener()
    transport.start(listener)
    transport.send(line(id=0, method="initialize", params={"protocolVersion": 1}))
    assert "closed the connection" in str(await listener.until_ended())


async def test_closing_during_a_reconnect_ends_it() -> None:
    network = Network()
    client = await Client(network, AT_ONCE._replace(back_off_seconds=(3600.0,))).start()
    await network.cut()
    await client.until("lost")
    await client.transport.close()
    assert await client.listener.until_ended() is None
