"""An incoming request or WebSocket, and the responses that refuse one.

The path is compared as bytes, exactly as it was sent: nothing is decoded or normalized, so `/%61cp`, `//acp` and
`/x/../acp` are different paths."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

Headers = list[tuple[bytes, bytes]]


class Refusal(Exception):
    """Ends a request with a status and a message that says what to do."""

    def __init__(self, status: int, message: str, *, why: str, headers: Headers | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.why = why
        """A fixed keyword for metrics and logs."""
        self.headers: Headers = headers or []


class Request:
    """A scope of type `http` or `websocket`."""

    def __init__(self, scope: Scope, *, trust_proxy: bool = False) -> None:
        self.scope = scope
        self.is_websocket: bool = scope["type"] == "websocket"
        self.method: str = "GET" if self.is_websocket else scope["method"]
        self.path: str = bytes(scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0].decode("latin-1")
        self.query: str = bytes(scope.get("query_string", b"")).decode("latin-1")
        self.headers: Headers = [(bytes(name).lower(), bytes(value)) for name, value in scope["headers"]]
        self.scheme: str = scope.get("scheme", "http").replace("ws", "http")
        peer = (scope.get("client") or ("", 0))[0]
        self.address: str = peer
        """The client's address. Behind a proxy, the one that the nearest proxy saw."""
        if trust_proxy:
            self._apply_proxy()

    def _apply_proxy(self) -> None:
        """Take the client's address and scheme from the proxy's headers.

        Only the last address is used: the proxy appended it, and the client may have sent all the others."""
        if forwarded := self.header("x-forwarded-for"):
            self.address = forwarded.rpartition(",")[2].strip()
        if (scheme := self.header("x-forwarded-proto")) in ("http", "https"):
            self.scheme = scheme

    def values(self, name: str) -> list[str]:
        """Return all values of a header."""
        encoded = name.encode()
        return [value.decode("latin-1") for key, value in self.headers if key == encoded]

    def header(self, name: str) -> str | None:
        """Return the last value of a header; None without one."""
        values = self.values(name)
        return values[-1] if values else None

    @property
    def origin(self) -> str | None:
        """The origin of the web page that sent this; None if it wasn't a web page. Several aren't one: no check would
        accept them."""
        values = self.values("origin")
        return ", ".join(values) if values else None

    @property
    def subprotocols(self) -> list[str]:
        """The WebSocket subprotocols that the client offers."""
        return list(self.scope.get("subprotocols", ()))


async def respond(
    request: Request, send: Send, status: int, body: bytes, content_type: str, headers: Headers | None = None
) -> None:
    """Send a whole response; for a WebSocket, one that refuses it."""
    kind = "websocket.http.response" if request.is_websocket else "http.response"
    head = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *(headers or []),
    ]
    await send({"type": f"{kind}.start", "status": status, "headers": head})
    await send({"type": f"{kind}.body", "body": b"" if request.method == "HEAD" else body})


async def respond_json(request: Request, send: Send, status: int, data: Any, headers: Headers | None = None) -> None:
    """Send a JSON response."""
    await respond(request, send, status, msgspec.json.encode(data) + b"\n", "application/json", headers)


async def refuse(request: Request, send: Send, refusal: Refusal, headers: Headers | None = None) -> None:
    """Send a refusal as `{"error": …}`. The connection is closed: its next bytes may be an unread body."""
    close = [] if request.scope.get("http_version", "1.1").startswith("2") else [(b"connection", b"close")]
    more = [*refusal.headers, *close, *(headers or [])]
    await respond_json(request, send, refusal.status, {"error": refusal.message}, more)
