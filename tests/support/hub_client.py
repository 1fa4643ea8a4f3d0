"""A minimal resume-aware client of a hub, and a spawner of agents in this process, for tests."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from accord.agent.agent import Agent
from accord.agent.side import AgentSide
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.transports.base import Transport
from accord.transports.memory import pair

TIMEOUT_SECONDS = 300.0
ALICE = Principal("alice")
BOB = Principal("bob")


class InProcessSpawner:
    """Serves a new agent in this event loop for each process."""

    def __init__(self, make: Callable[[], Agent]) -> None:
        self._make = make
        self.transports: list[Transport] = []
        """Our ends of the processes, closed to end them."""
        self._serving: set[asyncio.Task[Any]] = set()

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        ours, theirs = pair()
        task = asyncio.ensure_future(AgentSide(self._make(), theirs).serve())
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        self.transports.append(theirs)
        return ours

    def describe(self) -> str:
        return "an agent in this process"


class HubClient:
    """A client that sends and receives raw messages. With a name it is resume-aware."""

    def __init__(
        self,
        hub: Hub | None,
        principal: Principal = ALICE,
        *,
        name: str = "",
        version: int = 1,
        transport: Transport | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.messages: list[dict[str, Any]] = []
        """Everything received, in order."""
        self.serving: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._ids = itertools.count()
        if transport is None:
            assert hub is not None
            transport, theirs = pair()
            self.serving = asyncio.ensure_future(hub.accept(theirs, principal))
        self.transport = transport
        transport.start(self)

    # -- receiving

    def on_lines(self, block: bytes) -> None:
        for line in block.split(b"\n"):
            if line.strip():
                self.messages.append(json.loads(line))
        self._changed.set()

    def on_oversized(self, head: bytes, size: int) -> None:
        raise AssertionError("an oversized message")

    def on_end(self, error: Exception | None) -> None:
        self.ended.set()
        self._changed.set()

    async def wait(self, matches: Callable[[dict[str, Any]], bool], after: int = 0) -> dict[str, Any]:
        """Wait for the first message that matches."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                self._changed.clear()
                found = next((each for each in self.messages[after:] if matches(each)), None)
                if found is not None:
                    return found
                assert not self.ended.is_set(), f"the connection ended; received: {self.messages[-5:]}"
                await self._changed.wait()

    async def wait_count(self, count: int) -> None:
        """Wait until this many messages were received."""
        await self.wait(lambda _: len(self.messages) >= count)

    async def wait_for(self, method: str, after: int = 0) -> dict[str, Any]:
        """Wait for a request or notification with this method."""
        return await self.wait(lambda message: message.get("method") == method, after)

    def updates(self) -> list[dict[str, Any]]:
        """Return the updates received so far."""
        return [each["params"]["update"] for each in self.messages if each.get("method") == "session/update"]

    def texts(self, kind: str = "agent_message_chunk") -> list[str]:
        """Return the texts of the message chunks received so far."""
        return [each["content"]["text"] for each in self.updates() if each["sessionUpdate"] == kind]

    # -- sending

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self.transport.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def start(self, method: str, params: dict[str, Any] | None = None, *, key: str = "") -> int:
        """Send a request and return its id."""
        id = next(self._ids)
        params = params or {}
        if key:
            params = {**params, "_meta": {**params.get("_meta", {}), "accord/key": f"{self.name}:{key}"}}
        self.send({"id": id, "method": method, "params": params})
        return id

    async def response(self, id: int) -> dict[str, Any]:
        """Wait for the response to a request, an error included."""
        return await self.wait(lambda message: message.get("id") == id and "method" not in message)

    async def call(self, method: str, params: dict[str, Any] | None = None, *, key: str = "") -> Any:
        """Send a request and return its result."""
        response = await self.response(self.start(method, params, key=key))
        assert "result" in response, response
        return response["result"]

    async def fail(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return its error."""
        response = await self.response(self.start(method, params))
        assert "error" in response, response
        error: dict[str, Any] = response["error"]
        return error

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def answer(self, request: dict[str, Any], result: Any) -> None:
        """Answer a request."""
        self.send({"id": request["id"], "result": result})

    async def initialize(self) -> dict[str, Any]:
        """Initialize the connection."""
        params: dict[str, Any] = {"protocolVersion": self.version}
        info = {"name": "test", "version": "1"}
        params |= {"clientInfo": info, "clientCapabilities": {}} if self.version == 1 else {"info": info}
        if self.name:
            params["_meta"] = {"accord/resume": {"client": self.name}}
        result: dict[str, Any] = await self.call("initialize", params)
        return result

    async def new_session(self, cwd: str, *, key: str = "") -> str:
        """Create a session and return its id."""
        result = await self.call("session/new", {"cwd": cwd, "mcpServers": []}, key=key)
        id: str = result["sessionId"]
        return id

    def prompt(self, session_id: str, text: str, *, key: str = "") -> int:
        """Send a prompt and return the request's id."""
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        return self.start("session/prompt", params, key=key)

    async def close(self) -> None:
        """Close the connection."""
        await self.transport.close()
        if self.serving is not None:
            await self.serving


@asynccontextmanager
async def joined(
    hub: Hub, principal: Principal = ALICE, *, name: str = "", version: int = 1
) -> AsyncIterator[HubClient]:
    """Connect a client and initialize it."""
    client = HubClient(hub, principal, name=name, version=version)
    try:
        await client.initialize()
        yield client
    finally:
        await client.close()
