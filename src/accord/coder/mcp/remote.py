"""Servers that are reached over HTTP: streamable HTTP, and the older way with a stream of events (SSE)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

    from accord.model.requests import McpServer

CONNECT_SECONDS = 15.0
"""How long a connection to a server's machine may take to be made."""
MOST_EVENT_BYTES = 64 * 1024 * 1024
"""The longest message over streamable HTTP. Over SSE it is what the SDK takes: one mebibyte."""

# Headers by which the transport works; what a client gives under these names is left out.
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


class Answers:
    """Remembers how a server's machine last refused, because the SDK tells of it without the status."""

    def __init__(self, url: str, on_refusal: Callable[[], None] | None = None) -> None:
        self.url = shown(url)
        self.status: int | None = None
        self._on_refusal = on_refusal

    async def note(self, response: httpx2.Response) -> None:
        # A server may well refuse the stream of its own messages (GET), which is optional.
        if response.request.method == "POST" or response.status_code in (401, 403):
            self.status = response.status_code if response.status_code >= 400 else None
            if self.status is not None and self._on_refusal is not None:
                self._on_refusal()

    def why(self, error: str) -> str:
        """What went wrong and what to do, with the address."""
        if self.status is None and "byte limit" in error:
            return f"{error} ({self.url}); ask it for less, or reach it over streamable HTTP"
        if self.status is None:
            return f"{error} ({self.url}); check that the server runs and that its address is right"
        try:
            phrase = f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            phrase = str(self.status)
        return f"{self.url} answered {phrase} ({error}); {_advice(self.status)}"


def shown(url: str) -> str:
    """An address without what may be secret in it: a password, a query."""
    head, at, rest = url.partition("://")
    bare = rest.partition("?")[0].partition("#")[0]
    host, slash, path = bare.partition("/")
    return f"{head}{at}{host.rpartition('@')[2]}{slash}{path}" if at else url.partition("?")[0]


class Watched:
    """What comes from a server, and a word to us when no more will come."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        """What the SDK wants to know of the last message."""
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> Watched:
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

    async def __aenter__(self) -> Watched:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *how: Any) -> Any:
        return await self._stream.__aexit__(*how)


def _advice(status: int) -> str:
    if status in (401, 403):
        return "check the headers that are given for it, a token above all"
    if status in (404, 405, 406):
        return "check its address, and whether it speaks this kind of transport"
    if status >= 500:
        return "the fault is on the server's side; look at its log, or try again later"
    return "check its address and its headers"


def client(answers: Answers, headers: dict[str, str] | None) -> httpx2.AsyncClient:
    """What requests are made with. Waiting for an answer is bounded by whoever waits for it."""
    import httpx2

    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    given = {name: value for name, value in (headers or {}).items() if name.lower() not in _OURS}
    return httpx2.AsyncClient(headers=given, timeout=timeout, event_hooks={"response": [answers.note]})


@asynccontextmanager
async def streamable(server: McpServer, answers: Answers) -> AsyncIterator[tuple[Any, Any]]:
    """Streams to and from a server over streamable HTTP."""
    from mcp.client.streamable_http import streamable_http_client

    async with (
        client(answers, server.headers) as http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=MOST_EVENT_BYTES) as streams,
    ):
        yield streams


@asynccontextmanager
async def events(server: McpServer, answers: Answers) -> AsyncIterator[tuple[Any, Any]]:
    """Streams to and from a server over SSE."""
    from mcp.client.sse import sse_client

    def factory(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return client(answers, headers)

    async with sse_client(server.url, headers=dict(server.headers), httpx_client_factory=factory) as streams:
        yield streams
