"""The MCP servers of sessions that run here: declared to the agent when a session is opened, stopped when it ends."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Union

from msgspec.structs import replace

from accord.errors import CapabilityError, ConnectionClosed
from accord.mcp.offered_server import OfferedServer
from accord.mcp.served_requests import ServedRequests
from accord.model.requests import McpServer, SessionSetup, SystemPrompt

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.mcp.http_bridge import HttpBridge
    from accord.mcp.stdio_bridge import StdioBridge

ServerLike = Union[McpServer, OfferedServer, Any]
"""An MCP server for a session: one that the agent connects to, one that runs here, or a server object of the SDK."""


class ClientSetup(SessionSetup):
    """The setup of a session whose MCP servers may run here. `servers` has the declarations sent to the agent."""

    __slots__ = ("sources",)

    def __init__(
        self,
        cwd: str,
        directories: Sequence[str],
        sources: Sequence[McpServer | OfferedServer],
        meta: dict[str, Any] | None = None,
        system_prompt: SystemPrompt | None = None,
    ) -> None:
        super().__init__(cwd, directories, [], meta, system_prompt)
        self.sources: list[McpServer | OfferedServer] = list(sources)


class Declared:
    """The servers that were declared to the agent in one request."""

    def __init__(self, servers: OfferedServers, sources: list[McpServer | OfferedServer]) -> None:
        self.ids: list[str] = []
        self.bridges: list[HttpBridge | StdioBridge] = []
        self.sources: list[McpServer | OfferedServer] = sources
        self.is_kept: bool = False
        self._servers = servers

    def keep(self, session_id: str) -> None:
        """Keep them running while the session is open."""
        self._servers.keep(session_id, self)
        self.is_kept = True


class OfferedServers:
    """The servers that run here for the sessions with one agent."""

    def __init__(self, agent: ConnectedAgent) -> None:
        self.served: ServedRequests = ServedRequests(self._notify)
        self._agent = agent
        self._by_session: dict[str, Declared] = {}
        self._none: Declared = Declared(self, [])  # shared by the sessions without servers, which are most

    def check(self, server: OfferedServer) -> None:
        """Raise `CapabilityError` if the agent can't reach a server that runs here."""
        if self._way_to(server) is None:
            raise CapabilityError(
                f"the agent can't reach MCP server {server.name!r}, which runs here; nothing was sent"
            )

    def _way_to(self, server: OfferedServer) -> str | None:
        """Return how the agent reaches a server that runs here; None if it can't.

        An agent on this machine that doesn't support MCP over ACP starts programs itself, and reaches objects through
        the loopback interface. A remote agent can do neither."""
        offered = self._agent.offers.mcp
        ways = ["acp"]
        if not self._agent.is_remote:
            ways += ["stdio"] if isinstance(server.server, McpServer) else ["http", "stdio"]
        return next((each for each in ways if each in offered), None)

    @asynccontextmanager
    async def declared(self, setup: ClientSetup) -> AsyncIterator[Declared]:
        """Declare the servers of a session for the request that opens it. They are stopped unless they are kept."""
        declared = Declared(self, setup.sources)
        try:
            setup.servers = [await self._declare(declared, source, setup.cwd) for source in setup.sources]
            yield declared
        finally:
            if not declared.is_kept:
                await self._stop(declared)

    async def _declare(self, declared: Declared, source: McpServer | OfferedServer, cwd: str) -> McpServer:
        if isinstance(source, McpServer):
            return source
        way = self._way_to(source)
        if way == "acp":
            server = self.served.declare(source, cwd)
            declared.ids.append(server.server_id)
            return server
        if isinstance(source.server, McpServer):
            command = shutil.which(source.server.command) or source.server.command
            return replace(source.server, name=source.name, command=command)
        bridge: HttpBridge | StdioBridge
        if way == "http":
            from accord.mcp.http_bridge import HttpBridge  # like the other, loaded only if it's needed

            bridge = HttpBridge(source.name, source.server)
        else:
            from accord.mcp.stdio_bridge import StdioBridge

            bridge = StdioBridge(source.name, lambda: source.link(cwd))
        declared.bridges.append(bridge)
        return await bridge.start()

    def keep(self, session_id: str, declared: Declared) -> None:
        """Use these servers for a session from now on, and stop the ones it had."""
        self.release(session_id)
        self._by_session[session_id] = declared if declared.sources else self._none

    def sources(self, session_id: str) -> list[McpServer | OfferedServer]:
        """Return the servers that a session was opened with."""
        declared = self._by_session.get(session_id)
        return declared.sources if declared is not None else [as_source(each) for each in self._agent.mcp_servers]

    def release(self, session_id: str) -> None:
        """Stop the servers of a session that has ended."""
        declared = self._by_session.pop(session_id, None)
        if declared is not None and (declared.ids or declared.bridges):
            self._agent.tasks.spawn_final(self._stop(declared))

    async def _stop(self, declared: Declared) -> None:
        await self.served.release(declared.ids)
        for bridge in declared.bridges:
            await bridge.close()

    async def _notify(self, message: Any) -> None:
        with suppress(ConnectionClosed):
            await self._agent.connection.tell(self._agent.dialect.methods.MCP_NOTIFICATION, message)


def as_source(server: ServerLike) -> McpServer | OfferedServer:
    """Wrap a server object of the SDK in an `OfferedServer`; return any other server unchanged."""
    return server if isinstance(server, (McpServer, OfferedServer)) else OfferedServer(server)
