"""Agents without MCP over ACP get server objects of the client over HTTP, or as a command."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import mcp
import pytest
from mcp_over_acp.servers import META, Notes, program
from support.link import until

from accord import Agent, CapabilityError, McpServer, OfferedServer, Turn
from accord.testing import link


class Caller(Agent):
    """Uses its first MCP server with the official SDK, and keeps its configuration."""

    def __init__(self, *kinds: str) -> None:
        self.mcp = kinds
        self.servers: list[McpServer] = []

    async def prompt(self, turn: Turn) -> None:
        self.servers = turn.session.mcp_servers
        if turn.text == "look":
            return
        async with mcp.Client(turn.session.mcp_transport(self.servers[0]), mode=turn.text) as client:  # type: ignore[arg-type]
            tools = [tool.name for tool in (await client.list_tools()).tools]
            result: Any = await client.call_tool("add", {"a": 1, "b": 2})
            await turn.say(f"{len(tools)} tools; {result.content[0].text}")


KINDS = [("stdio", "http"), ("stdio",)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("kinds", KINDS, ids=["http", "stdio"])
async def test_an_agent_uses_a_server_object_over_what_it_supports(version: int, kinds: Any, mode: str) -> None:
    agent = Caller(*kinds)
    async with link(agent, version=version) as connected:
        session = await connected.new_session(mcp_servers=[Notes().server])
        turn = await session.prompt(mode)
    assert turn.text == "4 tools; 3"
    assert agent.servers[0].transport == kinds[-1]
    assert agent.servers[0].name == "notes"


@asynccontextmanager
async def over_http() -> AsyncIterator[tuple[Caller, McpServer, Any]]:
    agent = Caller("stdio", "http")
    async with link(agent) as connected:
        session = await connected.new_session(mcp_servers=[Notes().server])
        await session.prompt("auto")
        yield agent, agent.servers[0], session


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer guessed"}, 401),
        ({"host": "evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({}, 406),
    ],
)
async def test_only_the_agent_gets_in(headers: dict[str, str], status: int) -> None:
    async with over_http() as (_, server, _session), httpx2.AsyncClient(trust_env=False) as client:
        given = {"authorization": server.headers["Authorization"], **headers}
        answer = await client.post(server.url, json={}, headers=given)
        wrong_path = await client.post(server.url + "/x", headers={"authorization": server.headers["Authorization"]})
    assert answer.status_code in ({406, 400} if status == 406 else {status})
    assert wrong_path.status_code == 404


async def test_the_http_server_listens_on_loopback_and_ends_with_the_session() -> None:
    async with over_http() as (_, server, session):
        assert server.url.startswith("http://127.0.0.1:")
        assert len(server.headers["Authorization"]) > 40
        port = int(server.url.split(":")[2].partition("/")[0])
        await session.close()
        await until(lambda: not _listens(port))


async def test_the_command_needs_its_token_and_ends_with_the_session() -> None:
    agent = Caller("stdio")
    async with link(agent) as connected:
        session = await connected.new_session(mcp_servers=[Notes().server])
        await session.prompt("auto")
        host, port, token = agent.servers[0].env["ACCORD_MCP_BRIDGE"].split()
        assert token not in " ".join(agent.servers[0].args)
        assert host == "127.0.0.1"
        for first in (b"guessed\n", b"\n", b"x" * 1000 + b"\n"):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(first + b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}\n')
            assert await reader.read() == b""
            writer.close()
        await session.close()
        await until(lambda: not _listens(int(port)))


@asynccontextmanager
async def over_stdio() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]]:
    """Connect to the bridge of a command. Yields the token too."""
    agent = Caller("stdio")
    async with link(agent) as connected:
        session = await connected.new_session(mcp_servers=[Notes().server])
        await session.prompt("look")
        host, port, token = agent.servers[0].env["ACCORD_MCP_BRIDGE"].split()
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield reader, writer, token.encode()
        finally:
            writer.transport.abort()  # the rest may never be read
            with suppress(ConnectionError):
                await writer.wait_closed()


async def test_a_program_without_the_token_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.mcp.stdio_bridge.TOKEN_SECONDS", 600.0)
    async with over_stdio() as (reader, writer, _):
        writer.write(b"x" * 16 * 1024 * 1024)  # no line end, so only the size can end the connection
        with suppress(ConnectionError):
            assert await reader.read() == b""


async def test_long_messages_pass_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    async with over_stdio() as (reader, writer, token):
        for id in (1, 2):
            meta = {**META, "filler": "x" * 1_000_000}
            request = {"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {"_meta": meta}}
            writer.write((token + b"\n" if id == 1 else b"") + json.dumps(request).encode() + b"\n")
            assert json.loads(await reader.readline())["id"] == id
        monkeypatch.setattr("accord.mcp.stdio_bridge.MAX_LINE_BYTES", 1000)
    async with over_stdio() as (reader, writer, token):
        writer.write(token + b"\n" + b"x" * 100_000 + b"\n")
        assert await reader.read() == b""


async def test_a_program_is_started_by_an_agent_on_this_machine_itself() -> None:
    agent = Caller("stdio")

    async with link(agent) as connected:
        session = await connected.new_session(mcp_servers=[OfferedServer(program(), name="mine")])
        await session.prompt("look")
    assert (agent.servers[0].transport, agent.servers[0].name) == ("stdio", "mine")
    assert agent.servers[0].command == program().command


async def test_a_remote_agent_without_the_capability_cannot_reach_them() -> None:
    async with link(Caller("stdio", "http")) as connected:
        connected.is_remote = True
        for server in (Notes().server, OfferedServer(program())):
            with pytest.raises(CapabilityError, match="which runs here; nothing was sent"):
                await connected.new_session(mcp_servers=[server])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
