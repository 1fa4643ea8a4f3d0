"""MCP servers that the client offers through the ACP connection, in the coding agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from coder.mcp.host import is_alive, small
from coder.scripted_model import coder
from mcp.server.mcpserver import MCPServer

from accord import OfferedServer
from accord.coder.history import Call, ToolsSaid
from accord.testing import ScriptedClient


@pytest.mark.req("V2-PROXY-02")
async def test_the_model_calls_a_tool_in_the_process_of_the_client(joined: Callable[..., Any]) -> None:
    notes: list[str] = []
    server = MCPServer("notes")

    @server.tool()
    def write(text: str) -> str:
        """Write a note."""
        notes.append(text)
        return f"{len(notes)} notes"

    agent, model = coder([Call(id="1", name="mcp__notes__write", arguments={"text": "ü"})], ["Noted."])
    client = ScriptedClient(permissions=["allow_once"])
    async with joined(agent, client) as connected:
        session = await connected.new_session(mcp_servers=[server])
        turn = await session.prompt("Note ü.")
        assert turn.text == "Noted."
        assert [call.status for call in turn.tool_calls] == ["completed"]

    assert notes == ["ü"]
    assert [request.title for request in client.asked] == ["notes: write"]
    (said,) = [message for message in model.requests[1].messages if isinstance(message, ToolsSaid)]
    assert "1 notes" in said.results[0].text


async def test_a_program_of_the_client_ends_with_the_session(joined: Callable[..., Any]) -> None:
    calls = [Call(id="1", name="mcp__small__pid", arguments={})]
    agent, model = coder(calls, ["Good."])
    async with joined(agent, ScriptedClient(permissions=["allow_once"])) as connected:
        session = await connected.new_session(mcp_servers=[OfferedServer(small())])
        await session.prompt("Go.")
    (said,) = [message for message in model.requests[1].messages if isinstance(message, ToolsSaid)]
    assert not is_alive(int(said.results[0].text))
