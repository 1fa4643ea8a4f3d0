"""Open a connection to the agent at a URL: Streamable HTTP for `http` and `https`, WebSocket for `ws` and `wss`."""

from __future__ import annotations

from accord.errors import LaunchError
from accord.transports.base import Transport
from accord.transports.http.options import HttpOptions
from accord.transports.http.streamable import HttpTransport
from accord.transports.http.websocket import WebSocketTransport

__all__ = ["HttpOptions", "HttpTransport", "WebSocketTransport", "is_url", "open_url"]

_STREAMABLE, _WEBSOCKET = ("http", "https"), ("ws", "wss")


def is_url(target: str) -> bool:
    """Check whether a target is the URL of a remote agent."""
    scheme, separator, _ = target.partition("://")
    return bool(separator) and scheme.lower() in _STREAMABLE + _WEBSOCKET and not any(map(str.isspace, target))


async def open_url(url: str, options: HttpOptions | None = None) -> Transport:
    """Connect to a URL. Raises `LaunchError` with the stage that failed."""
    scheme = url.partition("://")[0].lower()
    if scheme in _WEBSOCKET:
        return await WebSocketTransport.connect(url, options=options)
    if scheme in _STREAMABLE:
        return await HttpTransport.connect(url, options=options)
    raise LaunchError(f"{url} isn't the URL of an agent, which starts with https:// or wss://", stage="resolve")
