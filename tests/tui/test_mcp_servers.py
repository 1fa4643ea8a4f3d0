"""The MCP servers of a session in the side panel and on their page."""

from __future__ import annotations

from typing import Any

from support.tui_driver import Chat, Memory

from accord.model.mcp_status import McpServerStatus
from accord.model.requests import McpServer
from accord.model.session import Notice
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp

ALPHA = McpServer(name="Alpha One", command="/bin/alpha", args=["--token", "sk-abcdefghijklmnopq"])
BETA = McpServerStatus(name="beta", state="skipped", detail="there is no program 'beta'")


class Served(Memory):
    def servers(self, offers: Any) -> tuple[list[Any], list[Any]]:
        return [ALPHA], [Notice(severity="warning", title="beta is missing", meta=BETA.to_meta())]


async def test_servers_are_in_the_side_panel_and_on_a_page(folders: Any) -> None:
    app = AccordApp(Served(folders, ScriptedAgent(), frozenset({1})))
    async with app.run_test(size=(120, 36)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.until("· Alpha One")
        await chat.until("✗ beta")
        app.action_servers()
        await chat.until("MCP servers of this session")
        await chat.until("/bin/alpha --token ••••")
        assert "which reported nothing about it" in chat.text and "there is no program 'beta'" in chat.text
        await chat.press("escape")
        await chat.gone("MCP servers of this session")
