"""MCP servers that clients offer: objects of the official SDK, and programs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from accord import McpServer

HERE = Path(__file__).parent
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""The `_meta` of each MCP request."""


class Notes:
    """A server object, and what its tools have seen."""

    def __init__(self) -> None:
        self.server = MCPServer("notes", instructions="Take notes.")
        self.waiting = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.server.tool()(self.add)
        self.server.tool()(self.count)
        self.server.tool()(self.wait)
        self.server.tool()(self.fail)

    async def add(self, a: int, b: int) -> int:
        return a + b

    async def count(self, to: int, ctx: Context[Any]) -> str:
        for number in range(1, to + 1):
            await ctx.report_progress(number, to, f"step {number}")
        return f"counted to {to}"

    async def wait(self) -> str:
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "never"

    async def fail(self) -> str:
        raise ValueError("out of paper")


def lowlevel() -> Any:
    """A server on the SDK's low-level API with one tool."""

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="hello", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=f"hello from {params.name}")])

    return Server("low", on_list_tools=list_tools, on_call_tool=call_tool)


def program(name: str = "old", *args: str) -> McpServer:
    """A program that speaks MCP over stdio, by hand, with or without a handshake (`odd_server.py`)."""
    return McpServer(name=name, command=sys.executable, args=[str(HERE / "odd_server.py"), *args])


def sdk_program() -> McpServer:
    """A program on the official SDK."""
    script = HERE.parent / "coder" / "mcp" / "everything_server.py"
    return McpServer(name="everything", command=sys.executable, args=[str(script), "stdio"])


def message(server: str, request: str, method: str, **params: Any) -> dict[str, Any]:
    """The params of an `mcp/message` request."""
    return {"serverId": server, "requestId": request, "method": method, "params": {"_meta": META, **params}}


def call(server: str, request: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """The params of an `mcp/message` request that calls a tool."""
    return message(server, request, "tools/call", name=tool, arguments=arguments)
