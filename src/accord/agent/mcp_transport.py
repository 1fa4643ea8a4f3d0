"""The MCP servers of a session, as transports of the official SDK."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from accord.errors import CapabilityError, InvalidValue, LaunchError
from accord.mcp.client_link import ClientLink
from accord.model.requests import McpServer
from accord.model.values import short
from accord.version import install_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from accord.agent.session import Session
    from accord.mcp.client_requests import ClientRequests

CONNECT_SECONDS = 15.0

Streams = tuple[Any, Any]


def open_transport(
    session: Session, requests: ClientRequests, server: McpServer
) -> AbstractAsyncContextManager[Streams]:
    """Return the transport to a server: a context manager of the streams that `mcp.ClientSession` uses."""
    if not isinstance(server, McpServer):
        raise InvalidValue(f"server is {short(server)}; it must be one of session.mcp_servers", argument="server")
    match server.transport:
        case "acp":
            return McpTransport(ClientLink(requests, server.server_id))
        case "stdio" | "http" | "sse":
            return _sdk_transport(session, server)
        case other:
            raise CapabilityError(f"the MCP server {server.name!r} uses the transport {other!r}, which isn't supported")


@asynccontextmanager
async def _sdk_transport(session: Session, server: McpServer) -> AsyncIterator[Streams]:
    try:
        import httpx2
        from mcp.client import sse, stdio, streamable_http
    except ImportError as error:
        raise LaunchError(f"MCP servers need a package that is missing ({error}): {install_command('mcp')}") from None
    if server.transport == "stdio":
        parameters = stdio.StdioServerParameters(
            command=server.command, args=list(server.args), env=dict(server.env), cwd=session.cwd
        )
        async with stdio.stdio_client(parameters) as streams:
            yield streams
    elif server.transport == "sse":
        async with sse.sse_client(server.url, headers=dict(server.headers)) as streams:
            yield streams
    else:
        timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)  # each request has its own deadline
        async with (
            httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as http,
            streamable_http.streamable_http_client(server.url, http_client=http) as streams,
        ):
            yield streams


class McpTransport:
    """A transport to one server behind the client."""

    def __init__(self, link: ClientLink) -> None:
        self._link = link

    async def __aenter__(self) -> Streams:
        return _Reader(self._link), _Writer(self._link)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._link.close()


class _Reader:
    """The stream that the SDK reads."""

    def __init__(self, link: ClientLink) -> None:
        self._link = link

    async def receive(self) -> Any:
        from anyio import EndOfStream

        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise EndOfStream from None

    def __aiter__(self) -> _Reader:
        return self

    async def __anext__(self) -> Any:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        message = await self._link.receive()
        if message is None:
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
        except ValueError as error:
            return error

    async def aclose(self) -> None:
        self._link.end()

    async def __aenter__(self) -> _Reader:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._link.end()


class _Writer:
    """The stream that the SDK writes."""

    def __init__(self, link: ClientLink) -> None:
        self._link = link

    async def send(self, item: Any, /) -> None:
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        message = item.message
        if isinstance(message, JSONRPCRequest):
            await self._link.send({"id": message.id, "method": message.method, "params": message.params})
        elif isinstance(message, JSONRPCNotification):
            await self._link.send({"method": message.method, "params": message.params})

    async def aclose(self) -> None:
        """Do nothing: the transport ends with its context."""

    async def __aenter__(self) -> _Writer:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None
