"""The agent's side of MCP over ACP: the client of the official SDK over `mcp/message`, against a client by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp
import pytest
from mcp import MCPError
from support.wire_client import ask, hello

from accord import Agent, AgentSession, Turn
from accord.testing import WirePeer, wire_client

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
FOUND = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0}
FOUND["cacheScope"] = "private"
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}

Work = Callable[[mcp.Client], Awaitable[Any]]


class Caller(Agent):
    """Does something with the first MCP server of the session, and reports the result."""

    unstable = True
    mcp = ("stdio", "acp")

    def __init__(self, work: Work, mode: Any = "auto") -> None:
        self.work, self.mode = work, mode
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def prompt(self, turn: Turn) -> None:
        session: AgentSession = turn.session
        try:
            async with mcp.Client(session.mcp_transport(session.mcp_servers[0]), mode=self.mode) as client:
                self.outcome.set_result(await self.work(client))
        except* MCPError as group:
            self.outcome.set_exception(group.exceptions[0])


@asynccontextmanager
async def calling(version: int, work: Work, mode: Any = "2026-07-28") -> AsyncIterator[tuple[WirePeer, Caller]]:
    """An agent that does some work in its first turn, and the client by hand."""
    agent = Caller(work, mode)
    async with wire_client(agent) as peer:
        await hello(peer, version)
        servers = [{"type": "acp", "name": "notes", "serverId": "server-7"}]
        answer = await peer.call("session/new", {"cwd": "/", "mcpServers": servers})
        await ask(peer, answer["result"]["sessionId"], "go")
        yield peer, agent
        if not agent.outcome.done():
            agent.outcome.cancel()


async def call_tool(client: mcp.Client) -> Any:
    return (await client.call_tool("work", {"x": 1})).content[0].text  # type: ignore[union-attr]


async def answer_listing(peer: WirePeer) -> None:
    """Answer what the SDK asks after a call, to check the result."""
    request = await peer.next_call("mcp/message")
    await peer.reply(request, {"result": {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}})


@pytest.mark.req("V1-MCPACP-02")
@pytest.mark.req("V2-PROXY-02")
async def test_requests_name_the_server_and_have_ids_that_are_unique_while_they_are_open(version: int) -> None:
    async def two(client: mcp.Client) -> Any:
        return await asyncio.gather(client.session.send_ping(), client.session.send_ping(), return_exceptions=True)

    async with calling(version, two) as (peer, agent):
        requests = [await peer.next_call("mcp/message") for _ in range(2)]
        for request in requests:
            await peer.reply(request, {"result": {}})
        await agent.outcome

    params = [request["params"] for request in requests]
    assert all(set(each) == {"serverId", "requestId", "method", "params"} for each in params)
    assert all(isinstance(each["requestId"], str) and each["requestId"] for each in params)
    assert params[0]["requestId"] != params[1]["requestId"]
    assert {each["serverId"] for each in params} == {"server-7"}
    assert all("id" in request for request in requests)


@pytest.mark.req("V1-MCPACP-08")
@pytest.mark.req("V2-PROXY-02")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_inner_requests_say_their_version_and_capabilities(version: int, mode: str) -> None:
    async with calling(version, call_tool, mode) as (peer, agent):
        found = await peer.next_call("mcp/message")
        await peer.reply(found, {"result": FOUND})
        called = await peer.next_call("mcp/message")
        await peer.reply(called, {"result": DONE})
        await answer_listing(peer)
        assert await agent.outcome == "done"

    assert [each["params"]["method"] for each in (found, called)] == ["server/discover", "tools/call"]
    for request in (found, called):
        meta = request["params"]["params"]["_meta"]
        assert meta[VERSION] == "2026-07-28"
        assert isinstance(meta[CAPABILITIES], dict)
    assert not [each for each in peer.received if each.get("method") in ("mcp/connect", "mcp/disconnect")]


@pytest.mark.req("V1-MCPACP-04")
@pytest.mark.req("V2-PROXY-02")
async def test_the_result_counts_if_an_error_comes_with_it(version: int) -> None:
    async with calling(version, call_tool) as (peer, agent):
        request = await peer.next_call("mcp/message")
        error = {"code": -1, "message": "no"}
        await peer.reply(request, {"result": DONE, "error": error, "extra": {"a": 1}})
        await answer_listing(peer)
        assert await agent.outcome == "done"


async def test_an_error_of_the_server_is_raised_with_its_code_and_data(version: int) -> None:
    async with calling(version, call_tool) as (peer, agent):
        request = await peer.next_call("mcp/message")
        await peer.reply(request, {"error": {"code": -32042, "message": "no paper", "data": {"left": 0}}})
        with pytest.raises(MCPError, match="no paper") as caught:
            await agent.outcome
    assert caught.value.code == -32042
    assert caught.value.error.data == {"left": 0}


@pytest.mark.parametrize("code", [-32602, -33000, -33001, -33002])
async def test_an_error_of_the_connection_to_the_server_is_raised_too(code: int) -> None:
    async with calling(1, call_tool) as (peer, agent):
        await peer.refuse(await peer.next_call("mcp/message"), code, "gone")
        with pytest.raises(MCPError, match="gone") as caught:
            await agent.outcome
    assert caught.value.code == code


@pytest.mark.req("V1-MCPACP-06")
@pytest.mark.req("V2-PROXY-02")
async def test_notifications_of_open_requests_arrive_and_others_are_dropped(version: int) -> None:
    seen = []

    async def count(client: mcp.Client) -> Any:
        async def progress(done: float, total: float | None, words: str | None) -> None:
            seen.append(words)

        for _ in range(2):
            await client.call_tool("work", {}, progress_callback=progress)

    async def tell(request: dict[str, Any], words: str, **changed: Any) -> None:
        params = request["params"]
        token = params["params"]["_meta"]["progressToken"]
        inner = {"progressToken": token, "progress": 1, "message": words}
        ids = {"serverId": params["serverId"], "requestId": params["requestId"], **changed}
        await peer.tell("mcp/message", {**ids, "method": "notifications/progress", "params": inner})

    async with calling(version, count) as (peer, agent):
        first = await peer.next_call("mcp/message")
        await tell(first, "first")
        await tell(first, "other request", requestId="mcp-99")
        await tell(first, "other server", serverId="server-8")
        await peer.reply(first, {"result": DONE})
        await answer_listing(peer)
        second = await peer.next_call("mcp/message")
        await tell(first, "late")
        await tell(second, "second")
        await peer.reply(second, {"result": DONE})
        await answer_listing(peer)
        await agent.outcome

    assert seen == ["first", "second"]


async def test_cancelling_a_call_cancels_its_request(version: int) -> None:
    started = asyncio.Event()

    async def give_up(client: mcp.Client) -> Any:
        call = asyncio.ensure_future(client.call_tool("work", {}))
        await started.wait()
        call.cancel()
        await asyncio.wait({call})
        return await client.session.send_ping()

    async with calling(version, give_up) as (peer, agent):
        request = await peer.next_call("mcp/message")
        started.set()
        cancel = await peer.next_call("$/cancel_request")
        await peer.refuse(request, -32800)
        await peer.reply(await peer.next_call("mcp/message"), {"result": {}})
        await agent.outcome
    assert cancel["params"]["requestId"] == request["id"]


@pytest.mark.parametrize("result", [{"result": [1]}, {"result": "x"}, {}, {"error": "no"}, [], "x"])
async def test_results_of_the_wrong_shape_are_errors_and_nothing_else_breaks(result: Any) -> None:
    async def try_twice(client: mcp.Client) -> Any:
        with pytest.raises(MCPError):
            await client.session.send_ping()
        return await client.session.send_ping()

    async with calling(1, try_twice) as (peer, agent):
        await peer.reply(await peer.next_call("mcp/message"), result)
        await peer.reply(await peer.next_call("mcp/message"), {"result": None})
        await agent.outcome


async def test_a_flood_of_notifications_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.mcp.client_link.MAX_QUEUED_BYTES", 10_000)
    async with calling(1, call_tool) as (peer, agent):
        request = await peer.next_call("mcp/message")
        ids = {key: request["params"][key] for key in ("serverId", "requestId")}
        line = {**ids, "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}}
        for _ in range(2_000):
            await peer.tell("mcp/message", line)
        await peer.reply(request, {"result": DONE})
        await answer_listing(peer)
        assert await agent.outcome == "done"


async def test_an_agent_without_the_capability_rejects_such_servers(version: int) -> None:
    class Plain(Agent):
        async def prompt(self, turn: Turn) -> None:
            raise AssertionError

    async with wire_client(Plain()) as peer:
        await hello(peer, version)
        servers = [{"type": "acp", "name": "notes", "serverId": "x"}]
        answer = await peer.call("session/new", {"cwd": "/", "mcpServers": servers})
    assert answer["error"]["code"] == -32602


async def test_other_kinds_of_servers_have_transports_too() -> None:
    from mcp_over_acp.servers import sdk_program

    server = sdk_program()

    async def add(client: mcp.Client) -> Any:
        return (await client.call_tool("add", {"a": 2, "b": 3})).structured_content

    agent = Caller(add, "auto")
    async with wire_client(agent) as peer:
        await hello(peer, 1)
        entry = {"name": server.name, "command": server.command, "args": server.args, "env": []}
        answer = await peer.call("session/new", {"cwd": "/", "mcpServers": [entry]})
        await ask(peer, answer["result"]["sessionId"], "go")
        assert await agent.outcome == {"total": 5}
