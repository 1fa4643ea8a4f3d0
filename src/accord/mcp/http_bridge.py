"""A server object as an MCP server over HTTP on this machine, for agents that can't reach it through ACP."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from accord.errors import LaunchError
from accord.mcp.object_link import lowlevel_server
from accord.model.requests import McpServer
from accord.version import install_command

HOST = "127.0.0.1"
PATH = "/mcp"


class HttpBridge:
    """Listens on a free port of the loopback interface. Each request needs a token that only the agent gets."""

    def __init__(self, name: str, server: Any) -> None:
        self._name = name
        self._server: Any = lowlevel_server(server)
        self._token = secrets.token_urlsafe(32)
        self._socket = socket.create_server((HOST, 0))
        self._authority = f"{HOST}:{self._socket.getsockname()[1]}"
        self._http: Any = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> McpServer:
        """Start listening. Returns the server's description for the agent."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._run(ready))
        await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            self._task.result()
        headers = {"Authorization": f"Bearer {self._token}"}
        return McpServer(name=self._name, transport="http", url=f"http://{self._authority}{PATH}", headers=headers)

    async def _run(self, ready: asyncio.Future[None]) -> None:
        try:
            import uvicorn
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        except ImportError as error:
            raise LaunchError(
                f"MCP servers need a package that is missing ({error}): {install_command('mcp')}"
            ) from None

        class Server(uvicorn.Server):
            @contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield  # signals belong to the program that we are part of

        manager = StreamableHTTPSessionManager(app=self._server)
        app = _Guard(manager.handle_request, self._authority, self._token)
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, server_header=False)
        self._http = Server(config)
        async with manager.run():
            ready.set_result(None)
            await self._http.serve(sockets=[self._socket])

    async def close(self) -> None:
        """Stop listening, and end open requests."""
        if self._http is not None:
            self._http.should_exit = self._http.force_exit = True
        if self._task is not None:
            await asyncio.wait({self._task})
        self._socket.close()


class _Guard:
    """Rejects requests that don't come from the agent: from web pages or other programs, or for other hosts."""

    def __init__(self, app: Any, authority: str, token: str) -> None:
        self._app = app
        self._authority = authority.encode()
        self._authorization = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status = self._check(scope) if scope["type"] == "http" else None
        if status is None:
            return
        if status == 200:
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def _check(self, scope: Any) -> int:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if headers.get(b"host") != self._authority or b"origin" in headers:
            return 403
        if not secrets.compare_digest(headers.get(b"authorization", b""), self._authorization):
            return 401
        return 200 if scope["path"] == PATH else 404
