"""An agent of a hub that sends and receives raw messages."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from support.hub_client import TIMEOUT_SECONDS

from accord.hub.principal import Principal
from accord.transports.base import Transport
from accord.transports.memory import pair

PERMISSION = "session/request_permission"
UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":%b}\n'


class RawAgent:
    """An agent that says what the test wants. All its processes have their lines in one list."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.transports: list[Transport] = []
        self.changed = asyncio.Event()
        self._ids = itertools.count(1)

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        ours, theirs = pair()
        self.transports.append(theirs)
        theirs.start(_Process(self, theirs))
        return ours

    def describe(self) -> str:
        return "a raw agent"

    def handle(self, transport: Transport, message: dict[str, Any]) -> None:
        """Handle a message of the hub."""
        if message.get("method") == "initialize":
            capabilities = b'{"loadSession":true,"sessionCapabilities":{"additionalDirectories":{}}}'
            answer(transport, message, b'{"protocolVersion":1,"agentCapabilities":%b}' % capabilities)
        elif message.get("method") == "session/new":
            answer(transport, message, b'{"sessionId":"s%d"}' % next(self._ids))

    def say(self, session: str, text: str, *, index: int = -1) -> None:
        """Send a message chunk."""
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        self.transports[index].send(UPDATE % json.dumps({"sessionId": session, "update": update}).encode())

    def ask(self, params: dict[str, Any], method: str = PERMISSION, *, id: int = 7, index: int = -1) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.transports[index].send(json.dumps(message).encode() + b"\n")

    async def wait_for(self, part: bytes) -> bytes:
        """Wait for a line of the hub."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                self.changed.clear()
                found = next((line for line in self.lines if part in line), None)
                if found is not None:
                    return found
                await self.changed.wait()


class _Process:
    def __init__(self, agent: RawAgent, transport: Transport) -> None:
        self._agent = agent
        self._transport = transport

    def on_lines(self, block: bytes) -> None:
        for line in block.splitlines():
            self._agent.lines.append(line)
            self._agent.handle(self._transport, json.loads(line))
        self._agent.changed.set()

    def on_oversized(self, head: bytes, size: int) -> None: ...

    def on_end(self, error: Exception | None) -> None: ...


def answer(transport: Transport, message: dict[str, Any], result: bytes) -> None:
    transport.send(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (message["id"], result))
