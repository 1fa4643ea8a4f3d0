"""An MCP server behind the client, reached with `mcp/message` requests.

Such servers use MCP 2026-07-28, which has no handshake. If the MCP client requires one, this module answers it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any

from accord.errors import INTERNAL_ERROR, AccordError, ConnectionClosed, RequestFailed
from accord.mcp.client_requests import ClientRequests
from accord.mcp.hosted_server import MODERN, PREFIX, SUBSCRIPTION
from accord.mcp.link import Message, ServerLink

log: logging.Logger = logging.getLogger("accord")

CONNECTION_CLOSED = -32000
MAX_QUEUED_BYTES = 16 * 1024 * 1024
"""While more than this is queued, further notifications are dropped."""


class ClientLink(ServerLink):
    """A connection to one server behind the client."""

    is_modern: bool | None = True

    def __init__(self, requests: ClientRequests, server_id: str) -> None:
        self._requests = requests
        self._server_id = server_id
        self._tasks: dict[str | int, asyncio.Task[None]] = {}
        self._envelope: dict[str, Any] | None = None
        """The `_meta` of each request, if the MCP client performed a handshake."""
        self._messages: deque[tuple[Message, int]] = deque()
        self._queued_bytes = 0
        self._arrived = asyncio.Event()
        self._has_ended = False

    async def start(self) -> None:
        """Do nothing: the client starts the server with the first request."""

    async def close(self) -> None:
        self.end()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def end(self) -> None:
        """End the stream of received messages, after those that have already arrived."""
        self._has_ended = True
        self._arrived.set()

    def why(self) -> str:
        return "its client has disconnected"

    # -- to the server

    async def send(self, message: Message) -> None:
        """Send a message of the MCP client. Notifications are dropped: servers without a connection need none."""
        method, id, params = message.get("method"), message.get("id"), message.get("params")
        params = params if isinstance(params, dict) else None
        if isinstance(method, str) and isinstance(id, (str, int)):
            task = self._tasks[id] = asyncio.get_running_loop().create_task(self._answer(id, method, params))
            task.add_done_callback(lambda task: self._forget(id, task))
        elif method == "notifications/cancelled" and params is not None:
            cancelled = params.get("requestId")
            if isinstance(cancelled, (str, int)) and cancelled in self._tasks:
                self._tasks[cancelled].cancel()

    def _forget(self, id: str | int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(id) is task:
            del self._tasks[id]

    async def _answer(self, id: str | int, method: str, params: dict[str, Any] | None) -> None:
        try:
            answer = await self._call(id, method, params)
        except RequestFailed as error:
            answer = {"error": {"code": error.code, "message": error.message, "data": error.data}}
        except ConnectionClosed as error:
            answer = {"error": {"code": CONNECTION_CLOSED, "message": str(error)}}
            self.end()
        except AccordError as error:
            answer = {"error": {"code": INTERNAL_ERROR, "message": str(error)}}
        self._put({"jsonrpc": "2.0", "id": id, **answer})

    async def _call(self, id: str | int, method: str, params: dict[str, Any] | None) -> Message:
        if method == "initialize":
            return await self._initialize(id, params or {})
        if self._envelope is not None:
            if method == "ping":
                return {"result": {}}
            params = dict(params or {})
            params["_meta"] = {**self._envelope, **(params.get("_meta") or {})}

        def on_notification(method: str, content: dict[str, Any] | None, size: int) -> None:
            meta = (content or {}).get("_meta")
            if content is not None and isinstance(meta, dict) and SUBSCRIPTION in meta:
                content = {**content, "_meta": {**meta, SUBSCRIPTION: id}}
            message = {"jsonrpc": "2.0", "method": method}
            self._put(message if content is None else {**message, "params": content}, size)

        answer = await self._requests.request(self._server_id, method, params, on_notification)
        if "result" in answer and not isinstance(answer["result"], dict):
            if answer["result"] is not None:
                return {"error": {"code": INTERNAL_ERROR, "message": "the server's result isn't an object"}}
            answer = {"result": {}}
        return answer

    async def _initialize(self, id: str | int, params: dict[str, Any]) -> Message:
        """Answer the handshake with the server's description of itself."""
        self._envelope = {
            PREFIX + "protocolVersion": MODERN,
            PREFIX + "clientInfo": params.get("clientInfo") or {},
            PREFIX + "clientCapabilities": params.get("capabilities") or {},
        }
        answer = await self._call(id, "server/discover", None)
        found = answer.get("result")
        if found is None:
            return answer
        meta = found.get("_meta")
        info = meta.get(PREFIX + "serverInfo") if isinstance(meta, dict) else None
        result = {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": found.get("capabilities") or {},
            "serverInfo": info or {"name": "", "version": ""},
        }
        if found.get("instructions"):
            result["instructions"] = found["instructions"]
        return {"result": result}

    # -- from the server

    def _put(self, message: Message, size: int = 0) -> None:
        """Queue a message. Notifications, which have a size, are dropped if too many wait; responses aren't."""
        if self._queued_bytes + size > MAX_QUEUED_BYTES and size:
            log.debug("dropped an MCP notification: too many wait")
            return
        self._queued_bytes += size
        self._messages.append((message, size))
        self._arrived.set()

    async def receive(self) -> Message | None:
        while not self._messages:
            if self._has_ended:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        message, size = self._messages.popleft()
        self._queued_bytes -= size
        return message
