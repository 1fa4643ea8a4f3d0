"""Each session has its own servers, and none outlives its session."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest
from coder.mcp.host import HERE, Host, is_alive, make_call_prompt, small, until

from accord.testing import link


@pytest.mark.parametrize("version", [1, 2])
async def test_two_sessions_never_see_each_others_servers(project: Path, version: int) -> None:
    host = Host()
    async with link(host, version=version, cwd=str(project)) as agent:
        first = await agent.new_session(mcp_servers=[small(name="a"), small(name="shared", WHO="first")])
        second = await agent.new_session(mcp_servers=[small(name="shared", WHO="second")])
        third = await agent.new_session(mcp_servers=[])
        for session in (first, second, third):
            await session.prompt("ready")
        pids = {id: [state.pid for state in servers.states()] for id, servers in host.servers.items()}
        assert len({pid for group in pids.values() for pid in group}) == 3
        assert {name.split("__")[1] for name in host.servers[first.id].tools()} == {"a", "shared"}
        assert {name.split("__")[1] for name in host.servers[second.id].tools()} == {"shared"}
        assert host.servers[third.id].tools() == {}
        await asyncio.gather(*(session.prompt(make_call_prompt("pid", "shared")) for session in (first, second)))
        assert {result.text for result in host.results} == {str(pids[first.id][1]), str(pids[second.id][0])}
        await third.prompt(make_call_prompt("pid", "shared"))
        assert host.results[-1].failed and "unknown tool 'mcp__shared__pid'" in host.results[-1].text
        await second.prompt(make_call_prompt("pid", "a"))
        assert host.results[-1].failed


async def test_closing_a_session_ends_only_its_own_servers(project: Path) -> None:
    host = Host()
    async with link(host, version=2, cwd=str(project)) as agent:
        first = await agent.new_session(mcp_servers=[small()])
        second = await agent.new_session(mcp_servers=[small()])
        for session in (first, second):
            await session.prompt("ready")
        gone, stays = (host.servers[session.id].states()[0].pid for session in (first, second))
        assert gone is not None and stays is not None
        await first.close()
        assert not is_alive(gone) and is_alive(stays)
        assert host.servers[first.id].states()[0].status == "closed"
        await second.prompt(make_call_prompt("pid"))
        assert host.results[0].text == str(stays)
    assert not is_alive(stays)


async def test_processes_started_by_a_server_end_with_it(project: Path) -> None:
    host = Host()
    note = project / "pid"
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[small("crowd", str(note))])
        await session.prompt("ready")
        started = int(note.read_text())
        assert is_alive(started)
    assert not is_alive(started)


AGENT = """
import sys
sys.path.insert(0, {tests!r})
from accord import run
from coder.mcp.host import Host
run(Host())
"""


async def test_no_server_outlives_an_agent_that_is_killed(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT.format(tests=str(HERE.parents[1])))
    note = project / "pid"
    server = small("crowd", str(note))
    # No other process supervises this one: the agent itself must end its servers.
    agent = await asyncio.create_subprocess_exec(sys.executable, str(script), stdin=PIPE, stdout=PIPE)
    assert agent.stdin is not None and agent.stdout is not None

    async def call(id: int, method: str, **params: Any) -> Any:
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
        while True:
            message = json.loads(await agent.stdout.readline())
            if message.get("id") == id:
                return message["result"]

    try:
        await call(1, "initialize", protocolVersion=1, clientCapabilities={})
        given = {"name": "small", "command": server.command, "args": server.args, "env": []}
        session = (await call(2, "session/new", cwd=str(project), mcpServers=[given]))["sessionId"]
        text = {"type": "text", "text": make_call_prompt("write", path=str(project / "server"))}
        await call(3, "session/prompt", sessionId=session, prompt=[text])
        pids = [int((project / "server").read_text()), int(note.read_text())]
        assert all(map(is_alive, pids))
    finally:
        agent.kill()
        await agent.wait()
    await until(lambda: not any(map(is_alive, pids)))
