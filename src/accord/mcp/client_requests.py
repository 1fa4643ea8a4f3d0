"""`mcp/message` to the client: requests to MCP servers behind it, and the notifications that belong to them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET

from accord.schema.common.mcp import MessageMcpError, MessageMcpNotification, MessageMcpRequest, MessageMcpResult

log: logging.Logger = logging.getLogger("accord")

OnNotification = Callable[[str, "dict[str, Any] | None", int], None]
"""Called with the method, the params and the approximate size of a notification."""
Call = Callable[[MessageMcpRequest], Awaitable["MessageMcpResult | MessageMcpError"]]
"""Sends a request to the client and returns its response. Raises `RequestFailed`. Cancelling cancels the request."""


class ClientRequests:
    """The open MCP requests of one connection."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._active: dict[tuple[str, str], OnNotification] = {}
        self._count = 0

    async def request(
        self, server_id: str, method: str, params: dict[str, Any] | None, on_notification: OnNotification
    ) -> dict[str, Any]:
        """Send a request. Returns `{"result": …}` or `{"error": …}` of the server.

        Raises `RequestFailed` if the client can't reach the server. Cancelling cancels the request."""
        self._count += 1
        message = MessageMcpRequest(server_id=server_id, request_id=f"mcp-{self._count}", method=method)
        if params is not None:
            message.params = params
        key = (server_id, message.request_id)
        self._active[key] = on_notification
        try:
            response = await self._call(message)
        finally:
            del self._active[key]
        if isinstance(response, MessageMcpError):
            error: dict[str, Any] = {"code": response.error.code, "message": response.error.message}
            if response.error.data is not UNSET:
                error["data"] = response.error.data
            return {"error": error}
        return {"result": response.result}

    def receive(self, params: MessageMcpNotification, size: int) -> bool:
        """Deliver a notification. Returns False if its request is unknown or has been answered."""
        deliver = self._active.get((params.server_id, params.request_id))
        if deliver is None:
            log.debug("dropped %s of an MCP request that isn't open", params.method[:80])
            return False
        deliver(params.method, params.params or None, size)
        return True
