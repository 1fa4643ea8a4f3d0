"""Servers that don't start, crash, stay silent or send invalid messages are reported, and the session continues."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from coder.mcp.conftest import listening
from coder.mcp.host import HERE, Host, is_alive, make_call_prompt, make_deadlines, small, until
from support.ports import find_free_port
from support.wire_client import ask, hello, new_session, wait_for_stop

from accord.coder.mcp.deadlines import SilenceTimer
from accord.coder.mcp.errors import McpServerError
from accord.model.requests import McpServer
from accord.testing import ScriptedClient, link, wire_client


async def fate(project: Path, *servers: McpServer, **options: Any) -> tuple[list[str], Host]:
    """Return the notices about some servers, and their host."""
    host = Host(**options)
    told: list[str] = []
    async with link(host, cwd=str(project), unstable=True) as agent:
        session = await agent.new_session(mcp_servers=list(servers))
        await session.prompt("ready")
        told = [notice.title for notice in session.transcript.notices]
    return told, host


@pytest.mark.req("V1-MCP-08", "V1-MCP-10", "V2-MCP-04")
async def test_the_status_of_each_server_is_reported(project: Path) -> None:
    told, host = await fate(project, small(), small("dies", name="second"))
    assert sorted(told) == [
        "MCP server second: failed: it exited with status 7; its last output: there is no configuration",
        "MCP server small: connected, 12 tools",
    ]
    assert [(state.name, state.status) for state in host.only.states()] == [("small", "closed"), ("second", "closed")]


async def test_a_client_without_notices_reads_it_in_a_thought(project: Path) -> None:
    async with wire_client(Host()) as peer:
        await hello(peer, 1)
        given = {"name": "small", "command": sys.executable, "args": [str(HERE / "small_server.py"), "dies"], "env": []}
        session = await new_session(peer, str(project), mcpServers=[given])
        for _ in range(2):
            await wait_for_stop(peer, 1, await ask(peer, session, "ready"))
    updates = [message["params"]["update"] for message in peer.received if message.get("method") == "session/update"]
    (thought,) = [update["content"] for update in updates if update["sessionUpdate"] == "agent_thought_chunk"]
    assert thought["text"].startswith("MCP server small: failed: it exited with status 7")


@pytest.mark.parametrize(
    "server, words",
    [
        (McpServer(name="s", command="/no/such/file"), "/no/such/file doesn't exist; check the path"),
        (McpServer(name="s", command=str(Path(__file__))), "isn't executable; run chmod +x on it"),
        (McpServer(name="s", transport="http", url="http://127.0.0.1:9/mcp"), "http://127.0.0.1:9/mcp); check that"),
        (McpServer(name="s", transport="sse", url="http://127.0.0.1:9/sse"), "http://127.0.0.1:9/sse); check that"),
        (McpServer(name="s", transport="http", url="nonsense"), "check that the server is running and its URL"),
        (
            small("chatty", name="s"),
            "it wrote something other than a message to standard output: 'Starting up ...'",
        ),
    ],
)
async def test_a_server_that_cannot_be_reached_says_why(project: Path, server: McpServer, words: str) -> None:
    host = Host()
    async with link(host, cwd=str(project), unstable=True) as agent:
        session = await agent.new_session(mcp_servers=[server])
        assert (await session.prompt("ready")).stop_reason == "end_turn"
        (notice,) = session.transcript.notices
        assert notice.severity == "error" and notice.title.startswith("MCP server s: failed: ")
        assert words in notice.title
        assert host.only.tools() == {} and host.only.states()[0].status == "failed"


@pytest.mark.peer
async def test_an_http_status_is_named(http: McpServer, sse: McpServer, project: Path) -> None:
    wrong = [
        McpServer(name="a", transport="http", url=http.url.replace("/mcp", "/nothing")),
        McpServer(name="b", transport="sse", url=http.url),
        McpServer(name="c", transport="http", url=sse.url),
    ]
    told, _ = await fate(project, *wrong)
    by_name = {words.split(":")[0][-1]: words for words in told}
    assert "404 Not Found" in by_name["a"] and "check its URL" in by_name["a"]
    assert "http" in by_name["b"] and "405 Method Not Allowed" in by_name["c"]


@pytest.mark.peer
async def test_errors_contain_no_secrets(http: McpServer, project: Path) -> None:
    address = http.url.replace("http://", "http://me:password@").replace("/mcp", "/nothing?key=abcdefgh")
    told, _ = await fate(
        project,
        small("dies", MY_API_KEY="a1b2c3d4"),
        McpServer(name="web", transport="http", url=address, headers={"Authorization": "Bearer xyz123456"}),
    )
    assert "its last output: ••••" in "".join(told) and "404 Not Found" in "".join(told)
    for secret in ("a1b2c3d4", "password", "abcdefgh", "xyz123456"):
        assert secret not in "".join(told)


async def test_opening_a_session_waits_for_no_server(project: Path) -> None:
    host = Host(deadlines=make_deadlines(first_prompt=0.05))
    async with link(host, cwd=str(project), unstable=True) as agent:
        session = await agent.new_session(mcp_servers=[small("mute"), small(name="other")])
        assert [state.status for state in host.only.states()] == ["starting", "starting"]
        await until(lambda: host.only.states()[1].status == "connected")
        await session.prompt("ready")
        assert "MCP server small: still starting after 0.05 s (deadline: first prompt)" in "".join(
            notice.title for notice in session.transcript.notices
        )
        await session.prompt(make_call_prompt("echo", "other", a=1))
        assert host.results[0].text == '{"a": 1}'


async def test_a_server_that_never_initializes_times_out(project: Path) -> None:
    told, _ = await fate(project, small("mute"), deadlines=make_deadlines(starting=0.3))
    assert told == [
        "MCP server small: failed: no response within 0.3 s (deadline: starting); it wrote nothing to standard error"
    ]


async def test_a_call_that_the_server_never_answers_times_out_with_an_error(project: Path) -> None:
    host = Host(deadlines=make_deadlines(silence=0.3))
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        turn = await session.prompt(make_call_prompt("hang"))
        assert turn.stop_reason == "end_turn" and turn.tool_calls[0].status == "failed"
        assert host.results[0].text == "MCP server small: no response within 0.3 s (deadline: silence)"
        for server in host.only._servers:
            server.deadlines = make_deadlines()  # the next call may take its time
        await session.prompt(make_call_prompt("echo", a=1))
        assert host.results[1].text == '{"a": 1}'


async def test_a_user_may_take_longer_than_a_server() -> None:
    call: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    silence = SilenceTimer(0.01)

    async def answer() -> str:
        await asyncio.sleep(0.05)  # longer than the server may be silent
        call.set_result("done")
        return "blue"

    asking = asyncio.create_task(silence.while_asking(answer(), None))
    await asyncio.sleep(0)
    assert await silence.wait_for(asyncio.ensure_future(asyncio.wait_for(call, None)))
    assert await asking == "blue"


async def test_a_crash_during_a_call_is_reported_with_the_last_output_and_the_next_call_restarts_the_server(
    project: Path,
) -> None:
    host = Host(pauses=(0.0, 0.0))
    async with link(host, cwd=str(project), unstable=True) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        await session.prompt(make_call_prompt("pid"))
        turn = await session.prompt(make_call_prompt("crash"))
        assert turn.tool_calls[0].status == "failed"
        assert host.results[1].text == "MCP server small: it exited with status 3; its last output: a bad day"
        assert host.only.states()[0].status == "lost"
        await session.prompt(make_call_prompt("pid"))
        assert not host.results[2].failed and host.results[2].text != host.results[0].text
        titles = [notice.title for notice in session.transcript.notices]
        assert titles[1].endswith("restarts when it is next used") and titles[2] == titles[0]


async def test_a_crash_between_calls_is_reported_at_once(project: Path) -> None:
    host = Host(pauses=(0.0, 0.0))
    async with link(host, cwd=str(project), unstable=True) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        await session.prompt("ready")
        pid = host.only.states()[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: host.only.states()[0].status == "lost")
        assert "was killed by SIGKILL" in host.only.states()[0].words
        assert "mcp__small__pid" in host.only.tools()
        await session.prompt(make_call_prompt("pid"))
        assert host.results[0].text == str(host.only.states()[0].pid)


async def test_a_server_that_crashes_again_and_again_is_left_alone(project: Path) -> None:
    host = Host(pauses=(0.0, 0.0))
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        for _ in range(4):
            await session.prompt(make_call_prompt("crash"))
        assert all("a bad day" in result.text for result in host.results[:3])
        assert host.results[3].text.startswith("MCP server small: failed 3 times in a row and won't be restarted")
        await host.only.restart("small")
        await session.prompt(make_call_prompt("echo", a=1))
        assert host.results[4].text == '{"a": 1}'


async def test_each_start_after_a_failure_waits_longer(project: Path) -> None:
    host = Host(pauses=(0.0, 0.4))
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        clock = asyncio.get_running_loop().time
        await session.prompt(make_call_prompt("crash"))
        await session.prompt(make_call_prompt("crash"))
        before = clock()
        await session.prompt(make_call_prompt("echo", a=1))
        assert clock() - before > 0.3 and not host.results[-1].failed
        await session.prompt(make_call_prompt("crash"))  # a successful call in between resets the count
        await session.prompt(make_call_prompt("echo", a=1))
        assert not host.results[-1].failed


async def test_invalid_messages_of_a_server_are_ignored(project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        await session.prompt(make_call_prompt("garbage"))
        assert host.results[0].text == "after the garbage"
        await session.prompt(make_call_prompt("weird"))
        assert host.results[1].failed and "invalid response" in host.results[1].text
        await session.prompt(make_call_prompt("halves"))
        assert host.results[2].text == "half ? a pair"
        await session.prompt(make_call_prompt("echo", a="ünï 🌍 \u2028 \x00", b=None))
        assert host.results[-1].text == '{"a": "ünï 🌍 \u2028 \\u0000", "b": null}'


async def test_a_cancelled_call_ends_at_once_even_if_the_server_ignores_it(project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small()])
        turn = session.prompt(make_call_prompt("hang"))
        async for event in turn:
            if getattr(event, "status", None) == "in_progress":
                await turn.cancel()
        assert turn.stop_reason == "cancelled"
        pid = host.only.states()[0].pid
        await session.prompt(make_call_prompt("pid"))
        assert host.results[-1].text == str(pid)


async def test_a_server_with_the_newest_handshake_can_be_used(project: Path) -> None:
    host = Host()
    client = ScriptedClient(replies=[{"color": "red"}])
    async with link(host, client, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small("newest")])
        await session.prompt(make_call_prompt("echo", a=1))
        assert host.results[0].text == '{"a": 1}'
        await session.prompt(make_call_prompt("choose"))
        assert host.results[1].text == '{"q": {"action": "accept", "content": {"color": "red"}}}'
        while "mcp__small__grown" not in host.only.tools():  # until it listens
            await session.prompt(make_call_prompt("grow"))
            await asyncio.sleep(0.01)


@pytest.mark.peer
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_restarted_remote_server_is_initialized_again(project: Path, kind: str) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        port = find_free_port()  # no other program gets it while the server restarts
        with listening(kind, port) as server:
            session = await agent.new_session(mcp_servers=[server])
            await session.prompt(make_call_prompt("add", "everything", a=1, b=1))
        with listening(kind, port):
            if kind == "sse":
                await until(lambda: host.only.states()[0].status == "lost")
            await session.prompt(make_call_prompt("add", "everything", a=1, b=2))
    assert [result.failed for result in host.results] == [False, False]


@pytest.mark.peer
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_remote_server_that_stopped_is_reported(project: Path, kind: str) -> None:
    host = Host(pauses=(0.0, 0.0, 0.0))
    async with link(host, cwd=str(project)) as agent:
        with listening(kind) as server:
            session = await agent.new_session(mcp_servers=[server])
            await session.prompt(make_call_prompt("add", "everything", a=1, b=1))
        for _ in range(2):
            await session.prompt(make_call_prompt("add", "everything", a=1, b=2))
    assert [result.failed for result in host.results] == [False, True, True]
    assert f"({server.url}); check that the server is running" in host.results[-1].text


async def test_a_message_that_is_refused_over_sse_is_not_waited_for(project: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post\n\n")
            await reader.read()
        else:
            writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener:
        told, _ = await fate(project, McpServer(name="s", transport="sse", url=f"http://127.0.0.1:{port}/sse"))
    assert "responded with 500 Internal Server Error" in told[0] and "this is a server error" in told[0]


async def test_an_unknown_transport_is_refused() -> None:
    host = Host()
    host.mcp = ("stdio", "_pigeon")  # type: ignore[misc]
    async with wire_client(host) as peer:
        await hello(peer, 2)
        session = await new_session(peer, mcpServers=[{"type": "_pigeon", "name": "x"}])
        await wait_for_stop(peer, 2, await ask(peer, session, "ready"))
        assert "the transport '_pigeon' is not supported" in str(peer.updates)


async def test_an_unknown_prompt_or_server_is_an_error(project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        await agent.new_session(mcp_servers=[small()])
        with pytest.raises(McpServerError, match="unknown prompt"):
            await host.only.prompt_messages("mcp:small:nothing", "")
        with pytest.raises(McpServerError, match="no server with that name"):
            await host.only.restart("nobody")


async def test_a_session_may_close_while_servers_start(project: Path) -> None:
    host = Host()
    async with link(host, version=2, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small("mute", name="mute"), small()])
        await until(lambda: any(server._connection is not None for server in host.only._servers))
        pids = [server._connection.pid for server in host.only._servers if server._connection is not None]
        await session.close()
        assert not any(is_alive(pid) for pid in pids if pid is not None)
        assert {state.status for state in host.only.states()} == {"closed"}


def test_nothing_of_the_sdk_is_loaded_without_a_server() -> None:
    heavy = "('mcp', 'anyio', 'httpx2', 'pydantic')"
    code = f"import sys, accord.coder.mcp.servers; print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
