"""An MCP server that the client runs and offers to agents."""

from __future__ import annotations

from typing import Any

from accord.errors import InvalidValue
from accord.mcp.link import ServerLink
from accord.mcp.object_link import ObjectLink, lowlevel_server
from accord.mcp.process_link import ProcessLink
from accord.model.requests import McpServer
from accord.model.values import short, text


class OfferedServer:
    """An MCP server that runs with the client, wherever the agent runs.

    `server` is a server object of the official SDK, which runs in this process, or an `McpServer` with a command, which
    is started on this machine. Each session gets its own instance, which ends with the session."""

    def __init__(self, server: Any, *, name: str | None = None) -> None:
        if isinstance(server, McpServer):
            if server.transport != "stdio" or not server.command:
                raise InvalidValue(f"server is {short(server)}; only servers with a command can be offered")
            named = server.name
        else:
            named = lowlevel_server(server).name
        self.server = server
        self.name: str = text("name", name if name is not None else named)
        """The name that the agent sees."""

    def link(self, cwd: str, *, is_modern: bool | None = None) -> ServerLink:
        """Create a connection to a new instance of the server. `is_modern` is true if the peer uses no handshake."""
        if isinstance(self.server, McpServer):
            return ProcessLink(self.server, cwd)
        return ObjectLink(self.server, is_modern=is_modern)

    def __repr__(self) -> str:
        return f"OfferedServer({self.name!r})"
