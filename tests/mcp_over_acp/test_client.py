"""The client's side of MCP over ACP: how servers are declared, and how requests to them are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_over_acp.servers import Notes, call, lowlevel, message, program, sdk_program
from support.link import until

from accord import CapabilityError, InvalidValue, McpServer, OfferedServer, UsageError
from accord.client.session import Session
from accord.testing import WirePeer, wire_agent

V1: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"acp": True}}}
V2: dict[str, Any] = {
    "protocolVersion": 2,
    "info": {"name": "by hand", "version": "0"},
    "capabilities": {"session": {"mcp": {"stdio": {}, "acp": {}}}},
}
V1["agentCapabilities"]["sessionCapabilities"] = {"close": {}, "resume": {}}


@asynccontextmanager
async def offered(version: int, *servers: Any) -> AsyncIterator[tuple[WirePeer, Session, list[str]]]:
    """A session with servers that the client offers: the agent by hand, the session, and the servers' ids."""
    async with wire_agent(version, hello=V1 if version == 1 else V2) as (peer, client):
        opening = asyncio.ensure_future(client.new_session("/", mcp_servers=servers))
        request = await peer.next_call("session/new")
        await peer.reply(request, {"sessionId": "s"})
        yield peer, await opening, [each["serverId"] for each in request["params"]["mcpServers"]]


def text(answer: dict[str, Any]) -> str:
    """The text of a tool's result."""
    words: str = answer["result"]["result"]["content"][0]["text"]
    return words


# -- declaring


@pytest.mark.req("V1-MCPACP-01")
@pytest.mark.req("V2-PROXY-02")
async def test_a_server_is_declared_with_an_opaque_id_that_is_never_used_again(version: int) -> None:
    async with wire_agent(version, hello=V1 if version == 1 else V2) as (peer, client):
        server, ids = Notes().server, set()
        for number in range(3):
            opening = asyncio.ensure_future(
                client.new_session("/", mcp_servers=[server, OfferedServer(server, name="b")])
            )
            request = await peer.next_call("session/new")
            declared = request["params"]["mcpServers"]
            await peer.reply(request, {"sessionId": f"s{number}"})
            await opening
            assert [(each["type"], each["name"]) for each in declared] == [("acp", "notes"), ("acp", "b")]
            assert all(set(each) == {"type", "name", "serverId"} for each in declared)
            ids |= {each["serverId"] for each in declared}
        assert len(ids) == 6
        assert not any("notes" in id or len(id) < 16 for id in ids)


@pytest.mark.req("V1-MCPACP-01")
async def test_nothing_is_declared_to_a_remote_agent_without_the_capability() -> None:
    async with wire_agent(1) as (peer, client):
        client.is_remote = True
        with pytest.raises(CapabilityError, match="can't reach MCP server 'notes'"):
            await client.new_session("/", mcp_servers=[Notes().server])
        await peer.quiet()
        assert [each["method"] for each in peer.received if "method" in each] == ["initialize"]


def test_only_servers_can_be_offered() -> None:
    with pytest.raises(UsageError, match="str is not an MCP server"):
        OfferedServer("notes")
    with pytest.raises(InvalidValue, match="only servers with a command"):
        OfferedServer(McpServer(name="x", transport="http", url="http://localhost/"))


async def test_the_agent_learns_nothing_if_nothing_is_offered(version: int) -> None:
    async with wire_agent(version, hello=V1 if version == 1 else V2) as (peer, _):
        answer = await peer.call("mcp/message", message("x", "1", "tools/list"))
        assert answer["error"]["code"] == -32601


# -- answers


@pytest.mark.req("V1-MCPACP-03")
@pytest.mark.req("V2-PROXY-02")
async def test_a_result_and_an_error_of_the_server_come_in_the_response(version: int) -> None:
    async with offered(version, Notes().server) as (peer, _, [id]):
        added = await peer.call("mcp/message", call(id, "1", "add", a=1, b=2))
        failed = await peer.call("mcp/message", call(id, "1", "fail"))
        unknown = await peer.call("mcp/message", message(id, "1", "no/such"))

    assert list(added["result"]) == ["result"]
    assert text(added) == "3"
    assert failed["result"]["result"]["isError"] is True
    assert list(unknown["result"]) == ["error"]
    assert unknown["result"]["error"]["code"] == -32601


@pytest.mark.req("V1-MCPACP-08")
async def test_servers_without_a_handshake_get_the_metadata_of_each_request(version: int) -> None:
    async with offered(version, Notes().server) as (peer, _, [id]):
        found = await peer.call("mcp/message", message(id, "1", "server/discover"))
        without = await peer.call("mcp/message", {"serverId": id, "requestId": "2", "method": "tools/list"})
        shaken = await peer.call("mcp/message", message(id, "3", "initialize", protocolVersion="2025-11-25"))

    assert "2026-07-28" in found["result"]["result"]["supportedVersions"]
    assert without["result"]["error"]["code"] == -32602
    assert shaken["result"]["error"]["data"] == {"supported": ["2026-07-28"]}


async def test_low_level_servers_are_offered_too(version: int) -> None:
    async with offered(version, lowlevel()) as (peer, _, [id]):
        assert text(await peer.call("mcp/message", call(id, "1", "hello"))) == "hello from hello"


@pytest.mark.req("V1-MCPACP-05")
@pytest.mark.req("V2-PROXY-02")
async def test_progress_belongs_to_its_request_and_keeps_its_token(version: int) -> None:
    async with offered(version, Notes().server) as (peer, _, [id]):
        counting = call(id, "mine", "count", to=3)
        counting["params"]["_meta"] = {**counting["params"]["_meta"], "progressToken": "t"}
        answer = await peer.call("mcp/message", counting)

    told = [each for each in peer.received if each.get("method") == "mcp/message"]
    assert text(answer) == "counted to 3"
    assert [each["params"]["params"]["progress"] for each in told] == [1, 2, 3]
    assert {each["params"]["requestId"] for each in told} == {"mine"}
    assert {each["params"]["params"]["progressToken"] for each in told} == {"t"}
    assert "id" not in told[0]
    assert peer.received.index(told[-1]) < peer.received.index(answer)


# -- outer errors


@pytest.mark.req("V1-MCPACP-07")
@pytest.mark.req("V2-PROXY-02")
async def test_malformed_and_duplicate_requests_are_invalid(version: int) -> None:
    notes = Notes()
    async with offered(version, notes.server) as (peer, _, [id]):
        await peer.ask("mcp/message", call(id, "1", "wait"), id="waiting")
        await notes.waiting.wait()
        duplicate = await peer.call("mcp/message", call(id, "1", "add", a=1, b=1))
        other = await peer.call("mcp/message", call(id, "2", "add", a=1, b=1))
        malformed = await peer.call("mcp/message", {"serverId": id, "requestId": 7, "method": "tools/list"})
        empty = await peer.call("mcp/message", {"serverId": id, "requestId": "", "method": "tools/list"})

    assert duplicate["error"]["code"] == -32602
    assert text(other) == "2"
    assert malformed["error"]["code"] == -32602
    assert empty["error"]["code"] == -32602


@pytest.mark.req("V1-MCPACP-07")
async def test_a_cancelled_request_is_answered_as_cancelled_and_stops_the_tool(version: int) -> None:
    notes = Notes()
    async with offered(version, notes.server) as (peer, _, [id]):
        await peer.ask("mcp/message", call(id, "1", "wait"), id="waiting")
        await notes.waiting.wait()
        await peer.tell("$/cancel_request", {"requestId": "waiting"})
        answer = await peer.answer_to("waiting")
        await notes.cancelled.wait()
        again = await peer.call("mcp/message", call(id, "1", "add", a=1, b=1))

    assert answer["error"]["code"] == -32800
    assert text(again) == "2", "the id is free again"


@pytest.mark.req("V1-MCPACP-07")
async def test_too_many_open_requests_reach_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.mcp.served_requests.MAX_ACTIVE", 2)
    notes = Notes()
    async with offered(1, notes.server) as (peer, _, [id]):
        for number in range(2):
            await peer.ask("mcp/message", call(id, f"w{number}", "wait"), id=f"w{number}")
        answer = await peer.call("mcp/message", call(id, "1", "add", a=1, b=1))
        assert answer["error"]["code"] == -33000
        await peer.tell("$/cancel_request", {"requestId": "w0"})
        await peer.answer_to("w0")
        assert text(await peer.call("mcp/message", call(id, "1", "add", a=1, b=1))) == "2"


@pytest.mark.req("V1-MCPACP-07")
@pytest.mark.req("V2-PROXY-02")
async def test_unknown_ids_and_programs_that_cannot_start_are_unavailable(version: int) -> None:
    missing = OfferedServer(McpServer(name="gone", command="/no/such/program"))
    async with offered(version, Notes().server, missing) as (peer, _, [id, broken]):
        guessed = await peer.call("mcp/message", message(id[:-1] + "x", "1", "tools/list"))
        unstarted = await peer.call("mcp/message", message(broken, "1", "tools/list"))

    assert guessed["error"]["code"] == -33001
    assert unstarted["error"]["code"] == -33001
    assert "'gone'" in unstarted["error"]["message"]


@pytest.mark.req("V1-MCPACP-07")
async def test_a_server_that_dies_fails_its_requests_and_is_started_again(version: int) -> None:
    async with offered(version, OfferedServer(program())) as (peer, _, [id]):
        first = text(await peer.call("mcp/message", call(id, "1", "pid")))
        died = await peer.call("mcp/message", call(id, "2", "die"))
        second = text(await peer.call("mcp/message", call(id, "3", "pid")))

    assert died["error"]["code"] == -33002
    assert "out of ink" in died["error"]["message"]
    assert first != second


async def test_a_server_that_keeps_dying_becomes_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.mcp.hosted_server.MAX_STARTS", 2)
    async with offered(1, OfferedServer(program())) as (peer, _, [id]):
        codes = [(await peer.call("mcp/message", call(id, "1", "die")))["error"]["code"] for _ in range(3)]
    assert codes == [-33002, -33002, -33001]


# -- programs


async def test_a_program_that_needs_a_handshake_is_used_without_one(version: int) -> None:
    async with offered(version, OfferedServer(program())) as (peer, _, [id]):
        found = await peer.call("mcp/message", message(id, "1", "server/discover"))
        hello = await peer.call("mcp/message", call(id, "2", "hello", name="world"))
        meta = await peer.call("mcp/message", call(id, "3", "meta"))

    result = found["result"]["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "odd"
    assert text(hello) == "hello, world"
    assert text(meta) == "{}"


async def test_a_program_on_the_sdk_is_used_without_a_handshake(version: int) -> None:
    async with offered(version, OfferedServer(sdk_program())) as (peer, _, [id]):
        answer = await peer.call("mcp/message", call(id, "1", "add", a=20, b=22))
        assert answer["result"]["result"]["structuredContent"] == {"total": 42}


async def test_requests_of_a_program_are_rejected(version: int) -> None:
    async with offered(version, OfferedServer(program())) as (peer, _, [id]):
        assert "Method not found: sampling/createMessage" in text(await peer.call("mcp/message", call(id, "1", "ask")))


# -- hostile servers


@pytest.mark.parametrize("tool", ["nothing", "deep"])
async def test_a_response_that_cannot_be_read_fails_only_its_request(tool: str) -> None:
    async with offered(1, OfferedServer(program())) as (peer, _, [id]):
        answer = await peer.call("mcp/message", call(id, "1", tool))
        after = await peer.call("mcp/message", call(id, "2", "hello"))
    assert answer["error"]["code"] == -33002
    assert text(after) == "hello, nobody"


async def test_lone_surrogates_and_odd_errors_are_repaired() -> None:
    async with offered(1, OfferedServer(program())) as (peer, _, [id]):
        surrogate = await peer.call("mcp/message", call(id, "1", "surrogate"))
        error = await peer.call("mcp/message", call(id, "2", "odd_error"))
    assert surrogate["result"]["result"]["x"] == "?"
    assert error["result"]["error"] == {"code": -32603, "message": "['no']", "data": {"a": 1}}


async def test_a_flood_of_notifications_arrives_in_order_before_the_response() -> None:
    async with offered(1, OfferedServer(program())) as (peer, _, [id]):
        flooding = call(id, "1", "flood")
        flooding["params"]["_meta"] = {**flooding["params"]["_meta"], "progressToken": 1}
        await peer.call("mcp/message", flooding)
    told = [each["params"]["params"]["progress"] for each in peer.received if each.get("method") == "mcp/message"]
    assert told == list(range(20_000))


async def test_notifications_without_a_request_are_dropped() -> None:
    async with offered(1, OfferedServer(program())) as (peer, _, [id]):
        await peer.call("mcp/message", call(id, "1", "progress"))  # without a token
        await peer.call("mcp/message", call(id, "2", "hello"))
    assert not [each for each in peer.received if each.get("method") == "mcp/message" and "id" in each]


# -- the end


async def test_servers_end_with_their_session(version: int) -> None:
    async with offered(version, OfferedServer(program())) as (peer, session, [id]):
        pid = int(text(await peer.call("mcp/message", call(id, "1", "pid"))))
        closing = asyncio.ensure_future(session.close())
        await peer.reply(await peer.next_call("session/close"), {})
        await closing
        answer = await peer.call("mcp/message", call(id, "2", "pid"))
        await until(lambda: not _is_running(pid))
    assert answer["error"]["code"] == -33001


async def test_servers_end_with_their_connection(version: int) -> None:
    async with offered(version, OfferedServer(program())) as (peer, _, [id]):
        pid = int(text(await peer.call("mcp/message", call(id, "1", "pid"))))
    assert not _is_running(pid)


async def test_servers_of_a_session_that_could_not_be_opened_are_gone() -> None:
    async with wire_agent(1, hello=V1) as (peer, client):
        opening = asyncio.ensure_future(client.new_session("/", mcp_servers=[Notes().server]))
        request = await peer.next_call("session/new")
        id = request["params"]["mcpServers"][0]["serverId"]
        early = await peer.call("mcp/message", call(id, "1", "add", a=1, b=2))
        await peer.refuse(request, -32603)
        with pytest.raises(Exception, match="no"):
            await opening
        late = await peer.call("mcp/message", call(id, "2", "add", a=1, b=2))

    assert text(early) == "3", "an agent may connect to servers before it answers"
    assert late["error"]["code"] == -33001


async def test_a_session_that_is_opened_again_gets_new_ids() -> None:
    async with wire_agent(1, hello=V1) as (peer, client):
        ids = []
        for method in ("session/new", "session/resume"):
            how = client.new_session("/", mcp_servers=[Notes().server])
            if method == "session/resume":
                how.close()
                how = client.resume_session("s", "/", mcp_servers=[Notes().server])
            opening = asyncio.ensure_future(how)
            request = await peer.next_call(method)
            ids.append(request["params"]["mcpServers"][0]["serverId"])
            await peer.reply(request, {"sessionId": "s"})
            await opening
        old = await peer.call("mcp/message", call(ids[0], "1", "add", a=1, b=2))
        new = await peer.call("mcp/message", call(ids[1], "1", "add", a=1, b=2))

    assert old["error"]["code"] == -33001
    assert text(new) == "3"


def _is_running(pid: int) -> bool:
    import os

    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
