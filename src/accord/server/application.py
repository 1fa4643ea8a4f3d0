"""The ASGI application of a server: an ordered list of checks, the server's own pages, and the ACP endpoint.

request ─ headers ─ host ─ route ─ origin ─ token ─ rate ─┬─ /acp (and aliases)  the endpoint
                                                          ├─ /ticket             one-use tickets for web pages
                                                          └─ /metrics            loopback, or an admin's token
/healthz and /readyz need no token and accept any host, because load balancers send an address as host. They return one
word."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from accord.server.authentication import Authenticator, check_url
from accord.server.connections import CONNECTION_HEADER, Connections
from accord.server.identity import Identity
from accord.server.limits import RateLimiter, ServerLimits, check_headers, refuse_rate
from accord.server.logs import ServerLog
from accord.server.metrics import CONTENT_TYPE, Metrics
from accord.server.request import (
    App,
    Headers,
    Message,
    Receive,
    Refusal,
    Request,
    Scope,
    Send,
    refuse,
    respond,
    respond_json,
)
from accord.server.tickets import SUBPROTOCOL
from accord.server.web import HostCheck, OriginCheck, is_loopback, normalize_origin

PRINCIPAL = "accord.principal"
"""The key of the client's identity in `scope["state"]`."""
BINARY = "accord.binary"
"""The key of the flag that binary frames are read. Bridges from WebSocket to standard input do so; marimo sends
them."""
ACP_SUBPROTOCOL = "acp"
MAX_TICKET_BODY = 4096
_OWN_PATHS = {"/ticket": "ticket", "/healthz": "health", "/readyz": "ready", "/metrics": "metrics"}


class Routes:
    """The paths of a server, with and without the prefix, which a proxy may have removed."""

    def __init__(self, path: str = "/acp", aliases: Sequence[str] = (), prefix: str = "") -> None:
        self.path = path
        self.prefix: str = prefix.rstrip("/")
        for each in (path, *aliases):
            if not each.startswith("/") or each in _OWN_PATHS or any(mark in each for mark in "?#% "):
                raise ValueError(
                    f"{each!r} can't be the agent's path: use a path such as /acp, other than {', '.join(_OWN_PATHS)}"
                )
        if prefix and not prefix.startswith("/"):
            raise ValueError(f"the prefix {prefix!r} must start with /")
        self._names = {**dict.fromkeys((path, *aliases), "endpoint"), **_OWN_PATHS}

    def find(self, path: str) -> str | None:
        """Return the kind of a path: `endpoint`, `ticket`, `health`, `ready` or `metrics`; None for other paths."""
        name = self._names.get(path)
        if name is None and self.prefix and path.startswith(self.prefix + "/"):
            name = self._names.get(path.removeprefix(self.prefix))
        return name

    def is_alias(self, path: str) -> bool:
        """Return whether a path is another one of the agent."""
        return self.find(path) == "endpoint" and path not in (self.path, self.prefix + self.path)


class Gatekeepers(NamedTuple):
    """The objects that accept or refuse a request."""

    hosts: HostCheck
    origins: OriginCheck
    authenticator: Authenticator
    connections: Connections


class _TicketRequest(msgspec.Struct):
    origin: str | None = None


class Application:
    """Serves an ACP endpoint safely."""

    def __init__(
        self,
        endpoint: App,
        routes: Routes,
        gatekeepers: Gatekeepers,
        limits: ServerLimits,
        metrics: Metrics,
        access: ServerLog,
        audit: ServerLog,
        *,
        trust_proxy: bool = False,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._endpoint = endpoint
        self._routes = routes
        self._hosts, self._origins, self._authenticator, self._connections = gatekeepers
        self._limits = limits
        self._metrics = metrics
        self._access = access
        self._audit = audit
        self._trust_proxy = trust_proxy
        self._is_ready = is_ready
        self.rates: RateLimiter = RateLimiter(limits.requests_per_second, 5 * limits.requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _serve_lifespan(receive, send)
            return
        request = Request(scope, trust_proxy=self._trust_proxy)
        exchange = _Exchange(request, send, self._origins.response_headers(request))
        try:
            await self._serve(request, exchange, receive)
        except Refusal as refusal:
            exchange.why = refusal.why
            self._metrics.refusals.add(reason=refusal.why)
            if refusal.why in ("token", "token in URL", "origin", "host", "smuggling"):
                self._audit.record("refused", why=refusal.why, address=request.address, status=refusal.status)
            if not exchange.status:
                await refuse(request, exchange.send, refusal)
        finally:
            self._log(request, exchange)

    def _log(self, request: Request, exchange: _Exchange) -> None:
        seconds = time.monotonic() - exchange.started_at
        method = "WEBSOCKET" if request.is_websocket else request.method
        # Clients could otherwise add any number of labels to the metrics.
        known = method if method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD", "WEBSOCKET") else "OTHER"
        self._metrics.requests.add(method=known, status=str(exchange.status or "none"))
        if not exchange.is_stream:
            self._metrics.seconds.observe(seconds)
        self._access.record(
            "websocket" if request.is_websocket else "stream" if exchange.is_stream else "request",
            address=request.address,
            principal=exchange.identity.principal.name if exchange.identity is not None else None,
            method=known,
            path=request.path,
            status=exchange.status,
            ms=round(1000 * seconds, 1),
            refused=exchange.why,
            connection=request.header(CONNECTION_HEADER),
        )

    async def _serve(self, request: Request, exchange: _Exchange, receive: Receive) -> None:
        check_headers(request, self._limits)
        route = self._routes.find(request.path)
        if route == "health":
            await respond(request, exchange.send, 200, b"ok\n", "text/plain")
            return
        if route == "ready":
            await self._serve_ready(request, exchange)
            return
        self._hosts.check(request)
        check_url(request)
        if route is None:
            raise Refusal(404, f"Not found. The agent is at {self._routes.path}.", why="path")
        self._origins.check(request)
        if (headers := self._origins.preflight_headers(request)) is not None:
            exchange.headers = []
            await respond(request, exchange.send, 204, b"", "text/plain", headers)
            return
        if route == "metrics" and self._may_read_metrics(request):
            await respond(request, exchange.send, 200, self._metrics.render(), CONTENT_TYPE)
            return
        identity = self._authenticator.authenticate(request)
        exchange.identity = identity
        if not self.rates.take(identity.principal.name):
            raise refuse_rate(f"{identity.principal.name} sends too many requests. Wait a second or use a WebSocket.")
        if route == "metrics":
            if identity.principal.role != "admin":
                raise Refusal(403, "The metrics require an admin's token.", why="role")
            await respond(request, exchange.send, 200, self._metrics.render(), CONTENT_TYPE)
        elif route == "ticket":
            await self._serve_ticket(request, exchange, identity, receive)
        else:
            await self._serve_endpoint(request, exchange, identity, receive)

    async def _serve_ready(self, request: Request, exchange: _Exchange) -> None:
        is_ready = self._is_ready()
        body = b"ready\n" if is_ready else b"draining\n"
        await respond(request, exchange.send, 200 if is_ready else 503, body, "text/plain")

    def _may_read_metrics(self, request: Request) -> bool:
        """Return whether the metrics need no token, as for programs on this machine without a proxy in between."""
        is_local = is_loopback(request.address) and not self._trust_proxy
        # Of a proxy on this machine for which the server wasn't configured.
        is_forwarded = bool(request.values("x-forwarded-for") or request.values("forwarded"))
        return is_local and not is_forwarded and request.header("authorization") is None

    async def _serve_ticket(self, request: Request, exchange: _Exchange, identity: Identity, receive: Receive) -> None:
        if request.is_websocket or request.method != "POST":
            raise Refusal(405, "Send a POST request.", why="method", headers=[(b"allow", b"POST")])
        if not request.values("authorization"):
            raise Refusal(401, "Send a bearer token to get a ticket.", why="no token")
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await _read_body(receive, MAX_TICKET_BODY)
        except TimeoutError:
            raise Refusal(408, "The request took too long.", why="slow") from None
        origin = self._ticket_origin(request, body)
        tickets = self._authenticator.tickets
        ticket = tickets.issue(identity, origin)
        self._audit.record("ticket", principal=identity.principal.name, address=request.address, origin=origin)
        answer = {"ticket": ticket, "subprotocol": SUBPROTOCOL + ticket, "expires_in": tickets.lifetime}
        await respond_json(request, exchange.send, 201, answer)

    def _ticket_origin(self, request: Request, body: bytes) -> str:
        """Return the origin of a ticket: that of the page, or the one in the request of a page's server."""
        if request.origin is not None:
            return request.origin
        try:
            named = msgspec.json.decode(body, type=_TicketRequest).origin if body else None
            origin = normalize_origin(named) if named is not None else None
        except (msgspec.MsgspecError, ValueError):
            origin = None
        if origin is None:
            message = 'A ticket is for one origin: send {"origin": "https://example.org"}, or request it from the page.'
            raise Refusal(400, message, why="origin")
        if not self._origins.allows(request, origin):
            message = "Web pages from this origin can't connect. To allow it: accord serve --allow-origin ORIGIN"
            raise Refusal(403, message, why="origin")
        return origin

    async def _serve_endpoint(
        self, request: Request, exchange: _Exchange, identity: Identity, receive: Receive
    ) -> None:
        opens = request.is_websocket or (request.method == "POST" and request.header(CONNECTION_HEADER) is None)
        if opens and not self._is_ready():
            message = "The server is shutting down. Try again in a few seconds."
            raise Refusal(503, message, why="draining", headers=[(b"retry-after", b"5")])
        if opens:
            self._connections.check_room(identity)
        scope = {**request.scope, "path": self._routes.path, "raw_path": self._routes.path.encode(), "root_path": ""}
        scope["state"] = {
            **scope.get("state", {}),
            PRINCIPAL: identity,
            BINARY: self._routes.is_alias(request.path),
        }
        scope["client"] = (request.address, (request.scope.get("client") or ("", 0))[1])
        scope["headers"] = [(name, value) for name, value in request.headers if name != b"authorization"]
        if request.is_websocket:
            exchange.subprotocol = self._choose_subprotocol(request)
            offered = [each for each in request.subprotocols if not each.startswith(SUBPROTOCOL)]
            scope["subprotocols"] = offered
        await self._endpoint(scope, receive, exchange.send)

    def _choose_subprotocol(self, request: Request) -> str | None:
        """Return the subprotocol to accept. Browsers close the WebSocket if none of those they offer is."""
        offered = request.subprotocols
        if ACP_SUBPROTOCOL in offered:
            return ACP_SUBPROTOCOL
        return next((each for each in offered if each.startswith(SUBPROTOCOL)), None)


class _Exchange:
    """A request and its response, with the data for the logs and the headers of every response."""

    def __init__(self, request: Request, send: Send, headers: Headers) -> None:
        self.status = 0
        self.why: str | None = None
        self.identity: Identity | None = None
        self.is_stream = request.is_websocket
        self.subprotocol: str | None = None
        self.headers = headers
        self.started_at = time.monotonic()
        self._send = send

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if kind == "websocket.send":
            await self._send(message)
            return
        if kind in ("http.response.start", "websocket.http.response.start"):
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            self.is_stream |= any(n.lower() == b"content-type" and b"event-stream" in v for n, v in headers)
            message = {**message, "headers": [*headers, *self.headers]}
        elif kind == "websocket.accept":
            self.status = 101
            if not message.get("subprotocol") and self.subprotocol is not None:
                message = {**message, "subprotocol": self.subprotocol}
        elif kind == "websocket.close" and not self.status:
            self.status = 403
        await self._send(message)


async def _read_body(receive: Receive, max_bytes: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise Refusal(413, f"The request can have at most {max_bytes} bytes.", why="body")
        if not message.get("more_body", False):
            return bytes(body)


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
