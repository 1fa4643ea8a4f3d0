"""A client that sends HTTP requests by hand, to see each status, header and event."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from transports.http.web_server import WebServer

CAPABILITIES = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def initialize(version: int = 1) -> dict[str, Any]:
    if version == 1:
        return request(0, "initialize", protocolVersion=1, clientCapabilities=CAPABILITIES)
    return request(0, "initialize", protocolVersion=2, info={"name": "raw", "version": "1"}, capabilities={})


class Events:
    """The messages of one event stream."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.last_id = ""
        self._events = aiter(httpx2.EventSource(response))

    async def next(self) -> dict[str, Any]:
        async for event in self._events:
            if event.data:
                self.last_id = event.id
                message: dict[str, Any] = json.loads(event.data)
                return message
        raise EOFError("the stream ended")

    async def until(self, **fields: Any) -> list[dict[str, Any]]:
        """Return the messages up to one that has these fields."""
        seen: list[dict[str, Any]] = []
        while not seen or any(seen[-1].get(name) != value for name, value in fields.items()):
            seen.append(await self.next())
        return seen

    async def wait_ended(self) -> None:
        async for _ in self._events:
            pass


class RawClient:
    """Requests to one server. `ids` are the headers of its connection."""

    def __init__(self, server: WebServer, client: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client
        self.ids: dict[str, str] = {}

    async def post(self, message: Any, session: str | None = None, **headers: str) -> httpx2.Response:
        names = {**self.ids, "Content-Type": "application/json", **_headers(headers)}
        if session is not None:
            names["Acp-Session-Id"] = session
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await self.client.post(self.server.http, content=body, headers=names)

    async def connect(self, version: int = 1) -> httpx2.Response:
        response = await self.post(initialize(version))
        assert response.status_code == 200, response.text
        self.ids = {"Acp-Connection-Id": response.headers["Acp-Connection-Id"]}
        return response

    @asynccontextmanager
    async def events(self, session: str | None = None, **headers: str) -> AsyncIterator[Events]:
        """Open a stream, with its own HTTP connection, so that leaving the block closes it."""
        names = {**self.ids, "Accept": "text/event-stream", **_headers(headers)}
        if session is not None:
            names["Acp-Session-Id"] = session
        async with open_client() as client, client.stream("GET", self.server.http, headers=names) as response:
            if response.status_code != 200:
                await response.aread()
            yield Events(response)

    async def get_status(self, session: str | None = None, **headers: str) -> int:
        async with self.events(session, **headers) as events:
            return events.response.status_code

    async def delete(self, **headers: str) -> httpx2.Response:
        return await self.client.delete(self.server.http, headers={**self.ids, **_headers(headers)})

    async def new_session(self, events: Events, id: int = 1) -> str:
        """Create a session; its response comes on the stream of the connection."""
        assert (await self.post(request(id, "session/new", cwd="/", mcpServers=[]))).status_code == 202
        session: str = (await events.until(id=id))[-1]["result"]["sessionId"]
        return session


def open_client(**options: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=httpx2.Timeout(60.0), **options)


def _headers(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
