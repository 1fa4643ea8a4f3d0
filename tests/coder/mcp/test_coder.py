"""MCP servers in the coding agent itself: its model calls their tools, its user uses their prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from coder.mcp.host import is_alive, small
from coder.scripted import coder

from accord.coder.history import Call, ToolsSaid, UserSaid
from accord.model.content import TextContent
from accord.model.requests import McpServer
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


async def test_a_server_that_is_not_there_spoils_nothing(joined: Callable[..., Any]) -> None:
    agent, model = coder(["Hello."])
    async with joined(agent) as connected:
        session = await connected.new_session(mcp_servers=[McpServer(name="x", command="/no/such/file")])
        turn = await session.prompt("Hi.")
        assert turn.text == "Hello."
        assert "there is no file /no/such/file" in session.transcript.notices[0].title
    assert not [tool for tool in model.requests[0].tools if tool.name.startswith("mcp__")]
