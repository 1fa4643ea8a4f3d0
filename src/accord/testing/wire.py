"""One end of a wire played by hand, message by message: for tests whose subject is the protocol itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from accord.agent.agent import Agent
from accord.agent.side import AgentSide
from accord.client.agent import ConnectedAgent
from accord.client.connect import connect
from accord.transports.base import Transport
from accord.transports.memory import pair


class WirePeer:
    """Sends and receives plain messages. Waiting is bounded: a message that does not come fails the test."""

    patience = 10.0

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.received: list[dict[str, Any]] = []
        """Everything that came, in order."""
        self.ended = asyncio.Event()
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
        """Sends a message; `jsonrpc` is added. Bytes go as they are, with a newline."""
        if isinstance(message, bytes):
            await self.transport.send(message + b"\n")
            return
        if isinstance(message, dict):
            message = {"jsonrpc": "2.0", **message}
        await self.transport.send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Any:
        """The next message."""
        return await asyncio.wait_for(self._queue.get(), self.patience)

    async def ask(self, method: str, params: Any = None, id: Any = None) -> Any:
        """Sends a request and gives the id it has."""
        if id is None:
            id = self._next_id
            self._next_id += 1
        await self.send({"id": id, "method": method, **({} if params is None else {"params": params})})
        return id

    async def tell(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        await self.send({"method": method, **({} if params is None else {"params": params})})

    async def answer_to(self, id: Any) -> dict[str, Any]:
        """The answer to a request of ours; what comes before it stays in `received`."""
        while True:
            message = await self.receive()
            if isinstance(message, dict) and "method" not in message and message.get("id") == id:
                return message

    async def call(self, method: str, params: Any = None) -> dict[str, Any]:
        """Sends a request and waits for its answer."""
        return await self.answer_to(await self.ask(method, params))

    async def next_call(self, method: str) -> dict[str, Any]:
        """The next request or notification of this method."""
        while True:
            message = await self.receive()
            if isinstance(message, dict) and message.get("method") == method:
                return message

    async def reply(self, request: dict[str, Any], result: Any) -> None:
        """Answers a request of theirs."""
        await self.send({"id": request["id"], "result": result})

    async def refuse(self, request: dict[str, Any], code: int, message: str = "no", data: Any = None) -> None:
        """Answers a request of theirs with an error."""
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        await self.send({"id": request["id"], "error": error})

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates that came so far."""
        calls = [message for message in self.received if isinstance(message, dict)]
        return [call["params"]["update"] for call in calls if call.get("method") == "session/update"]

    async def quiet(self) -> None:
        """Waits until everything sent so far has been handled: an answer comes for a question nobody knows."""
        await self.call("_accord/quiet")


class _Receiver:
    """Hands a transport's messages to a peer, whose `ended` is an event and not a method."""

    def __init__(self, peer: WirePeer) -> None:
        self._peer = peer

    def lines(self, block: bytes) -> None:
        self._peer._take(block)

    def oversized(self, head: bytes, size: int) -> None:
        raise AssertionError(f"a message of {size} bytes came")

    def ended(self, error: Exception | None) -> None:
        self._peer.ended.set()


@asynccontextmanager
async def wire_client(agent: Agent, **options: Any) -> AsyncIterator[WirePeer]:
    """Plays the client by hand against an agent."""
    ours, theirs = pair()
    side = AgentSide(agent, theirs, **options)
    serving = asyncio.get_running_loop().create_task(side.serve())
    peer = WirePeer(ours)
    try:
        yield peer
    finally:
        await ours.close()
        await asyncio.wait_for(serving, 10)


@asynccontextmanager
async def wire_agent(version: int = 1, **options: Any) -> AsyncIterator[tuple[WirePeer, ConnectedAgent]]:
    """Plays the agent by hand against a client; the handshake is done, with `hello` as the agent's answer."""
    hello = options.pop("hello", None) or _HELLOS[version]
    ours, theirs = pair()
    peer = WirePeer(ours)
    connecting = asyncio.get_running_loop().create_task(_connect(theirs, version, options))
    request = await peer.next_call("initialize")
    await peer.reply(request, hello)
    client = await asyncio.wait_for(connecting, 10)
    try:
        yield peer, client
    finally:
        await client.close()
        await ours.close()


async def _connect(transport: Transport, version: int, options: dict[str, Any]) -> ConnectedAgent:
    return await connect(transport, **{"versions": {version}, **options})


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
