"""The editor's MCP servers in front of a remote agent that sends what no honest agent sends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from accord.remote.local_servers import LocalServers

SERVER = {"name": "notes", "command": "/bin/notes", "args": [], "env": [{"name": "KEY", "value": "secret"}]}


class Relayed:
    """The messages between an editor and an agent that supports MCP over ACP."""

    def __init__(self, *, is_supported: bool = True) -> None:
        self.reports: list[str] = []
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.servers = LocalServers("local", self.reports.append)
        self.servers.send = self._send
        self.send("initialize", {"protocolVersion": 1})
        capabilities = {"mcpCapabilities": {"acp": is_supported}}
        self.receive({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": capabilities}})

    async def _send(self, line: bytes) -> None:
        self.answers.put_nowait(json.loads(line))

    def send(self, method: str, params: dict[str, Any]) -> bytes:
        """Send a request of the editor. Returns what the agent gets."""
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return self.servers.change_outgoing(line.encode() + b"\n")

    def receive(self, message: dict[str, Any]) -> bytes:
        """Receive a message of the agent. Returns what the editor gets."""
        return self.servers.change_incoming(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def open(self) -> str:
        """Open a session with a server. Returns the server's id."""
        sent = self.send("session/new", {"cwd": "/", "mcpServers": [SERVER]})
        self.receive({"id": 1, "result": {"sessionId": "s"}})
        id: str = json.loads(sent)["params"]["mcpServers"][0]["serverId"]
        return id


@pytest.mark.parametrize("id", [[], {}, None, True, "other"])
async def test_a_cancellation_of_something_else_passes(id: Any) -> None:
    relayed = Relayed()
    relayed.open()
    message = {"method": "$/cancel_request", "params": {"requestId": id}}

    assert json.loads(relayed.receive(message))["params"] == {"requestId": id}


@pytest.mark.parametrize("inner", [b'"\xff"', b"[" * 900 + b"]" * 900, b"1e999", b"3"])
async def test_params_that_cannot_be_read_are_answered(inner: bytes) -> None:
    relayed = Relayed()
    head = b'{"jsonrpc":"2.0","id":5,"method":"mcp/message","params":{"serverId":"%b",' % relayed.open().encode()
    line = b'%b"requestId":"1","method":"tools/list","params":{"x":%b},"requestId":%b}}\n' % (head, inner, inner)

    assert relayed.servers.change_incoming(line) == b""
    answer = await relayed.answers.get()
    assert (answer["id"], answer["error"]["code"]) == (5, -32602)


async def test_neither_commands_nor_environment_are_sent_before_the_agent_can_use_them() -> None:
    relayed = Relayed(is_supported=False)
    sent = relayed.send("session/new", {"cwd": "/", "mcpServers": [SERVER, {"type": "http", "name": "web"}]})

    assert json.loads(sent)["params"]["mcpServers"] == [{"type": "http", "name": "web"}]
    assert "notes" in relayed.reports[0]


async def test_methods_are_recognized_if_their_slashes_are_escaped() -> None:
    relayed = Relayed()
    line = json.dumps({"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": [SERVER]}})
    sent = relayed.servers.change_outgoing(line.replace("/", "\\/").encode() + b"\n")
    relayed.receive({"id": 2, "result": {"sessionId": "s"}})

    assert b"secret" not in sent
    params = {"serverId": json.loads(sent)["params"]["mcpServers"][0]["serverId"], "requestId": "", "method": "x"}
    call = json.dumps({"id": 5, "method": "mcp/message", "params": params})
    assert relayed.servers.change_incoming(call.replace("/", "\\/").encode() + b"\n") == b""
    assert (await relayed.answers.get())["id"] == 5
