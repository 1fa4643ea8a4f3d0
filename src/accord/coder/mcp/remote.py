"""MCP over HTTP: streamable HTTP, and the older SSE transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

    from accord.model.requests import McpServer

CONNECT_SECONDS = 15.0
"""How long connecting may take."""
MAX_EVENT_BYTES = 64 * 1024 * 1024
"""The longest message over streamable HTTP. Over SSE the SDK's limit applies: 1 MiB."""

# Headers the transport sets itself; those configured by the client are ignored.
_OURS = frozenset(
    [
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    ]
)


class ResponseStatus:
    """Remembers the last HTTP error status, which the SDK doesn't report."""

    def __init__(self, url: str, on_error: Callable[[], None] | None = None) -> None:
        self.url: str = without_secrets(url)
        self.status: int | None = None
        self._on_error = on_error

    async def note(self, response: httpx2.Response) -> None:
        # A server may reject the GET stream, which is optional.
        if response.request.method == "POST" or response.status_code in (401, 403):
            self.status = response.status_code if response.status_code >= 400 else None
            if self.status is not None and self._on_error is not None:
                self._on_error()

    def why(self, error: str) -> str:
        """Describe the error with the URL and a remedy."""
        if self.status is None and "byte limit" in error:
            return f"{error} ({self.url}); request less data, or use streamable HTTP"
        if self.status is None:
            return f"{error} ({self.url}); check that the server is running and its URL is right"
        try:
            phrase = f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            phrase = str(self.status)
        return f"{self.url} responded with {phrase} ({error}); {_advice(self.status)}"


def without_secrets(url: str) -> str:
    """Strip the parts of a URL that may be secret: user, password, query."""
    head, at, rest = url.partition("://")
    bare = rest.partition("?")[0].partition("#")[0]
    host, slash, path = bare.partition("/")
    return f"{head}{at}{host.rpartition('@')[2]}{slash}{path}" if at else url.partition("?")[0]


class WatchedStream:
    """A stream from a server that calls `on_end` when it ends."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        """Context of the last message. The SDK reads it with the same default, because not every stream has it."""
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise

    receive = __anext__

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *how: Any) -> Any:
        return await self._stream.__aexit__(*how)


def _advice(status: int) -> str:
    if status in (401, 403):
        return "check its headers, especially the token"
    if status in (404, 405, 406):
        return "check its URL and transport type"
    if status >= 500:
        return "this is a server error; check its log, or try again later"
    return "check its URL and headers"


def client(status: ResponseStatus, headers: dict[str, str] | None) -> httpx2.AsyncClient:
    """Return the HTTP client. It has no read timeout: each request has its own deadline."""
    import httpx2

    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    given = {name: value for name, value in (headers or {}).items() if name.lower() not in _OURS}
    return httpx2.AsyncClient(headers=given, timeout=timeout, event_hooks={"response": [status.note]})


@asynccontextmanager
async def streamable(server: McpServer, status: ResponseStatus) -> AsyncIterator[tuple[Any, Any]]:
    """Open the streams to and from a server over streamable HTTP."""
    from mcp.client.streamable_http import streamable_http_client

    async with (
        client(status, server.headers) as http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=MAX_EVENT_BYTES) as streams,
    ):
        yield streams


@asynccontextmanager
async def events(server: McpServer, status: ResponseStatus) -> AsyncIterator[tuple[Any, Any]]:
    """Open the streams to and from a server over SSE."""
    from mcp.client.sse import sse_client

    def factory(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return client(status, headers)

    async with sse_client(server.url, headers=dict(server.headers), httpx_client_factory=factory) as streams:
        yield streams
