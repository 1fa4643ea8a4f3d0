"""What a client sends an agent, made neutral where both versions differ in nothing but the class."""

from __future__ import annotations

from typing import Any

from accord.model.content import UnknownContent
from accord.model.requests import McpServer, Reply
from accord.schema.shape import Other


def reply(response: Any) -> Reply:
    """The answer to an elicitation. An action nobody knows is kept by name, and is no acceptance."""
    if isinstance(response, Other):
        return Reply(action=response.tag)
    return Reply(action=str(response.__struct_config__.tag), content=getattr(response, "content", None) or None)


def mcp_server(server: Any) -> McpServer:
    """An MCP server of a session. Version 1 gives the stdio ones no tag."""
    if isinstance(server, Other):
        return McpServer(name=str(server.data.get("name", "")), transport=server.tag, other=server.data)
    transport = server.__struct_config__.tag or "stdio"
    found = McpServer(name=server.name, transport=str(transport), meta=server.meta or None)
    match transport:
        case "stdio":
            found.command, found.args = server.command, list(server.args)
            found.env = {variable.name: variable.value for variable in server.env}
        case "acp":
            found.server_id = server.server_id
        case _:
            found.url = server.url
            found.headers = {header.name: header.value for header in server.headers}
    return found


def block(content: Any) -> Any:
    """Content as it is written: neutral content encodes as itself, unknown content as it came."""
    return content.data if isinstance(content, UnknownContent) else content
