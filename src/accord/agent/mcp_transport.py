"""The MCP servers of a session, as transports of the official SDK.

A server behind the client is reached only through it: each MCP request is an `mcp/message` request. Such servers speak
MCP 2026-07-28, which has no handshake. If a client session requires one, the handshake is answered here."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import log
from accord.errors import INTERNAL_ERROR, AccordError, CapabilityError, ConnectionClosed, LaunchError, RequestFailed
from accord.version import install_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from accord.agent.mcp_requests import McpRequests
    from accord.agent.session import Session
    from accord.model.requests import McpServer

MODERN = "2026-07-28"
_PREFIX = "io.modelcontextprotocol/"
_VERSION = _PREFIX + "protocolVersion"
_SUBSCRIPTION = _PREFIX + "subscriptionId"
CONNECTION_CLOSED = -32000
CONNECT_SECONDS = 15.0
MAX_QUEUED_BYTES = 16 * 1024 * 1024
"""Notifications beyond this are dropped until the agent reads."""

Streams = tuple[Any, Any]


def open_transport(session: Session, requests: McpRequests, server: McpServer) -> AbstractAsyncContextManager[Streams]:
    """Return the transport to a server: a context manager of the streams that `mcp.ClientSession` uses."""
    match server.transport:
        case "acp":
            return McpTransport(requests, server.server_id)
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

    def __init__(self, requests: McpRequests, server_id: str) -> None:
        self._requests = requests
        self._server_id = server_id
        self._reader = _Reader()
        self._tasks: dict[str | int, asyncio.Task[None]] = {}
        self._envelope: dict[str, Any] | None = None
        """What requests carry in `_meta`, if the client session made a handshake."""

    async def __aenter__(self) -> Streams:
        return self._reader, _Writer(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.end()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def send(self, message: Any) -> None:
        """Send a message of the client session. Notifications are dropped: servers without a connection need none."""
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        if isinstance(message, JSONRPCRequest):
            call = self._answer(message.id, message.method, message.params)
            task = self._tasks[message.id] = asyncio.get_running_loop().create_task(call)
            task.add_done_callback(lambda _: self._tasks.pop(message.id, None))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = (message.params or {}).get("requestId")
            if cancelled in self._tasks:
                self._tasks[cancelled].cancel()

    async def _answer(self, id: str | int, method: str, params: dict[str, Any] | None) -> None:
        try:
            answer = await self._call(id, method, params)
        except RequestFailed as error:
            answer = {"error": {"code": error.code, "message": error.message, "data": error.data}}
        except ConnectionClosed as error:
            answer = {"error": {"code": CONNECTION_CLOSED, "message": str(error)}}
            self._reader.end()
        except AccordError as error:
            answer = {"error": {"code": INTERNAL_ERROR, "message": str(error)}}
        self._reader.put({"jsonrpc": "2.0", "id": id, **answer})

    async def _call(self, id: str | int, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        if method == "initialize":
            return await self._initialize(id, params or {})
        if self._envelope is not None:
            if method == "ping":
                return {"result": {}}
            params = dict(params or {})
            params["_meta"] = {**self._envelope, **(params.get("_meta") or {})}

        def on_notification(method: str, content: dict[str, Any] | None, size: int) -> None:
            meta = (content or {}).get("_meta")
            if content is not None and isinstance(meta, dict) and _SUBSCRIPTION in meta:
                content = {**content, "_meta": {**meta, _SUBSCRIPTION: id}}
            message = {"jsonrpc": "2.0", "method": method}
            self._reader.put(message if content is None else {**message, "params": content}, size)

        answer = await self._requests.request(self._server_id, method, params, on_notification)
        if "result" in answer and not isinstance(answer["result"], dict):
            if answer["result"] is not None:
                return {"error": {"code": INTERNAL_ERROR, "message": "the server's result isn't an object"}}
            answer = {"result": {}}
        return answer

    async def _initialize(self, id: str | int, params: dict[str, Any]) -> dict[str, Any]:
        """Answer the handshake with what the server says about itself."""
        self._envelope = {
            _VERSION: MODERN,
            _PREFIX + "clientInfo": params.get("clientInfo") or {},
            _PREFIX + "clientCapabilities": params.get("capabilities") or {},
        }
        answer = await self._call(id, "server/discover", None)
        found = answer.get("result")
        if found is None:
            return answer
        meta = found.get("_meta")
        info = meta.get(_PREFIX + "serverInfo") if isinstance(meta, dict) else None
        result = {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": found.get("capabilities") or {},
            "serverInfo": info or {"name": "", "version": ""},
        }
        if found.get("instructions"):
            result["instructions"] = found["instructions"]
        return {"result": result}


class _Reader:
    """The stream that the SDK reads."""

    def __init__(self) -> None:
        self._messages: deque[tuple[dict[str, Any], int]] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()
        self._has_ended = False

    def put(self, message: dict[str, Any], size: int = 0) -> None:
        """Add a message. Notifications, which have a size, are dropped if too many wait; responses aren't."""
        if self._bytes + size > MAX_QUEUED_BYTES and size:
            log.debug("dropped an MCP notification: too many wait")
            return
        self._bytes += size
        self._messages.append((message, size))
        self._arrived.set()

    def end(self) -> None:
        self._has_ended = True
        self._arrived.set()

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

        while not self._messages:
            if self._has_ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        message, size = self._messages.popleft()
        self._bytes -= size
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
        except ValueError as error:
            return error

    async def aclose(self) -> None:
        self.end()

    async def __aenter__(self) -> _Reader:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()


class _Writer:
    """The stream that the SDK writes."""

    def __init__(self, transport: McpTransport) -> None:
        self._transport = transport

    async def send(self, item: Any, /) -> None:
        await self._transport.send(item.message)

    async def aclose(self) -> None:
        """Do nothing: the transport ends with its context."""

    async def __aenter__(self) -> _Writer:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None
