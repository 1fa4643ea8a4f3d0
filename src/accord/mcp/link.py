"""A running MCP server, as a stream of JSON-RPC messages in each direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

Message = dict[str, Any]
"""One JSON-RPC message."""


class ServerLink(ABC):
    """A connection to one running server. It is started and closed once."""

    is_modern: bool | None = None
    """Whether the server supports MCP without a handshake (2026-07-28 and later); None if that isn't known."""

    @abstractmethod
    async def start(self) -> None:
        """Start the server. Raises `LaunchError`."""

    @abstractmethod
    async def send(self, message: Message) -> None:
        """Send a message. Raises `ConnectionClosed` once the server has ended."""

    @abstractmethod
    async def receive(self) -> Message | None:
        """Return the next message; None if the server has ended."""

    def related_request(self, message: Message) -> Any:
        """Return the id of the request that a notification belongs to; None if only the notification itself contains
        it."""
        return None

    @abstractmethod
    async def close(self) -> None:
        """Stop the server. Idempotent."""

    @abstractmethod
    def why(self) -> str:
        """Describe why the server has ended, in a clause: "it exited with status 1; …"."""
