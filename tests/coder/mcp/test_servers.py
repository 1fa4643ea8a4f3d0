"""Features of servers on the official SDK, used through a session over stdio, streamable HTTP and SSE."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from coder.mcp.everything_server import BLOCKS
from coder.mcp.host import Host, everything, make_call_prompt, until
from msgspec import structs
from support.wire_client import ask, hello, new_session, wait_for_stop

from accord.model.content import TextContent, UnknownContent
from accord.model.requests import McpServer, Reply
from accord.testing import ScriptedClient, link, wire_client

pytestmark = pytest.mark.peer
WIRE = [block.model_dump(by_alias=True, exclude_unset=True) | {"type": block.type} for block in BLOCKS]
STRUCTURED = {"ünï": ["🌍", None, 1.5]}


async def call_tool(host: Host, session: Any, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return the result for the model."""
    await session.prompt(make_call_prompt(tool, "everything", **arguments))
    return host.results[-1]


def wire_of(content: Any) -> Any:
    return content.data if isinstance(content, UnknownContent) else msgspec.to_builtins(content)


@pytest.mark.req("V1-MCP-02", "V1-MCP-07")
async def test_a_server_is_used_through_a_session(server: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[server])
        assert (await call_tool(host, session, "echo", value="héllo 🌍")).text == "'héllo 🌍'"
        added = await session.prompt(make_call_prompt("add", "everything", a=20, b=22))
        (call,) = added.tool_calls
        assert (call.title, call.status, call.name) == ("everything: add", "completed", "mcp__everything__add")
        assert call.raw_input == {"a": 20, "b": 22} and call.raw_output == {"total": 42}
        blocks = (await session.prompt(make_call_prompt("blocks", "everything"))).tool_calls[0]
        assert [wire_of(item)["type"] for item in blocks.content] == [block["type"] for block in WIRE]
        assert blocks.raw_output == STRUCTURED
        big = (await session.prompt(make_call_prompt("big", "everything", size=200_000))).tool_calls[0]
        assert big.content == [TextContent("ä" * 200_000)]
        assert len(host.results[-1].text) < 100_000 and "of 200000 characters omitted" in host.results[-1].text
        state = host.only.states()[0]
        assert state.words == "connected, 14 tools, 2 prompts, 2 resources" and state.status == "connected"


async def test_a_result_of_millions_of_characters_is_shown_whole(
    http: McpServer, sse: McpServer, project: Path
) -> None:
    for server in (everything(), http):
        host = Host()
        async with link(host, cwd=str(project)) as agent:
            session = await agent.new_session(mcp_servers=[server])
            call = (await session.prompt(make_call_prompt("big", "everything", size=1_500_000))).tool_calls[0]
        assert call.content == [TextContent("ä" * 1_500_000)]
        assert len(host.results[0].text) < 100_000
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[sse])
        await call_tool(host, session, "big", size=1_500_000)
        assert host.results[0].failed and "request less data, or use streamable HTTP" in host.results[0].text
        assert (await call_tool(host, session, "big", size=3)).text == "äää"


@pytest.mark.req("V1-CONTENT-10")
@pytest.mark.parametrize("version", [1, 2])
async def test_content_is_forwarded_unchanged(http: McpServer, project: Path, version: int) -> None:
    host = Host()
    async with wire_client(host) as peer:
        await hello(peer, version)
        given = {"type": "http", "name": "everything", "url": http.url, "headers": []}
        session = await new_session(peer, str(project), mcpServers=[given])
        await wait_for_stop(peer, version, await ask(peer, session, make_call_prompt("blocks", "everything")))
    updates = [message["params"]["update"] for message in peer.received if message.get("method") == "session/update"]
    (shown,) = [update["content"] for update in updates if len(update.get("content") or ()) == len(WIRE)]
    assert shown == [{"type": "content", "content": block} for block in WIRE]
    assert [update["rawOutput"] for update in updates if "rawOutput" in update] == [STRUCTURED]
    assert host.results[0].images[0].data == WIRE[1]["data"]
    assert "inside" in host.results[0].text and WIRE[1]["data"] not in host.results[0].text


async def test_a_tools_annotations_set_its_kind_but_do_not_allow_it(http: McpServer, project: Path) -> None:
    host = Host("ask mcp:*")
    client = ScriptedClient(permissions=[False])
    async with link(host, client, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        call = (await session.prompt(make_call_prompt("echo", "everything", value=1))).tool_calls[0]
        assert (call.kind, call.status) == ("read", "failed")
    assert client.asked[0].title == "everything: echo"
    assert '"value": 1' in client.asked[0].tool_call.content[0].text  # type: ignore[union-attr]
    assert host.results[0].failed and "the user didn't allow this" in host.results[0].text
    tools = host.only.tools()
    assert not tools["mcp__everything__echo"].changes and tools["mcp__everything__add"].changes


async def test_a_remembered_rule_names_server_and_tool(http: McpServer, project: Path) -> None:
    host = Host("ask title:nothing")
    client = ScriptedClient(permissions=["allow_session", False])
    async with link(host, client, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        assert (await call_tool(host, session, "echo", value=1)).text == "1"
        assert (await call_tool(host, session, "echo", value=2)).text == "2"
        assert (await call_tool(host, session, "add", a=1, b=1)).failed
    assert len(client.asked) == 2


async def test_the_error_of_a_tool_contains_its_message(http: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        call = (await session.prompt(make_call_prompt("fail", "everything", words="no öre left"))).tool_calls[0]
        assert call.status == "failed"
        assert host.results[0].failed and "no öre left" in host.results[0].text
        assert not (await call_tool(host, session, "echo", value=1)).failed


async def test_a_missing_argument_is_reported_without_calling_the_server(http: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        result = await call_tool(host, session, "add", a=1)
    assert result.failed and result.text == "mcp__everything__add: missing argument 'b'"


async def test_progress_is_shown_while_the_tool_runs(server: McpServer, project: Path) -> None:
    host = Host()
    shown: list[str] = []
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[server])
        async for event in session.prompt(make_call_prompt("steps", "everything", count=3)):
            shown += [item.text for item in getattr(event, "content", []) if isinstance(item, TextContent)]
    assert "1 of 3: step 1" in shown
    assert shown[-1] == "all done" and host.results[0].text == "all done"


async def test_cancelling_the_turn_cancels_the_call_at_the_server(server: McpServer, project: Path) -> None:
    host = Host()
    note = project / "note"
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[server])
        turn = session.prompt(make_call_prompt("wait", "everything", path=str(note)))
        working = asyncio.ensure_future(_whole(turn))
        await until(lambda: note.exists() and note.read_text() == "waiting")
        await turn.cancel()
        await working
        assert turn.stop_reason == "cancelled"
        await until(lambda: note.read_text() == "cancelled")
        assert (await call_tool(host, session, "echo", value=1)).text == "1"


async def _whole(turn: Any) -> Any:
    return await turn


async def test_a_server_asks_the_user_during_a_call(server: McpServer, project: Path) -> None:
    host = Host()
    client = ScriptedClient(replies=[{"color": "grün"}])
    async with link(host, client, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[server])
        result = await call_tool(host, session, "choose")
    assert result.text == "accept color='grün'"
    assert client.elicited[0].message == "MCP server everything asks: Which color?"


async def test_a_server_sends_the_user_to_a_page(project: Path) -> None:
    host = Host()
    client = ScriptedClient(replies=[Reply(action="accept")])
    async with link(host, client, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[everything()])
        assert (await call_tool(host, session, "visit")).text == "accept"
    assert (client.elicited[0].mode, client.elicited[0].url) == ("url", "https://example.com/login")
    assert client.elicited[0].id == "mcp:everything:visit-1"


async def test_a_question_is_cancelled_if_the_client_cannot_show_it(http: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        assert (await call_tool(host, session, "choose")).text == "cancel None"


async def test_a_server_gets_the_roots_of_the_session(project: Path) -> None:
    host = Host()
    other = project / "ö b"
    other.mkdir()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[everything()], additional_directories=[str(other)])
        assert (await call_tool(host, session, "look_around")).text == f"{project.as_uri()} {other.as_uri()}"
        sampled = await call_tool(host, session, "sample")
        assert sampled.failed and "sampling" in sampled.text.lower()


async def test_a_server_can_announce_new_tools(server: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[server])
        await session.prompt("ready")
        while "mcp__everything__grown" not in host.only.tools():
            await call_tool(host, session, "grow")  # over HTTP, notifications before the stream is open are lost
            await asyncio.sleep(0.05)
        assert host.changes >= 2
        assert (await call_tool(host, session, "grown")).text == "new"


async def test_resources_are_listed_and_read(http: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        await session.prompt('{"tool": "list_mcp_resources"}')
        assert "everything: note://one — one; text/plain" in host.results[-1].text
        assert "everything: note://named/{name} (a template)" in host.results[-1].text
        read = '{"tool": "read_mcp_resource", "arguments": {"server": "everything", "uri": "note://one"}}'
        call = (await session.prompt(read)).tool_calls[0]
        assert wire_of(call.content[0])["resource"]["text"] == "eins"
        assert "eins" in host.results[-1].text
        await session.prompt(read.replace("note://one", "note://named/tea"))
        assert "a note on tea" in host.results[-1].text
        await session.prompt(read.replace("note://one", "note://nothing"))
        assert host.results[-1].failed and "MCP server everything" in host.results[-1].text
        await session.prompt(read.replace('"everything"', '"nobody"'))
        assert host.results[-1].failed and "no MCP server 'nobody'" in host.results[-1].text


async def test_reading_a_resource_is_asked_about(http: McpServer, project: Path) -> None:
    host = Host("deny mcp:everything/read_mcp_resource")
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        await session.prompt(
            '{"tool": "read_mcp_resource", "arguments": {"server": "everything", "uri": "note://one"}}'
        )
    assert host.results[-1].failed and "denied" in host.results[-1].text


async def test_prompts_are_commands(http: McpServer, project: Path) -> None:
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[http])
        await session.prompt("ready")
        servers = host.only
        assert [(command.name, command.hint) for command in servers.commands()] == [
            ("mcp:everything:review", "<file> [style]"),
            ("mcp:everything:talk", None),
        ]
        said = await servers.prompt_messages("mcp:everything:review", "a.py very long")
        assert said == [TextContent("Review a.py, very long.")]
        talk = await servers.prompt_messages("mcp:everything:talk", "")
        assert "".join(piece.text for piece in talk).split() == (  # type: ignore[union-attr]
            ["The", "user:", "Ping?", "The", "assistant:", "Pong.", "The", "user:", "Again?"]
        )


@pytest.mark.req("V2-MCP-08")
async def test_headers_are_sent_with_every_request_but_do_not_replace_the_transports_own(
    http: McpServer, sse: McpServer, project: Path
) -> None:
    for server in (http, sse):
        host = Host()
        wrong = {
            "Accept": "image/png",
            "Content-Type": "text/plain",
            "Mcp-Session-Id": "x",
            "mcp-protocol-version": "1",
        }
        given = structs.replace(server, headers={"X-Token": "geheim", **wrong})
        async with link(host, cwd=str(project)) as agent:
            session = await agent.new_session(mcp_servers=[given])
            assert (await call_tool(host, session, "headers", name="x-token")).text == "geheim"
            assert (await call_tool(host, session, "headers", name="content-type")).text == "application/json"


async def test_a_server_gets_its_configured_environment_but_no_keys(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    host = Host()
    async with link(host, cwd=str(project)) as agent:
        session = await agent.new_session(mcp_servers=[everything(GIVEN="for it")])
        assert (await call_tool(host, session, "environment", name="GIVEN")).text == "for it"
        assert (await call_tool(host, session, "environment", name="SOME_API_KEY")).text == "not set"
        assert (await call_tool(host, session, "environment", name="HOME")).text != "not set"
