"""The server's endpoint: an ASGI application that serves ACP over Streamable HTTP and WebSocket on one path.

It is independent of agents: every client connection becomes a `Transport`, which is passed to a function that serves
it. A wrapper may authenticate requests, and name the principal in `scope["state"]["accord.principal"]`. If it sets
`scope["state"]["accord.binary"]`, a WebSocket's binary frames are read like text."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from accord.errors import ConnectionClosed
from accord.transports.base import Transport
from accord.transports.eager_tasks import EagerTasks
from accord.transports.http import admission
from accord.transports.http.admission import Refusal
from accord.transports.http.http_server import HttpServerTransport
from accord.transports.http.limits import HttpLimits
from accord.transports.http.websocket_server import (
    GOING_AWAY,
    INTERNAL,
    NORMAL,
    POLICY,
    WebSocketServerTransport,
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

log: logging.Logger = logging.getLogger("accord.http")


@dataclass(frozen=True)
class Peer:
    """A client connection."""

    connection_id: str
    kind: Literal["websocket", "http"]
    address: str
    """The client's address; empty if unknown."""
    headers: Mapping[str, str]
    """The headers of its first request, with lower-case names."""
    principal: Any = None


Accept = Callable[[Transport, Peer], Awaitable[None]]
"""Serves one client connection until it ends."""


@dataclass(eq=False)
class _Connection:
    """A client connection and the task that serves it."""

    peer: Peer
    transport: HttpServerTransport | WebSocketServerTransport
    serving: asyncio.Task[None] | None = field(default=None)


class Endpoint:
    """The ASGI application. `accept` is called with every new client connection."""

    def __init__(
        self,
        accept: Accept,
        *,
        path: str = "/acp",
        limits: HttpLimits | None = None,
        origins: Collection[str] = (),
    ) -> None:
        """`origins` are browser origins that are allowed besides the endpoint's own; `*` allows all."""
        self._accept = accept
        self._path = "/" + path.strip("/")
        self._limits = limits or HttpLimits()
        self._origins = frozenset(origin.lower() for origin in origins)
        self._connections: dict[str, _Connection] = {}
        self._websockets = 0
        self._tasks = EagerTasks()  # for as long as there are WebSockets: the next ones may use another event loop
        self._is_closing = False

    @property
    def peers(self) -> list[Peer]:
        """The clients that are connected."""
        return [connection.peer for connection in self._connections.values()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI scope."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    async def close(self, seconds: float = 5.0) -> None:
        """Accept no more clients, and disconnect the current ones within this time: running work is cancelled, and its
        last messages are sent."""
        self._is_closing = True
        open = list(self._connections.values())
        for connection in open:
            connection.transport.end_input()
        ends = [connection.serving for connection in open if connection.serving is not None]
        if ends:
            _, late = await asyncio.wait(ends, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        for connection in open:
            self._stop(connection, GOING_AWAY, "the server is shutting down")

    def close_connections(
        self, where: Callable[[Peer], bool], code: int = POLICY, reason: str = "access was revoked"
    ) -> int:
        """Close the connections of some clients at once, and return how many there were."""
        found = [connection for connection in self._connections.values() if where(connection.peer)]
        for connection in found:
            self._stop(connection, code, reason)
        return len(found)

    # -- Streamable HTTP

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = admission.read_headers(scope["headers"])
        refusal = headers if isinstance(headers, Refusal) else self._refuse(scope, headers)
        if refusal is not None or isinstance(headers, Refusal):
            assert refusal is not None
            await _respond(send, refusal)
            return
        method = scope["method"]
        if method == "POST":
            await _respond(send, *await self._post(scope, headers, receive))
        elif method == "GET":
            await self._get(scope, headers, receive, send)
        elif method == "DELETE":
            await _respond(send, self._delete(scope, headers))
        else:
            allow = [(b"allow", b"GET, POST, DELETE")]
            await _respond(send, Refusal(405, f"{method} isn't supported"), allow)

    def _refuse(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        path, root = scope["path"], scope.get("root_path", "").rstrip("/")
        if root and path.startswith(root + "/"):
            path = path[len(root) :]
        if path != self._path and path != self._path + "/":
            return Refusal(404, f"there is nothing at {path[:200]}; the endpoint is {self._path}")
        return admission.refuse_origin(headers, self._origins)

    async def _post(
        self, scope: Scope, headers: dict[str, str], receive: Receive
    ) -> tuple[Refusal | bytes, list[tuple[bytes, bytes]]]:
        refusal = admission.refuse_post_headers(headers, self._limits.body_bytes)
        if refusal is not None:
            return refusal, []
        connection: HttpServerTransport | None = None
        if headers.get(admission.CONNECTION_ID):
            found = self._find(scope, headers)
            if isinstance(found, Refusal):
                return found, []
            connection = found
            # While messages aren't accepted, the client has to wait because its bodies aren't read.
            await connection.wait_flowing()
        body = await self._read_body(receive)
        if isinstance(body, Refusal):
            return body, []
        post = admission.read_post(headers, body)
        if isinstance(post, Refusal):
            return post, []
        if connection is None:
            return await self._initialize(scope, headers, post)
        await connection.deliver(post, headers.get(admission.IDEMPOTENCY_KEY))
        connection.note_activity()
        if connection.has_ended:
            return Refusal(404, "the connection is closed"), []
        return Refusal(202, ""), []

    async def _initialize(
        self, scope: Scope, headers: dict[str, str], post: admission.Post
    ) -> tuple[Refusal | bytes, list[tuple[bytes, bytes]]]:
        refusal = self._refuse_connection()
        if refusal is not None:
            return refusal, []
        peer = _describe_peer(scope, headers, "http")
        connection = _Connection(peer, HttpServerTransport(self._limits))
        transport = connection.transport
        assert isinstance(transport, HttpServerTransport)
        self._connections[peer.connection_id] = connection
        connection.serving = asyncio.create_task(self._serve(connection))
        try:
            async with asyncio.timeout(self._limits.initialize_seconds):
                answer = await transport.initialize(post)
        except TimeoutError:
            transport.stop(ConnectionClosed("initialize took too long"))
            return Refusal(504, "the agent didn't answer initialize in time"), []
        except ConnectionClosed as error:
            return Refusal(502, f"the agent ended the connection: {error}"), []
        except asyncio.CancelledError:
            transport.stop()
            raise
        names = [
            (admission.CONNECTION_ID.encode(), peer.connection_id.encode()),
            (admission.FEATURES.encode(), admission.OUR_FEATURES.encode()),
        ]
        return answer, names

    async def _get(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        connection = admission.refuse_get(headers) or self._find(scope, headers)
        if isinstance(connection, Refusal):
            await _respond(send, connection)
            return
        session = headers.get(admission.SESSION_ID) or None
        stream = connection.stream(session)
        last = headers.get("last-event-id")
        if stream is None:
            await _respond(send, Refusal(429, f"a connection has at most {self._limits.streams} streams"))
        elif stream.is_received:
            await _respond(send, Refusal(409, "this stream is already received"))
        elif last is not None and not stream.buffer.rewind(last):
            await _respond(
                send, Refusal(404, "the messages after this Last-Event-ID are no longer available; connect again")
            )
        else:
            stream.claim()
            connection.note_activity()
            try:
                await stream.serve(receive, send)
            finally:
                connection.release(session)

    def _delete(self, scope: Scope, headers: dict[str, str]) -> Refusal:
        found = admission.refuse_without_connection(headers) or self._find(scope, headers)
        if isinstance(found, Refusal):
            return found
        found.stop()
        return Refusal(202, "")

    def _find(self, scope: Scope, headers: Mapping[str, str]) -> HttpServerTransport | Refusal:
        """Find the connection of a request. Its id isn't a credential: another principal can't use it."""
        found = self._connections.get(headers[admission.CONNECTION_ID])
        if (
            found is None
            or not isinstance(found.transport, HttpServerTransport)
            or found.transport.has_ended
            or found.peer.principal != _principal_of(scope)
        ):
            return Refusal(404, "there is no such connection; start again with initialize")
        return found.transport

    async def _read_body(self, receive: Receive) -> bytes | Refusal:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    event = await receive()
                    if event["type"] == "http.disconnect":
                        return Refusal(400, "the body is incomplete")
                    parts.append(event.get("body", b""))
                    size += len(parts[-1])
                    if size > self._limits.body_bytes:
                        return admission.refuse_size(self._limits.body_bytes)
                    if not event.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            return Refusal(408, "the body took too long")

    # -- WebSocket

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = await receive()
        if event["type"] != "websocket.connect":
            return
        headers = admission.read_headers(scope["headers"])
        refusal = headers if isinstance(headers, Refusal) else self._refuse(scope, headers)
        refusal = refusal or self._refuse_connection()
        if refusal is not None or isinstance(headers, Refusal):
            assert refusal is not None
            await _refuse_websocket(scope, send, refusal)
            return
        peer = _describe_peer(scope, headers, "websocket")
        names = [(admission.CONNECTION_ID.encode(), peer.connection_id.encode())]
        await send({"type": "websocket.accept", "headers": names})
        reads_binary = bool(scope.get("state", {}).get("accord.binary"))
        transport = WebSocketServerTransport(receive, send, self._limits, self._tasks, reads_binary=reads_binary)
        connection = _Connection(peer, transport)
        self._connections[peer.connection_id] = connection
        connection.serving = asyncio.create_task(self._serve(connection))
        self._websockets += 1
        try:
            await transport.run()
        finally:
            transport.stop(GOING_AWAY, "the server is shutting down")
            self._websockets -= 1
            if not self._websockets:
                self._tasks.close()
                self._tasks = EagerTasks()
            await asyncio.wait({connection.serving})

    # -- connections

    def _refuse_connection(self) -> Refusal | None:
        if self._is_closing:
            return Refusal(503, "the server is shutting down")
        if len(self._connections) >= self._limits.connections:
            return Refusal(503, f"the server has {self._limits.connections} connections already; try again later")
        return None

    async def _serve(self, connection: _Connection) -> None:
        code, reason = NORMAL, ""
        try:
            await self._accept(connection.transport, connection.peer)
        except Exception:
            log.exception("a client connection failed")
            code, reason = INTERNAL, "internal error"
        finally:
            with suppress(ConnectionClosed):
                if code != INTERNAL:
                    await connection.transport.close()
            self._stop(connection, code, reason)
            self._connections.pop(connection.peer.connection_id, None)

    def _stop(self, connection: _Connection, code: int, reason: str) -> None:
        if isinstance(connection.transport, WebSocketServerTransport):
            connection.transport.stop(code, reason)
        else:
            connection.transport.stop()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            event = await receive()
            if event["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _principal_of(scope: Scope) -> Any:
    return scope.get("state", {}).get("accord.principal")


def _describe_peer(scope: Scope, headers: Mapping[str, str], kind: Literal["websocket", "http"]) -> Peer:
    client = scope.get("client")
    address = f"{client[0]}:{client[1]}" if client else ""
    return Peer(secrets.token_hex(16), kind, address, headers, _principal_of(scope))


async def _respond(send: Send, answer: Refusal | bytes, headers: Collection[tuple[bytes, bytes]] = ()) -> None:
    if isinstance(answer, bytes):
        status, body, kind = 200, answer, admission.JSON
    else:
        status, body, kind = answer.status, answer.text.encode(), "text/plain; charset=utf-8"
    names = [(b"content-type", kind.encode())] if body else []
    names += [(b"content-length", b"%d" % len(body)), (b"cache-control", b"no-store"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": names})
    await send({"type": "http.response.body", "body": body})


async def _refuse_websocket(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Refuse an upgrade with an HTTP response if the server can; otherwise it responds 403."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY, "reason": refusal.text})
        return
    body = refusal.text.encode()
    names = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": refusal.status, "headers": names})
    await send({"type": "websocket.http.response.body", "body": body})
