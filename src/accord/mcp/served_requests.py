"""`mcp/message` for clients: the offered servers of one connection, and the requests that agents send to them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from accord.errors import InvalidParams, MethodNotFound, RequestFailed
from accord.mcp.hosted_server import LIMIT_EXCEEDED, SERVER_UNAVAILABLE, HostedServer
from accord.mcp.offered_server import OfferedServer
from accord.model.requests import McpServer
from accord.schema.common.mcp import MessageMcpNotification, MessageMcpRequest

MAX_ACTIVE = 256
"""The maximum number of open requests to offered servers on a connection."""


class ServedRequests:
    """The servers that a client offers on one connection, by their ids.

    An id is a random token: an agent can only reach the servers of its sessions, and only while they are open.
    `notify` sends a notification to the agent."""

    def __init__(self, notify: Callable[[MessageMcpNotification], Awaitable[None]]) -> None:
        self._notify = notify
        self._servers: dict[str, HostedServer] = {}
        self._active: set[tuple[str, str]] = set()
        self._has_offered = False

    def declare(self, offered: OfferedServer, cwd: str) -> McpServer:
        """Make a server available under a new id. Returns its description for the agent."""
        self._has_offered = True
        id = secrets.token_urlsafe(16)
        self._servers[id] = HostedServer(offered.name, lambda: offered.link(cwd, is_modern=True))
        return McpServer(name=offered.name, transport="acp", server_id=id)

    async def serve(self, params: MessageMcpRequest) -> dict[str, Any]:
        """Answer an `mcp/message` request."""
        if not self._has_offered:
            raise MethodNotFound("Method not found: mcp/message", data={"method": "mcp/message"})
        server = self._servers.get(params.server_id)
        if server is None:
            raise RequestFailed("there is no MCP server with this id", code=SERVER_UNAVAILABLE)
        if not params.request_id or not params.method:
            raise InvalidParams("mcp/message: requestId and method must not be empty")
        key = (params.server_id, params.request_id)
        if key in self._active:
            raise InvalidParams(
                f"mcp/message: the request {params.request_id[:80]!r} is still active", data={"path": "requestId"}
            )
        if len(self._active) >= MAX_ACTIVE:
            raise RequestFailed(f"{MAX_ACTIVE} MCP requests are open already", code=LIMIT_EXCEEDED)

        async def notify(method: str, content: dict[str, Any] | None) -> None:
            message = MessageMcpNotification(server_id=key[0], request_id=key[1], method=method)
            if content is not None:
                message.params = content
            await self._notify(message)

        self._active.add(key)
        try:
            return await server.request(params.request_id, params.method, params.params or None, notify)
        finally:
            self._active.discard(key)

    async def release(self, ids: Iterable[str]) -> None:
        """Stop these servers. Their ids are never used again."""
        servers = [server for server in (self._servers.pop(id, None) for id in ids) if server is not None]
        await asyncio.gather(*(server.close() for server in servers))

    async def close(self) -> None:
        """Stop all servers."""
        await self.release(list(self._servers))
