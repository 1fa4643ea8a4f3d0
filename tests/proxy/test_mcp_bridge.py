"""A conductor offers MCP over ACP for an agent that doesn't support it, and bridges the servers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp_over_acp.servers import Notes
from support.chains import PATIENT, wire_peer
from support.link import until
from support.server import serving

import accord
from accord import Agent, McpServer, Turn, v1
from accord.proxy import Conductor, Proxy, Request, chain, to_agent, to_client
from accord.transports.memory import pair

SERVER = {"type": "acp", "name": "notes", "serverId": "server-7"}
SUPPORTED = {1: {"agentCapabilities": {"x": 1}}, 2: {"capabilities": {"x": 1, "session": {"mcp": {"stdio": {}}}}}}
OFFERED = {
    1: {"agentCapabilities": {"x": 1, "mcpCapabilities": {"acp": True}}},
    2: {"capabilities": {"x": 1, "session": {"mcp": {"stdio": {}, "acp": {}}}}},
}


class Caller(Agent):
    """Uses its first MCP server, a command, with the official SDK."""

    mcp = ("stdio",)
    servers: list[McpServer]

    async def prompt(self, turn: Turn) -> None:
        self.servers = turn.session.mcp_servers
        progress: list[str | None] = []

        async def note(done: float, total: float | None, words: str | None) -> None:
            progress.append(words)

        mode: Any = turn.text
        async with mcp.Client(turn.session.mcp_transport(self.servers[0]), mode=mode) as client:
            added: Any = await client.call_tool("add", {"a": 1, "b": 2})
            counted: Any = await client.call_tool("count", {"to": 2}, progress_callback=note)
            await turn.say(f"{added.content[0].text}; {counted.content[0].text}; {progress}")


class Watch(Proxy):
    """Lists the MCP requests that pass."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def watch(self, way: str, kind: str, method: str, body: bytes) -> None:
        if method == "mcp/message" and kind == "request":
            self.seen.append(json.loads(body)["method"])


@pytest.mark.req("V1-PROXY-11")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_that_only_starts_commands_uses_a_server_of_the_client(version: int, mode: str) -> None:
    agent, watch = Caller(), Watch()
    async with accord.connect(chain(watch, agent), versions={version}, deadlines=PATIENT) as connected:
        assert "acp" in connected.offers.mcp
        session = await connected.new_session(mcp_servers=[Notes().server])
        turn = await session.prompt(mode)

    assert turn.text == "3; counted to 2; ['step 1', 'step 2']"
    assert (agent.servers[0].name, agent.servers[0].transport) == ("notes", "stdio")
    assert watch.seen.count("tools/call") == 2


class Offers(Proxy):
    """Offers a tool to the agent, with handlers."""

    @to_agent(v1.methods.SESSION_NEW)
    async def new(self, request: Request[v1.NewSessionRequest, v1.NewSessionResponse]) -> v1.NewSessionResponse:
        request.params.mcp_servers.append(v1.McpServerAcp(name="mine", server_id="random-1"))
        return await request.forward()

    @to_client("mcp/message")
    async def call(self, request: Request[Any, Any]) -> Any:
        if request.params.server_id != "random-1":
            return await request.forward()
        text = f"{request.params.method} answered by the proxy"
        return {"result": {"resultType": "complete", "content": [{"type": "text", "text": text}]}}


async def test_a_proxy_offers_a_tool_with_two_handlers() -> None:
    class Simple(Agent):
        async def prompt(self, turn: Turn) -> None:
            transport = turn.session.mcp_transport(turn.session.mcp_servers[0])
            async with transport as (read, write), mcp.ClientSession(read, write) as client:
                request = mcp.types.CallToolRequest(params=mcp.types.CallToolRequestParams(name="t"))
                result: Any = await client.send_request(request, mcp.types.CallToolResult)
                await turn.say(result.content[0].text)

    async with accord.connect(chain(Offers(), Simple()), versions={1}, deadlines=PATIENT) as connected:
        session = await connected.new_session()
        assert (await session.prompt("go")).text == "tools/call answered by the proxy"


class Bridge:
    """A conductor of one proxy and one agent that the test plays, with an MCP server that the proxy offers."""

    def __init__(self, version: int) -> None:
        self.version = version
        proxy_end, proxy_transport = pair()
        agent_end, agent_transport = pair()
        client_end, transport = pair()
        self.client, self.proxy, self.agent = wire_peer(client_end), wire_peer(proxy_end), wire_peer(agent_end)
        self.serving = asyncio.create_task(Conductor(proxy_transport, agent_transport).serve(transport))

    async def down(self, method: str, params: Any) -> Any:
        """Send a request of the proxy to its successor, and return its id."""
        return await self.proxy.ask("proxy/successor", {"method": method, "params": params})

    async def initialize(self, capabilities: Any) -> Any:
        """Return the agent's response as the proxy gets it."""
        id = await self.down("initialize", {"protocolVersion": self.version})
        await self.agent.reply(
            await self.agent.next_call("initialize"), {"protocolVersion": self.version, **capabilities}
        )
        return (await self.proxy.answer_to(id))["result"]

    async def open(self, *servers: Any, method: str = "session/new", result: Any = None) -> list[Any]:
        """Open a session with these servers. Returns those that the agent gets."""
        id = await self.down(method, {"cwd": "/", "mcpServers": servers, "z": [1]})
        asked = await self.agent.next_call(method)
        await self.agent.reply(asked, result or {"sessionId": "s"})
        await self.proxy.answer_to(id)
        assert asked["params"] == {"cwd": "/", "mcpServers": asked["params"]["mcpServers"], "z": [1]}
        found: list[Any] = asked["params"]["mcpServers"]
        return found

    async def next_message(self) -> Any:
        """Return the next MCP request that the proxy gets."""
        asked = await self.proxy.next_call("proxy/successor")
        assert asked["params"]["method"] == "mcp/message"
        return asked


@asynccontextmanager
async def bridging(version: int) -> AsyncIterator[Bridge]:
    bridge = Bridge(version)
    try:
        yield bridge
    finally:
        await bridge.client.transport.close()
        await bridge.serving


def _address(server: Any) -> tuple[str, int, str]:
    host, port, token = server["env"][0]["value"].split()
    return host, int(port), token


@asynccontextmanager
async def started(server: Any) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Do what the bridge's command does, without a process."""
    host, port, token = _address(server)
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(token.encode() + b"\n")
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _listens(server: Any) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(_address(server)[:2]) == 0


@pytest.mark.req("V1-PROXY-11")
async def test_a_proxy_is_offered_mcp_over_acp_and_the_agent_gets_a_command(version: int) -> None:
    other = {"type": "_other", "name": "o", "more": {"a": None}}
    async with bridging(version) as bridge:
        assert await bridge.initialize(SUPPORTED[version]) == {"protocolVersion": version, **OFFERED[version]}
        servers = await bridge.open(other, SERVER)

    assert servers[0] == other
    assert servers[1].pop("type", None) == {1: None, 2: "stdio"}[version]
    assert set(servers[1]) == {"name", "command", "args", "env"}
    assert servers[1]["name"] == "notes"


@pytest.mark.req("V1-PROXY-11")
async def test_mcp_requests_of_the_command_go_to_the_proxy_that_offered_the_server(version: int) -> None:
    async with bridging(version) as bridge:
        await bridge.initialize(SUPPORTED[version])
        (server,) = await bridge.open(SERVER)
        async with started(server) as (reader, writer):
            writer.write(_line(id="a", method="tools/list", params={"x": 1}))
            asked = await bridge.next_message()
            inner = asked["params"]["params"]
            assert {**inner, "requestId": ""} == {
                "serverId": "server-7",
                "requestId": "",
                "method": "tools/list",
                "params": {"x": 1},
            }
            note = {**inner, "method": "notifications/progress", "params": {"progress": 1}}
            await bridge.proxy.tell("proxy/successor", {"method": "mcp/message", "params": note})
            await bridge.proxy.reply(asked, {"result": {"tools": []}})
            lines = [json.loads(await reader.readline()) for _ in range(2)]

    assert lines[0] == {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    assert lines[1] == {"jsonrpc": "2.0", "id": "a", "result": {"tools": []}}
    assert not [each for each in bridge.agent.received if each.get("method") == "mcp/message"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"result": {"error": {"code": -5, "message": "no ink"}}}, {"code": -5, "message": "no ink"}),
        ({"error": {"code": -33001, "message": "gone"}}, {"code": -33001, "message": "gone", "data": None}),
        ({"result": 7}, {"code": -33002, "message": "the response of the MCP server can't be read", "data": None}),
    ],
)
async def test_errors_of_the_server_and_of_the_way_to_it_reach_the_command(answer: Any, error: Any) -> None:
    async with bridging(1) as bridge:
        await bridge.initialize({})
        (server,) = await bridge.open(SERVER)
        async with started(server) as (reader, writer):
            writer.write(_line(id=1, method="tools/list"))
            asked = await bridge.next_message()
            await bridge.proxy.send({"id": asked["id"], **answer})
            assert json.loads(await reader.readline())["error"] == error


async def test_a_request_that_the_command_cancels_is_cancelled_on_its_hop() -> None:
    async with bridging(1) as bridge:
        await bridge.initialize({})
        (server,) = await bridge.open(SERVER)
        async with started(server) as (_, writer):
            writer.write(_line(id=1, method="tools/call"))
            asked = await bridge.next_message()
            writer.write(_line(method="notifications/cancelled", params={"requestId": 1}))
            cancelled = await bridge.proxy.next_call("$/cancel_request")
            assert cancelled["params"] == {"requestId": asked["id"]}


async def test_too_many_open_requests_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.proxy.mcp_bridge.MAX_OPEN", 1)
    async with bridging(1) as bridge:
        await bridge.initialize({})
        (server,) = await bridge.open(SERVER)
        async with started(server) as (reader, writer):
            writer.write(_line(id=1, method="tools/call") + _line(id=2, method="tools/call"))
            assert json.loads(await reader.readline())["error"]["code"] == -33000


@pytest.mark.parametrize("capabilities", [{1: OFFERED[1], 2: OFFERED[2]}, {1: {"protocolVersion": 7}, 2: {}}])
async def test_an_agent_that_needs_no_bridge_or_cannot_use_one_gets_everything_as_it_is(
    version: int, capabilities: dict[int, Any]
) -> None:
    note = {"serverId": "server-7", "requestId": "1", "method": "m"}
    async with bridging(version) as bridge:
        given = {"protocolVersion": version, **capabilities[version]}
        assert await bridge.initialize(capabilities[version]) == given
        assert await bridge.open(SERVER) == [SERVER]
        await bridge.proxy.tell("proxy/successor", {"method": "mcp/message", "params": note})
        assert (await bridge.agent.next_call("mcp/message"))["params"] == note


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_a_bridge_ends_with_its_session(method: str) -> None:
    async with bridging(1) as bridge:
        await bridge.initialize({})
        (first,) = await bridge.open(SERVER)
        (second,) = await bridge.open({**SERVER, "serverId": "8"}, result={"sessionId": "t"})
        id = await bridge.down(method, {"sessionId": "s"})
        await bridge.agent.reply(await bridge.agent.next_call(method), {})
        await bridge.proxy.answer_to(id)
        await until(lambda: not _listens(first))
        assert _listens(second)
    assert not _listens(second)


async def test_a_session_that_is_opened_again_or_refused_leaves_no_bridge_behind() -> None:
    async with bridging(1) as bridge:
        await bridge.initialize({})
        (first,) = await bridge.open(SERVER)
        (again,) = await bridge.open({**SERVER, "serverId": "8"}, method="session/load", result={"sessionId": "s"})
        await until(lambda: not _listens(first))
        id = await bridge.down("session/new", {"cwd": "/", "mcpServers": [{**SERVER, "serverId": "9"}]})
        asked = await bridge.agent.next_call("session/new")
        await bridge.agent.refuse(asked, -32000, "log in")
        assert (await bridge.proxy.answer_to(id))["error"]["message"] == "log in"
        await until(lambda: not _listens(asked["params"]["mcpServers"][0]))
        assert _listens(again)


async def test_a_remote_agent_is_not_offered_what_it_could_not_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as served:
        monkeypatch.setenv("ACCORD_TOKEN", served.token("proxy"))
        async with accord.connect(chain(Proxy(), Conductor(served.url)), deadlines=PATIENT) as agent:
            assert "acp" not in agent.offers.mcp


async def test_only_the_outermost_conductor_bridges() -> None:
    agent = Caller()
    async with accord.connect(chain(Conductor(Proxy(), Proxy()), agent), deadlines=PATIENT) as connected:
        session = await connected.new_session(mcp_servers=[Notes().server])
        turn = await session.prompt("auto")
    assert turn.text.startswith("3; counted")
