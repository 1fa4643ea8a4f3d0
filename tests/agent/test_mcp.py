"""MCP servers of a session: which it is given, which are refused, and those that run in the client."""

from __future__ import annotations

from typing import Any

import mcp
import pytest
from mcp_over_acp.servers import Notes
from support.link import Link
from support.wire_client import hello, new_session

from accord import Agent, AgentSession, CapabilityError, InvalidParams, McpServer, Turn
from accord.testing import ScriptedAgent, wire_client

STDIO = McpServer(name="files", command="/usr/bin/mcp-files", args=["--root", "/"], env={"A": "1"})
HTTP = McpServer(name="web", transport="http", url="https://example.com/mcp", headers={"X-Key": "k"})
SSE = McpServer(name="old", transport="sse", url="https://example.com/sse")
ACP = McpServer(name="ours", transport="acp", server_id="s1")


class Served(Agent):
    mcp = ("stdio", "http")

    def __init__(self) -> None:
        self.servers: list[McpServer] = []

    async def new_session(self, session: AgentSession) -> None:
        self.servers = session.mcp_servers

    async def prompt(self, turn: Turn) -> None: ...


@pytest.mark.req("V1-MCP-02")
async def test_in_version_1_a_server_may_say_that_it_is_reached_over_stdio() -> None:
    """Version 2 demands the type, so clients that share code for both send it in version 1, too."""
    seen: list[McpServer] = []

    class Looking(ScriptedAgent):
        async def new_session(self, session: AgentSession) -> None:
            seen.extend(session.mcp_servers)

    server = {"type": "stdio", "name": "x", "command": "/bin/true", "args": ["-v"], "env": []}
    async with wire_client(Looking([])) as peer:
        await hello(peer, 1)
        await new_session(peer, mcpServers=[server])
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": [{**server, "type": "pigeon"}]})

    assert seen == [McpServer(name="x", command="/bin/true", args=["-v"])]
    assert refused["error"]["message"].endswith("is 'pigeon'; it may be http, sse, acp or stdio")


@pytest.mark.feature("MCP servers", "agent", "client")
@pytest.mark.req("V1-MCP-01", "V1-MCP-02", "V1-MCP-05", "V1-MCP-08", "V2-MCP-01", "V2-MCP-04")
async def test_a_session_is_given_the_servers_of_the_connection_or_its_own(link: Link) -> None:
    agent = Served()
    async with link(agent, mcp_servers=[STDIO]) as client:
        await client.new_session()
        of_the_connection = agent.servers
        await client.new_session(mcp_servers=[HTTP, STDIO])
        of_its_own = agent.servers
        await client.new_session(mcp_servers=[])
        none = agent.servers

    assert of_the_connection == [STDIO]
    assert of_its_own == [HTTP, STDIO]
    assert none == []


@pytest.mark.req("V1-MCP-05", "V1-MCP-06", "V1-MCP-11", "V2-MCP-02")
@pytest.mark.parametrize("server", [SSE, ACP, McpServer(name="x", transport="_pigeon")])
async def test_a_server_that_the_agent_cannot_reach_is_not_sent(link: Link, server: McpServer) -> None:
    async with link(Served()) as client:
        with pytest.raises(CapabilityError, match="nothing was sent"):
            await client.new_session(mcp_servers=[server])


@pytest.mark.req("V1-MCP-03", "V2-MCP-01")
async def test_a_command_without_an_absolute_path_is_not_sent(link: Link) -> None:
    async with link(Served()) as client:
        with pytest.raises(InvalidParams, match="absolute"):
            await client.new_session(mcp_servers=[McpServer(name="x", command="npx")])


@pytest.mark.req("V2-MCP-03", "V1-MCP-06")
@pytest.mark.parametrize(
    "server",
    [
        {"type": "sse", "name": "x", "url": "https://example.com", "headers": []},
        {"type": "_pigeon", "name": "x"},
        {"type": "acp", "name": "x", "serverId": "s"},
    ],
)
async def test_a_way_that_was_not_offered_is_refused_with_its_place(version: int, server: dict[str, Any]) -> None:
    async with wire_client(Served()) as peer:
        await hello(peer, version)
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": [server]})

    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"]["path"].startswith("mcpServers[0]")


@pytest.mark.req("V1-MCP-04", "V2-MCP-06")
async def test_what_a_server_leaves_out_is_empty(version: int) -> None:
    agent = Served()
    tag = {} if version == 1 else {"type": "stdio"}
    async with wire_client(agent) as peer:
        await hello(peer, version)
        server = {**tag, "name": "x", "command": "/x", "args": None, "env": None}
        assert "result" in await peer.call("session/new", {"cwd": "/", "mcpServers": [server]})

    assert agent.servers == [McpServer(name="x", command="/x")]


@pytest.mark.req("V2-MCP-07")
async def test_in_version_2_two_servers_of_one_name_are_refused() -> None:
    server = {"type": "stdio", "name": "x", "command": "/x"}
    async with wire_client(Served()) as peer:
        await hello(peer, 2)
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": [server, server]})

    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"path": "mcpServers[1].name"})


@pytest.mark.req("V1-MCP-03", "V1-MCP-02", "V2-MCP-01", "V2-MCP-05", "V1-SETUP-02")
async def test_on_the_wire_a_server_is_written_whole(link: Link, version: int) -> None:
    sent: list[bytes] = []
    async with link(Served()) as client:
        client.connection.watch(lambda direction, lines: sent.append(lines) if direction == "out" else None)
        await client.new_session(mcp_servers=[STDIO, HTTP])

    import json

    stdio, http = json.loads(sent[0])["params"]["mcpServers"]
    env = [{"name": "A", "value": "1"}]
    tag = {} if version == 1 else {"type": "stdio"}
    assert stdio == {**tag, "name": "files", "command": "/usr/bin/mcp-files", "args": ["--root", "/"], "env": env}
    assert http == {
        "type": "http",
        "name": "web",
        "url": "https://example.com/mcp",
        "headers": [{"name": "X-Key", "value": "k"}],
    }


@pytest.mark.feature("MCP over ACP", "agent", "client")
@pytest.mark.req("V1-MCP-11")
async def test_a_server_of_the_client_is_used_through_the_connection(link: Link) -> None:
    class Inside(Served):
        mcp = ("stdio", "acp")
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            async with mcp.Client(turn.session.mcp_transport(self.servers[0])) as server:
                result: Any = await server.call_tool("add", {"a": 1, "b": 2})
                await turn.say(result.content[0].text)

    agent = Inside()
    async with link(agent, unstable=True) as client:
        session = await client.new_session(mcp_servers=[Notes().server])
        turn = await session.prompt("go")

    assert [(server.name, server.transport) for server in agent.servers] == [("notes", "acp")]
    assert turn.text == "3"
