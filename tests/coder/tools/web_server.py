"""A web server on this machine that sends given responses, byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Union

Answer = Union[bytes, Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]]


class Web:
    """The requests to the server, and its responses."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.requests: list[str] = []
        """Everything that was sent, one text a request."""
        self.port = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            answer = self.pages.get(request.split()[1], plain("nothing here", "404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(context: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    """Run the server."""
    web = Web()
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0, ssl=context)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return a response with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def plain(text: str, status: str = "200 OK") -> bytes:
    return answer(text.encode(), "Content-Type: text/plain; charset=utf-8", status=status)


def leading_to(url: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {url}", status=status)
