"""A real server for an ASGI application, in the event loop of the test."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

Kind = Literal["hypercorn", "uvicorn"]
KINDS: tuple[Kind, ...] = ("hypercorn", "uvicorn")
KEEP_ALIVE_SECONDS = 300
"""How long a server keeps idle connections. With the usual five seconds, a client on a busy machine may send a request
on a connection that is just being closed, and not all clients send it again."""


class Certificate(NamedTuple):
    """The files of a certificate for localhost, signed by itself."""

    cert: Path
    key: Path


class WebServer:
    """The address of a running server."""

    def __init__(self, kind: Kind, port: int, tls: bool) -> None:
        self.kind = kind
        self.port = port
        self.tls = tls

    @property
    def http(self) -> str:
        return f"http{'s' if self.tls else ''}://localhost:{self.port}/acp"

    @property
    def websocket(self) -> str:
        return f"ws{'s' if self.tls else ''}://localhost:{self.port}/acp"


@asynccontextmanager
async def run_server(
    app: Any,
    kind: Kind,
    *,
    certificate: Certificate | None = None,
    max_message_bytes: int | None = None,
    max_requests: int = 1_000_000,
) -> AsyncIterator[WebServer]:
    """Serve an application on a free port of the loopback interface."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(1000)
    server = WebServer(kind, sock.getsockname()[1], certificate is not None)
    if kind == "hypercorn":
        async with _run_hypercorn(app, sock, certificate, max_message_bytes, max_requests):
            yield server
    else:
        async with _run_uvicorn(app, sock, certificate, max_message_bytes):
            yield server


@asynccontextmanager
async def _run_hypercorn(
    app: Any, sock: socket.socket, certificate: Certificate | None, max_message_bytes: int | None, max_requests: int
) -> AsyncIterator[None]:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    config.graceful_timeout = 1
    config.keep_alive_timeout = KEEP_ALIVE_SECONDS
    config.accesslog = config.errorlog = None
    config.keep_alive_max_requests = max_requests  # per connection; the default of 1000 is soon reached
    if max_message_bytes is not None:
        config.websocket_max_message_size = max_message_bytes
    if certificate is not None:
        config.certfile, config.keyfile = str(certificate.cert), str(certificate.key)
    stop = asyncio.Event()
    started = asyncio.Event()

    async def until_stopped() -> None:
        started.set()
        await stop.wait()

    serving = asyncio.create_task(serve(app, config, shutdown_trigger=until_stopped))
    await started.wait()
    try:
        yield
    finally:
        stop.set()
        with suppress(ExceptionGroup):  # of streams that were open
            await serving


@asynccontextmanager
async def _run_uvicorn(
    app: Any, sock: socket.socket, certificate: Certificate | None, max_message_bytes: int | None
) -> AsyncIterator[None]:
    import uvicorn

    config = uvicorn.Config(
        app,
        http="zttp",
        http2=True,
        ws="wsproto",
        log_config=None,
        lifespan="on",
        timeout_graceful_shutdown=1,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        ssl_certfile=None if certificate is None else str(certificate.cert),
        ssl_keyfile=None if certificate is None else str(certificate.key),
        **({} if max_message_bytes is None else {"ws_max_size": max_message_bytes}),
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)  # it has no event to wait for
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        sock.close()


def make_certificate(directory: Path) -> Certificate:
    """Create a certificate for localhost."""
    import subprocess

    found = Certificate(directory / "cert.pem", directory / "key.pem")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run(
        [*command.split(), "-keyout", str(found.key), "-out", str(found.cert)], check=True, capture_output=True
    )
    ssl.create_default_context(cafile=str(found.cert))
    return found
