"""The listening socket and hypercorn, which reads HTTP from it.

Connections are counted when they are accepted, before TLS and before a byte is read: `accept` of the listening socket
refuses those above the limit, and a connection is no longer counted when its socket is closed."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import ssl
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from accord.errors import ConfigError
from accord.server.limits import ServerLimits, SocketGate
from accord.server.request import App

log: logging.Logger = logging.getLogger("accord")

BACKLOG = 512
CLOSE_SECONDS = 0.5
"""How long hypercorn may take to close connections that the application has ended."""
START_STEPS = 5
"""Iterations of the event loop from `accept` until hypercorn has registered the connection, plus one."""
READ_BYTES = 4096
"""How much is read from a connection before it is the turn of the others.

asyncio would read 256 KiB: 40,000 frames of a WebSocket or HTTP/2, which take hypercorn a second."""


class Address(NamedTuple):
    """The address of a server, and its certificate."""

    host: str = "127.0.0.1"
    port: int = 8765
    cert: Path | None = None
    key: Path | None = None

    @property
    def scheme(self) -> str:
        return "https" if self.cert is not None else "http"


class _AcceptedSocket(socket.socket):
    """A socket that reports when it is closed, and from which only a little is read at a time."""

    on_close: Callable[[_AcceptedSocket], None] | None = None

    def recv(self, size: int, flags: int = 0) -> bytes:
        return super().recv(min(size, READ_BYTES), flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        return super().recv_into(buffer, min(nbytes or len(buffer), READ_BYTES), flags)

    def close(self) -> None:
        on_close, self.on_close = self.on_close, None
        if on_close is not None:
            on_close(self)
        super().close()


class _ListeningSocket(socket.socket):
    """A listening socket that refuses connections above a limit, and tracks those that it accepted."""

    def __init__(self, family: int, gate: SocketGate) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._gate = gate
        self._accepted: dict[_AcceptedSocket, str] = {}
        self._has_none = asyncio.Event()
        self._has_none.set()
        self._is_stopping = False

    def accept(self) -> tuple[socket.socket, Any]:
        if self._is_stopping:
            raise BlockingIOError
        accepted, address = super().accept()
        if not self._gate.admit(address[0]):
            accepted.close()
            raise BlockingIOError  # tells asyncio that there is nothing (more) to accept now
        sock = _AcceptedSocket(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        sock.on_close = self._forget
        _probe(sock)
        self._accepted[sock] = address[0]
        self._has_none.clear()
        return sock, address

    async def stop_accepting(self) -> None:
        """Accept no more connections, and wait until hypercorn has registered those accepted before.

        asyncio forgets to close a connection that was accepted just before its server is closed, and hypercorn waits
        only for those that it has begun to serve."""
        self._is_stopping = True
        for _ in range(START_STEPS):
            await asyncio.sleep(0)

    async def wait_until_all_closed(self) -> None:
        await self._has_none.wait()

    def cut_off(self) -> None:
        """End all connections that are still open, as if their clients had closed them."""
        for sock in self._accepted:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _forget(self, sock: _AcceptedSocket) -> None:
        self._gate.release(self._accepted.pop(sock))
        if not self._accepted:
            self._has_none.set()


def _probe(sock: socket.socket) -> None:
    """Let the system detect clients that have disappeared, such as a laptop that was closed."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000)


class Listener:
    """Serves an application on one address."""

    def __init__(self, address: Address, limits: ServerLimits) -> None:
        self.gate: SocketGate = SocketGate(limits)
        self._address = address
        self._limits = limits
        self._socket: _ListeningSocket | None = None

    def bind(self) -> int:
        """Open the socket and return its port. Raises `ConfigError` with what to do."""
        host, port = self._address.host, self._address.port
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = _ListeningSocket(family, self.gate)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.bind((host, port))
            sock.listen(BACKLOG)
            sock.setblocking(False)
        except OSError as error:
            sock.close()
            hint = "; choose another --port, or 0 for any" if isinstance(error, OSError) and port else ""
            raise ConfigError(f"can't listen on {host} port {port}: {error.strerror or error}{hint}") from None
        self._socket = sock
        return int(sock.getsockname()[1])

    @property
    def address(self) -> tuple[str, int]:
        """The address and the port on which it listens; a name is resolved."""
        assert self._socket is not None
        host, port, *_ = self._socket.getsockname()
        return str(host), int(port)

    def check_certificate(self) -> None:
        """Raise `ConfigError` if the certificate and key can't be used."""
        if self._address.cert is None:
            return
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self._address.cert, self._address.key)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"can't use the certificate {self._address.cert}: {error.strerror or error}") from None

    async def serve(self, app: App, stop: Callable[[], Awaitable[None]]) -> None:
        """Serve until `stop` returns. End streams before that, because remaining connections are cut off."""
        assert self._socket is not None
        sock = self._socket
        config = _configure(self._address, self._limits, sock)
        _ignore_priorities()
        _close_unstarted_timeouts()
        from hypercorn.asyncio import serve

        async def wait_for_stop() -> None:
            await stop()
            await sock.stop_accepting()
            # Hypercorn waits for its connections, and logs tracebacks when it cancels them after its timeout.
            asyncio.get_running_loop().call_later(CLOSE_SECONDS, sock.cut_off)

        try:
            with _quiet_failures():
                # Its type for applications lists every ASGI message; ours are plain mappings.
                await serve(cast("Any", app), config, shutdown_trigger=wait_for_stop, mode="asgi")
        except Exception as error:
            # While it closes its connections, hypercorn passes on the failure of one of them.
            if not _is_of_connection(error):
                raise
            log.debug("a connection failed while the server stopped: %s", _describe(error))
        finally:
            sock.close()
            sock.cut_off()  # hypercorn doesn't know about connections in their TLS handshake
            with suppress(TimeoutError):
                await asyncio.wait_for(sock.wait_until_all_closed(), self._limits.header_seconds or None)


def _ignore_priorities() -> None:
    """Ignore the priorities of HTTP/2's streams, which RFC 9113 has removed. There is no option for it.

    A new priority takes hypercorn the longer the more streams a connection has: two clients that sent nothing else, and
    no token, kept the others waiting for nine seconds."""
    from hypercorn.protocol.h2 import H2Protocol

    async def ignore(self: H2Protocol, event: Any) -> None:
        pass

    setattr(H2Protocol, "_priority_updated", ignore)  # noqa: B010


def _close_unstarted_timeouts() -> None:
    """Close the coroutine of an idle timeout that can't start because its connection has failed meanwhile.

    Hypercorn drops it, and Python warns that it was never awaited."""
    from hypercorn.asyncio.worker_context import AsyncioSingleTask, WorkerContext

    class SingleTask(AsyncioSingleTask):
        async def restart(self, task_group: Any, action: Callable[[], Any]) -> None:
            waiting = action()
            try:
                await super().restart(task_group, lambda: waiting)
            except BaseException:
                waiting.close()
                raise

    WorkerContext.single_task_class = SingleTask


@contextmanager
def _quiet_failures() -> Iterator[None]:
    """Log a line instead of a traceback when hypercorn fails to read a connection.

    It raises on some requests that are valid for the HTTP/2 library, such as paths that aren't ASCII. asyncio passes
    the exception to the loop's handler: at once, or in Python 3.11.2 only when the connection's task is collected."""
    loop = asyncio.get_running_loop()
    previous = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and _is_of_connection(error):
            log.debug("a connection couldn't be read and was closed: %s", _describe(error))
        elif previous is None:
            loop.default_exception_handler(context)
        else:
            previous(loop, context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        if sys.version_info < (3, 11, 7):
            gc.collect()
        loop.set_exception_handler(previous)


def _is_of_connection(error: BaseException) -> bool:
    """Return whether hypercorn raised this error while it served a connection."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__") == "hypercorn.asyncio.tcp_server" for frame in frames)


def _describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:200]


def _configure(address: Address, limits: ServerLimits, sock: _ListeningSocket) -> Any:
    from hypercorn.config import Config, Sockets

    class OneSocket(Config):
        """Hypercorn's configuration with a socket that is already open."""

        def create_sockets(self) -> Sockets:
            return Sockets([sock], [], []) if self.ssl_enabled else Sockets([], [sock], [])

    config = OneSocket()
    if address.cert is not None:
        config.certfile = str(address.cert)
        config.keyfile = str(address.key) if address.key is not None else None
    config.accesslog = None
    config.errorlog = None
    config.include_server_header = False
    config.backlog = BACKLOG
    config.graceful_timeout = 5 * CLOSE_SECONDS
    config.keep_alive_timeout = limits.header_seconds
    # Hypercorn closes an HTTP/2 connection after this many requests, in the middle of its streams.
    config.keep_alive_max_requests = 10**9
    config.ssl_handshake_timeout = limits.header_seconds
    config.h11_max_incomplete_size = limits.max_header_bytes
    config.h2_max_header_list_size = limits.max_header_bytes
    config.h2_max_concurrent_streams = 1000
    config.websocket_max_message_size = limits.max_body_bytes
    # Hypercorn's pings keep a closed WebSocket open until the next one is due. TCP's own probes find dead clients.
    config.websocket_ping_interval = None
    return config
