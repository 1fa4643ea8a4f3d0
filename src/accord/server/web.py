"""Protection from web pages: the Host check (DNS rebinding), the Origin check, and CORS for allowed origins.

A browser on this machine can reach a server on loopback. A page of another site is recognized by its `Origin`. A page
whose name was rebound to 127.0.0.1 is recognized by its `Host`, which the page can't change."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from accord.config.served_agents import LOOPBACK_NAMES
from accord.server.request import Headers, Refusal, Request

_ALLOWED_HEADERS = (
    b"authorization, content-type, accept, acp-connection-id, acp-session-id, acp-protocol-version, last-event-id"
)
_EXPOSED_HEADERS = b"acp-connection-id, acp-session-id, retry-after"


def is_loopback(host: str) -> bool:
    """Return whether a host name or address refers to this machine. Names aren't resolved."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HostCheck:
    """Accepts requests for the names of this server: loopback names, the address it listens on, and `--allow-host`."""

    def __init__(self, listening_on: str, allowed: Iterable[str] = ()) -> None:
        self._names = {name.lower() for name in allowed} | LOOPBACK_NAMES
        if listening_on not in ("", "0.0.0.0", "::"):
            self._names.add(listening_on.lower())

    def check(self, request: Request) -> None:
        """Raise `Refusal` for another host."""
        hosts = request.values("host")
        if len(hosts) != 1:  # HTTP/2's :authority arrives as `host` too
            raise Refusal(400, "A request needs exactly one Host header.", why="host")
        name = _host_name(hosts[0])
        if name is None or (name not in self._names and hosts[0].lower() not in self._names):
            message = "Unknown host name. To allow it: accord serve --allow-host NAME"
            raise Refusal(421, message, why="host")


class OriginCheck:
    """Accepts requests without an origin (from programs), from the same origin, and from `--allow-origin`."""

    def __init__(self, allowed: Iterable[str] = (), trusted: Iterable[str] = ()) -> None:
        self._trusted = {normalize_origin(origin) for origin in trusted}
        self._allowed = {normalize_origin(origin) for origin in allowed} | self._trusted

    def check(self, request: Request) -> None:
        """Raise `Refusal` for a page of another origin."""
        if not self.allows(request, request.origin):
            message = "Web pages from this origin can't connect. To allow it: accord serve --allow-origin ORIGIN"
            raise Refusal(403, message, why="origin")

    def allows(self, request: Request, origin: str | None) -> bool:
        """Return whether a page of this origin may use the server that the request was sent to."""
        if origin is None or origin in self._allowed:
            return True
        return origin == f"{request.scheme}://{(request.header('host') or '').lower()}"

    def trusts(self, request: Request) -> bool:
        """Return whether the page needs no token (`--trust-origin`)."""
        return request.is_websocket and request.origin in self._trusted

    def response_headers(self, request: Request) -> Headers:
        """Return the CORS headers for a page of another, allowed origin."""
        origin = request.origin
        if origin is None or request.is_websocket or origin not in self._allowed:
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", _EXPOSED_HEADERS),
            (b"vary", b"Origin"),
        ]

    def preflight_headers(self, request: Request) -> Headers | None:
        """Return the headers that answer a preflight request; None if this isn't one, or its origin isn't allowed."""
        is_preflight = request.method == "OPTIONS" and request.header("access-control-request-method") is not None
        headers = self.response_headers(request)
        if not is_preflight or not headers:
            return None
        return [
            *headers,
            (b"access-control-allow-methods", b"GET, POST, DELETE"),
            (b"access-control-allow-headers", _ALLOWED_HEADERS),
            (b"access-control-max-age", b"600"),
        ]


def normalize_origin(text: str) -> str:
    """Return an origin as browsers send it, or raise `ValueError`."""
    parts = urlsplit(text.strip().lower())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"{text!r} isn't an origin such as https://example.org or http://localhost:2718")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in (None, default) else "")


def _host_name(host: str) -> str | None:
    """Return the name in a Host header, without the port and brackets; None if it isn't valid."""
    if not host or any(mark in host for mark in "@/\\?# \t,"):
        return None
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return (parts.hostname or "").rstrip(".") or None
