"""Exchange raw messages with an agent or client, for tests of the protocol itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Unpack

from accord.agent.agent import Agent
from accord.agent.side import AgentSide
from accord.client.agent import ConnectedAgent
from accord.client.arguments import check_versions
from accord.client.connect import ConnectOptions, connect
from accord.transports.base import Transport
from accord.transports.memory import pair


class WirePeer:
    """Sends and receives raw messages. A test fails if an expected message doesn't arrive within `timeout`."""

    timeout: float = 10.0
    """Seconds."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.received: list[dict[str, Any]] = []
        """All messages received, in order."""
        self.ended: asyncio.Event = asyncio.Event()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        self._next_id = 0
        transport.start(_Receiver(self))

    def _take(self, block: bytes) -> None:
        for line in block.split(b"\n"):
            if line.strip():
                message = json.loads(line)
                self.received.append(message)
                self._queue.put_nowait(message)

    async def send(self, message: dict[str, Any] | list[Any] | bytes) -> None:
        """Send a message; `jsonrpc` is added. Bytes are sent unchanged, with a newline."""
        if isinstance(message, bytes):
            await self.transport.send(message + b"\n")
            return
        if isinstance(message, dict):
            message = {"jsonrpc": "2.0", **message}
        await self.transport.send(json.dumps(message).encode() + b"\n")

    async def receive(self, wanted: str = "a message") -> Any:
        """Wait for the next message. `wanted` describes it, for the error."""
        try:
            return await asyncio.wait_for(self._queue.get(), self.timeout)
        except TimeoutError:
            last = [each.get("method", "a response") if isinstance(each, dict) else "a batch" for each in self.received]
            seen = ", ".join(map(str, last[-5:])) or "nothing"
            raise TimeoutError(f"{wanted} didn't arrive within {self.timeout:g} s; received last: {seen}") from None

    async def receive_unlimited(self) -> Any:
        """Wait for the next message, however long that takes."""
        return await self._queue.get()

    async def ask(self, method: str, params: Any = None, id: Any = None) -> Any:
        """Send a request and return its id."""
        if id is None:
            id = self._next_id
            self._next_id += 1
        await self.send({"id": id, "method": method, **({} if params is None else {"params": params})})
        return id

    async def tell(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        await self.send({"method": method, **({} if params is None else {"params": params})})

    async def answer_to(self, id: Any) -> dict[str, Any]:
        """Wait for the response to this request. Messages before it are only added to `received`."""
        while True:
            message = await self.receive(f"the response to request {id}")
            if isinstance(message, dict) and "method" not in message and message.get("id") == id:
                return message

    async def call(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and wait for the response."""
        return await self.answer_to(await self.ask(method, params))

    async def next_call(self, method: str) -> dict[str, Any]:
        """Wait for the next request or notification of this method."""
        while True:
            message = await self.receive(method)
            if isinstance(message, dict) and message.get("method") == method:
                return message

    async def reply(self, request: dict[str, Any], result: Any) -> None:
        """Respond to a request of the other side."""
        await self.send({"id": request["id"], "result": result})

    async def refuse(self, request: dict[str, Any], code: int, message: str = "no", data: Any = None) -> None:
        """Respond to a request of the other side with an error."""
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        await self.send({"id": request["id"], "error": error})

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates received so far."""
        calls = [message for message in self.received if isinstance(message, dict)]
        return [call["params"]["update"] for call in calls if call.get("method") == "session/update"]

    async def quiet(self) -> None:
        """Wait until all earlier messages have been handled: send an unknown request and wait for the error."""
        await self.call("_accord/quiet")


class _Receiver:
    """Passes a transport's messages to a peer."""

    def __init__(self, peer: WirePeer) -> None:
        self._peer = peer

    def on_lines(self, block: bytes) -> None:
        self._peer._take(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        raise AssertionError(f"received a message of {size} bytes")

    def on_end(self, error: Exception | None) -> None:
        self._peer.ended.set()


@asynccontextmanager
async def wire_client(agent: Agent) -> AsyncIterator[WirePeer]:
    """Connect a raw client to an agent."""
    ours, theirs = pair()
    side = AgentSide(agent, theirs)
    serving = asyncio.get_running_loop().create_task(side.serve())
    peer = WirePeer(ours)
    try:
        yield peer
    finally:
        await ours.close()
        await asyncio.wait_for(serving, 10)


@asynccontextmanager
async def wire_agent(
    version: int = 1, *, hello: dict[str, Any] | None = None, **options: Unpack[ConnectOptions]
) -> AsyncIterator[tuple[WirePeer, ConnectedAgent]]:
    """Connect a raw agent to a client and initialize it.

    `hello` is the agent's response to `initialize`; the other options are those of `connect`."""
    options.setdefault("versions", {version})
    check_versions(options["versions"])
    ours, theirs = pair()
    peer = WirePeer(ours)
    connecting = asyncio.get_running_loop().create_task(_connect(theirs, options))
    request = await peer.next_call("initialize")
    await peer.reply(request, hello or _HELLOS[version])
    client = await asyncio.wait_for(connecting, 10)
    try:
        yield peer, client
    finally:
        await client.close()
        await ours.close()


async def _connect(transport: Transport, options: ConnectOptions) -> ConnectedAgent:
    return await connect(transport, **options)


_HELLOS: dict[int, dict[str, Any]] = {
    1: {
        "protocolVersion": 1,
        "agentInfo": {"name": "by hand", "version": "0"},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}},
        },
    },
    2: {
        "protocolVersion": 2,
        "info": {"name": "by hand", "version": "0"},
        "capabilities": {"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}}, "delete": {}, "fork": {}}},
    },
}
