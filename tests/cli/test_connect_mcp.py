"""accord connect: the editor's MCP servers run on its machine, and the remote agent uses them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp import MCPError
from mcp_over_acp.servers import program, sdk_program
from support.cut_runs import SCHEMES, Scheme, serve
from support.faulty_proxy import Fault, run_proxy
from support.hub_client import InProcessSpawner
from transports.http.web_server import run_server

import accord
from accord import Agent, McpServer, Turn
from accord.hub.hub import Hub


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"ACCORD_{name}_HOME", str(tmp_path / name))


class Caller(Agent):
    """Calls tools of its first MCP server, named in the prompt, or shows the configuration of its servers."""

    unstable = True
    mcp = ("stdio", "acp")

    async def prompt(self, turn: Turn) -> None:
        if turn.text == "servers":
            await turn.say(
                "; ".join(f"{each.transport} {each.command} {each.env}" for each in turn.session.mcp_servers)
            )
            return
        words = []
        try:
            async with mcp.Client(turn.session.mcp_transport(turn.session.mcp_servers[0])) as client:
                for name in turn.text.split():
                    result: Any = await client.call_tool(name, {"name": "world", "value": "world"})
                    words.append(result.content[0].text)
        except* MCPError as group:
            words.append(str(group.exceptions[0]))
        await turn.say(" ".join(words))


class Plain(Agent):
    """Can only start MCP servers itself."""

    async def prompt(self, turn: Turn) -> None:
        await turn.say("; ".join(each.transport for each in turn.session.mcp_servers))


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "accord", "connect", *words]


@pytest.mark.parametrize("server", [program(), sdk_program()], ids=["handshake", "sdk"])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_remote_agent_calls_tools_of_the_editors_machine(
    scheme: Scheme, server: McpServer, version: int, tmp_path: Path
) -> None:
    server = McpServer(name=server.name, command=server.command, args=server.args, env={"TOKEN": "very secret"})
    tools = "hello meta" if server.name == "old" else "echo"
    async with Hub(InProcessSpawner(Caller), root=tmp_path) as hub, serve(hub) as port:
        target = command(f"{scheme}://127.0.0.1:{port}/acp")
        async with accord.connect(target, cwd=tmp_path, versions={version}) as agent:
            session = await agent.new_session(mcp_servers=[server])
            told = await session.prompt("servers")
            called = await session.prompt(tools)
    assert told.text == "acp  {}"
    assert "secret" not in told.text
    assert called.text == ("hello, world {}" if server.name == "old" else "'world'")


async def test_calls_continue_after_the_connection_was_lost(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path) as hub,
        serve(hub) as port,
        run_proxy(port) as proxy,
    ):
        async with accord.connect(command(f"ws://127.0.0.1:{proxy.port}/acp"), cwd=tmp_path) as agent:
            session = await agent.new_session(mcp_servers=[program()])
            proxy.add(Fault(4_000), Fault(12_000), Fault(20_000))
            for _ in range(8):
                turn = await session.prompt("hello pid hello")
                assert turn.text.startswith("hello, world")
                assert turn.text.endswith("hello, world")
        assert proxy.done == 3


@pytest.mark.parametrize(("where", "told"), [("remote", "stdio"), ("none", "")])
async def test_the_user_decides_where_servers_run(where: str, told: str, tmp_path: Path) -> None:
    async with run_server(accord.asgi(Caller()), "uvicorn") as server:
        target = command(f"http://127.0.0.1:{server.port}/acp", "--mcp", where)
        async with accord.connect(target, cwd=tmp_path) as agent:
            session = await agent.new_session(mcp_servers=[program()])
            assert (await session.prompt("servers")).text.startswith(told)
            assert bool((await session.prompt("servers")).text) == bool(told)


@pytest.mark.parametrize(("options", "told"), [((), ""), (("--mcp", "remote"), "stdio")])
async def test_commands_are_sent_to_an_agent_that_cannot_use_them_only_on_request(
    options: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    async with run_server(accord.asgi(Plain()), "uvicorn") as server:
        target = command(f"http://127.0.0.1:{server.port}/acp", *options)
        async with accord.connect(target, cwd=tmp_path) as agent:
            session = await agent.new_session(mcp_servers=[program()])
            assert (await session.prompt("which?")).text == told


async def test_servers_end_with_the_editor(tmp_path: Path) -> None:
    from coder.mcp.host import is_alive

    async with run_server(accord.asgi(Caller()), "uvicorn") as server:
        target = command(f"http://127.0.0.1:{server.port}/acp")
        async with accord.connect(target, cwd=tmp_path) as agent:
            session = await agent.new_session(mcp_servers=[program()])
            first = int((await session.prompt("pid")).text)
            again = int((await session.prompt("pid")).text)
            assert first == again
            assert is_alive(first)
        assert not is_alive(first)
