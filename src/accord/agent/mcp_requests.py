"""`mcp/message` for agents: requests to MCP servers behind the client, and the notifications that belong to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from accord.connection.dispatch import log
from accord.schema.common.mcp import MessageMcpError, MessageMcpNotification, MessageMcpRequest, MessageMcpResponse
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.connection.connection import Connection

_MESSAGE: Method[MessageMcpRequest, Any] = Method(
    name="mcp/message",
    served_by="client",
    params=MessageMcpRequest,
    result=cast("Any", MessageMcpResponse),
    unstable=True,
)

OnNotification = Callable[[str, "dict[str, Any] | None", int], None]
"""Called with the method, the params and the approximate size of a notification."""


class McpRequests:
    """The open MCP requests of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
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
            response = await self._connection.call(_MESSAGE, message)
        finally:
            del self._active[key]
        if isinstance(response, MessageMcpError):
            error: dict[str, Any] = {"code": response.error.code, "message": response.error.message}
            if response.error.data is not UNSET:
                error["data"] = response.error.data
            return {"error": error}
        return {"result": response.result}

    def receive(self, params: MessageMcpNotification) -> bool:
        """Deliver a notification. Returns False if its request is unknown or has been answered."""
        deliver = self._active.get((params.server_id, params.request_id))
        if deliver is None:
            log.debug("dropped %s of an MCP request that isn't open", params.method[:80])
            return False
        deliver(params.method, params.params or None, self._connection.message_size)
        return True
