"""MCP servers in the coding agent itself: its model calls their tools, its user uses their prompts."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from coder.mcp.host import is_alive, small
from coder.scripted_model import coder

from accord import MemoryStore
from accord.coder.history import Call, ToolsSaid, UserSaid
from accord.model.content import TextContent
from accord.model.requests import McpServer, SystemPrompt
from accord.testing import ScriptedClient


async def test_the_model_calls_a_tool_of_a_server_after_the_user_allowed_it(joined: Callable[..., Any]) -> None:
    calls = [
        Call(id="1", name="mcp__small__echo", arguments={"a": "ü"}),
        Call(id="2", name="mcp__small__pid", arguments={}),
    ]
    agent, model = coder(calls, ["It said so."])
    client = ScriptedClient(permissions=["allow_once"])
    async with joined(agent, client) as connected:
        session = await connected.new_session(mcp_servers=[small()])
        turn = await session.prompt("Say ü.")
        assert turn.text == "It said so."
        assert [call.status for call in turn.tool_calls] == ["completed", "completed"]
    assert [request.title for request in client.asked] == ["small: echo", "small: pid"]
    assert "mcp__small__echo" in [tool.name for tool in model.requests[0].tools]
    (said,) = [message for message in model.requests[1].messages if isinstance(message, ToolsSaid)]
    assert said.results[0].text == '{"a": "ü"}'
    assert not is_alive(int(said.results[1].text))


async def test_a_denial_goes_back_to_the_model(joined: Callable[..., Any]) -> None:
    agent, model = coder([Call(id="1", name="mcp__small__echo", arguments={})], ["Well."])
    async with joined(agent, ScriptedClient(permissions=[False])) as connected:
        session = await connected.new_session(mcp_servers=[small()])
        turn = await session.prompt("Try.")
    assert turn.stop_reason == "end_turn" and turn.tool_calls[0].status == "failed"
    (said,) = [message for message in model.requests[1].messages if isinstance(message, ToolsSaid)]
    assert said.results[0].failed


@pytest.mark.peer
async def test_a_prompt_of_a_server_is_a_command(joined: Callable[..., Any], http: McpServer) -> None:
    agent, model = coder(["Reviewed."])
    async with joined(agent) as connected:
        session = await connected.new_session(mcp_servers=[http])
        turn = await session.prompt("/mcp:everything:review a.py long")
        assert turn.text == "Reviewed."
        assert "mcp:everything:review" in [command.name for command in session.transcript.commands]
        lacking = await session.prompt("/mcp:everything:review")
        assert "the prompt 'review' needs file" in lacking.text and lacking.stop_reason == "end_turn"
    (said,) = [message for message in model.requests[0].messages if isinstance(message, UserSaid)]
    assert said.content == [TextContent("Review a.py, long.")]


async def test_a_missing_server_does_not_affect_the_session(joined: Callable[..., Any]) -> None:
    agent, model = coder(["Hello."])
    async with joined(agent) as connected:
        session = await connected.new_session(mcp_servers=[McpServer(name="x", command="/no/such/file")])
        turn = await session.prompt("Hi.")
        assert turn.text == "Hello."
        assert "/no/such/file doesn't exist" in session.transcript.notices[0].title
    assert not [tool for tool in model.requests[0].tools if tool.name.startswith("mcp__")]


@pytest.mark.parametrize("installed", [True, False])
async def test_servers_are_offered_only_where_the_package_for_them_is_installed(
    joined: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    found = importlib.util.find_spec
    hidden = () if installed else ("mcp",)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in hidden else found(name))
    agent, _ = coder(["Hello."])
    async with joined(agent) as connected:
        offers = connected.offers
        assert ("http" in offers.mcp, "sse" in offers.mcp) == (installed, installed and joined.version == 1)
        assert ("stdio" in offers.mcp) is (installed or joined.version == 1), "version 1 takes it for granted"


@pytest.mark.req("V1-LOAD-07")
@pytest.mark.parametrize("replay", [True, False], ids=["loaded", "resumed"])
async def test_the_servers_of_a_request_that_opens_a_session_are_connected(
    joined: Callable[..., Any], replay: bool
) -> None:
    agent, model = coder(["One."], [Call(id="1", name="mcp__second__pid", arguments={})], ["Two."])
    agent.store = MemoryStore()
    async with joined(agent) as connected:
        session = await connected.new_session(mcp_servers=[small(name="first")])
        await session.prompt("Hello.")
    client = ScriptedClient(permissions=["allow_once"])
    async with joined(agent, client) as connected:
        opening = connected.load_session if replay else connected.resume_session
        again = await opening(session.id, mcp_servers=[small(name="second")])
        turn = await again.prompt("Go on.")
    assert [call.status for call in turn.tool_calls] == ["completed"]
    (said,) = [message for message in model.requests[2].messages if isinstance(message, ToolsSaid)]
    assert int(said.results[0].text) > 0, "the server of the second request answered"
    names = {tool.name.split("__")[1] for tool in model.requests[1].tools if tool.name.startswith("mcp__")}
    assert names == {"second"}


@pytest.mark.req("V1-SETUP-29")
async def test_a_system_prompt_of_the_client_changes_no_tools_servers_modes_or_options(
    joined: Callable[..., Any],
) -> None:
    agent, model = coder(["One."], ["Two."], tools=None)
    async with joined(agent, unstable=True) as connected:
        plain = await connected.new_session(mcp_servers=[small()])
        await plain.prompt("Hello.")
        prompt = SystemPrompt(text="You are a cat.", mode="override")
        other = await connected.new_session(mcp_servers=[small()], system_prompt=prompt)
        await other.prompt("Hello.")
        options = [[(option.id, option.value) for option in session.options] for session in (plain, other)]
    first, second = model.requests
    assert first.instructions != second.instructions == "You are a cat."
    assert [tool.name for tool in first.tools] == [tool.name for tool in second.tools]
    assert {"read_file", "run_command", "mcp__small__echo"} <= {tool.name for tool in second.tools}
    assert options[0] == options[1]
