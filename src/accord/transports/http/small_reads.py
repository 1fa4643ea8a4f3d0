"""Read a WebSocket in small pieces. Imported only with the extra `http`."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2.websockets import AsyncWebSocketSession

READ_BYTES = 64 * 1024


def limit_reads(socket: AsyncWebSocketSession) -> None:
    """Make a WebSocket read at most 64 KiB at a time.

    The library reads up to the length of the longest message. Over TLS that allocates half a gigabyte per read, which
    halves the speed."""
    from httpcore2 import AsyncNetworkStream

    class SmallReads(AsyncNetworkStream):
        def __init__(self, inner: AsyncNetworkStream) -> None:
            self._inner = inner

        async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return await self._inner.read(min(max_bytes, READ_BYTES), timeout)

        async def write(self, buffer: bytes, timeout: float | None = None) -> None:
            await self._inner.write(buffer, timeout)

        async def aclose(self) -> None:
            await self._inner.aclose()

        async def start_tls(
            self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> AsyncNetworkStream:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)

        def get_extra_info(self, info: str) -> Any:
            return self._inner.get_extra_info(info)

    socket.stream = SmallReads(socket.stream)
