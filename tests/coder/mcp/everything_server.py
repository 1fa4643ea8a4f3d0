"""A server on the official SDK with every feature: `everything_server.py stdio`, `http` or `sse`.

Over HTTP it listens on the port that follows (0 for any) and writes it to standard output."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from pydantic import BaseModel

server = MCPServer("everything")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BLOCKS: list[Any] = [
    types.TextContent(text="grüße 🌍 \u2028 \x00", annotations=types.Annotations(audience=["user"], priority=0.5)),
    types.ImageContent(data=PIXEL, mime_type="image/png", _meta={"a.b/c": [1, None]}),
    types.AudioContent(data=base64.b64encode(b"RIFF").decode(), mime_type="audio/wav"),
    types.ResourceLink(
        uri="file:///a%20b", name="a b", title="A", size=3, icons=[types.Icon(src="data:,x")], mime_type="text/plain"
    ),
    types.EmbeddedResource(resource=types.TextResourceContents(uri="x://t", text="inside", mime_type="text/plain")),
    types.EmbeddedResource(resource=types.BlobResourceContents(uri="x://b", blob="AAEC", _meta={"k": "v"})),
]


class Sum(BaseModel):
    total: int


class Color(BaseModel):
    color: str


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
def echo(value: Any) -> str:
    """Echo the argument."""
    return f"{value!r}"


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(total=a + b)


@server.tool()
def blocks() -> types.CallToolResult:
    """Returns content of every kind."""
    return types.CallToolResult(content=BLOCKS, structured_content={"ünï": ["🌍", None, 1.5]})


@server.tool(structured_output=False)
def big(size: int) -> str:
    """Returns a large result."""
    return "ä" * size


@server.tool()
def fail(words: str) -> str:
    """Fails."""
    raise ToolError(words)


@server.tool()
def environment(name: str) -> str:
    """A variable of its environment."""
    return os.environ.get(name, "not set")


@server.tool()
def headers(name: str, ctx: Context) -> str:
    """A header of this request."""
    return (ctx.headers or {}).get(name, "not sent")


@server.tool()
async def steps(count: int, ctx: Context) -> str:
    """Reports progress."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
    return "all done"


@server.tool()
async def wait(path: str) -> str:
    """Wait until cancelled, and write the state to a file."""
    tell = Path(path).write_text
    tell("waiting")
    try:
        await asyncio.Event().wait()
    except BaseException:
        tell("cancelled")
        raise
    return "never"


@server.tool()
async def choose(ctx: Context) -> str:
    """Asks the user for a color."""
    answer = await ctx.elicit("Which color?", Color)
    return f"{answer.action} {getattr(answer, 'data', None)}"


@server.tool()
async def visit(ctx: Context) -> str:
    """Sends the user to a page."""
    answer = await ctx.elicit_url("Log in there.", "https://example.com/login", "visit-1")
    await ctx.session.send_elicit_complete("visit-1")
    return answer.action


@server.tool()
async def look_around(ctx: Context) -> str:
    """The client's roots."""
    found = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
async def sample(ctx: Context) -> str:
    """Requests sampling."""
    message = types.SamplingMessage(role="user", content=types.TextContent(text="hi"))
    await ctx.session.create_message([message], max_tokens=5)
    return "unreachable"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "new", name="grown", description="Was not there before.")
    await ctx.session.send_tool_list_changed()
    return "grown"


@server.resource("note://one", mime_type="text/plain")
def one() -> str:
    """The first note."""
    return "eins"


@server.resource("note://named/{name}")
def read_note(name: str) -> str:
    return f"a note on {name}"


@server.prompt()
def review(file: str, style: str = "short") -> str:
    """Asks for a review."""
    return f"Review {file}, {style}."


@server.prompt()
def talk() -> list[Any]:
    """A little talk."""
    return [UserMessage("Ping?"), AssistantMessage("Pong."), UserMessage("Again?")]


async def listen(app: Any) -> None:
    import uvicorn

    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", int(sys.argv[2])))
    sock.listen(64)
    print(sock.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[sock])


if __name__ == "__main__":
    match sys.argv[1]:
        case "http":
            asyncio.run(listen(server.streamable_http_app()))
        case "sse":
            asyncio.run(listen(server.sse_app()))
        case _:
            server.run()
