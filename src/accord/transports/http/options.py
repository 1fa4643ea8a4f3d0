"""Options of HTTP clients, and error messages for connections that fail."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from accord.errors import LaunchError
from accord.version import __version__

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True)
class HttpOptions:
    """Options for reaching a server, the same for Streamable HTTP and WebSocket."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every request."""
    token: str | None = field(default=None, repr=False)
    """A bearer token for the `Authorization` header."""
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Initial cookies. Those that the server sets are stored and sent until the connection ends."""
    verify: bool = True
    """Whether to check the server's certificate."""
    ca_file: str | Path | None = None
    """A file of trusted certificates, instead of the default ones."""
    proxy: str | None = None
    """The URL of a proxy. Without one, the environment decides (`HTTPS_PROXY`, `NO_PROXY`, …)."""
    is_direct: bool = False
    """Whether to ignore the proxies of the environment."""
    http2: bool | None = None
    """Whether to speak HTTP/2. The default is to negotiate it over TLS, and to use HTTP/1.1 without TLS."""
    connect_seconds: float = 15.0
    """The time limit for connecting."""
    silence_seconds: float = 60.0
    """The time without data after which a connection counts as lost. Servers send something every 15 seconds."""
    resume_seconds: float = 20.0
    """How long to try to reconnect a dropped event stream, if the server supports that, and to repeat a response that
    a proxy refuses."""
    response_seconds: float = 120.0
    """How long the response to a POST may take to begin. Servers respond at once, except to `initialize`."""
    body_seconds: float = 60.0
    """How long the rest of that response may take."""

    def all_headers(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the headers of every request, with the token."""
        headers = {"User-Agent": f"accord/{__version__}", **self.headers, **(extra or {})}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers


class _ErrorBody(msgspec.Struct):
    """The body of an error response of `accord serve`."""

    error: str


def require_httpx2() -> None:
    """Check that the HTTP library is installed. Raises `LaunchError` that says how to install it."""
    _require("httpx2")


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise LaunchError("remote agents need the extra `http`: pip install 'accord-acp[http]'", stage="resolve")


def make_client(
    options: HttpOptions, headers: Mapping[str, str], cookies: httpx2.Cookies, *, url: str, for_websocket: bool = False
) -> httpx2.AsyncClient:
    """Create a client. Its cookies are merged into `cookies` by the caller; each client has its own connections."""
    import httpx2

    verify: Any = options.verify
    if options.ca_file is not None and options.verify:
        try:
            verify = ssl.create_default_context(cafile=str(options.ca_file))
        except (OSError, ssl.SSLError) as error:
            raise LaunchError(f"couldn't read the CA file {options.ca_file}: {error}", stage="tls") from None
    is_tls = url.startswith(("https:", "wss:"))
    http2 = False if for_websocket else (is_tls if options.http2 is None else options.http2)
    # The models' libraries of the extra `coder` install httpx2, but not what it needs for these.
    if for_websocket:
        _require("wsproto")
    elif http2:
        _require("h2")
    return httpx2.AsyncClient(
        headers=dict(headers),
        cookies=cookies,
        verify=verify,
        proxy=options.proxy,
        mounts=dict.fromkeys(("http://", "https://", "all://")) if options.is_direct else None,
        http1=not http2 or is_tls,  # without TLS there is no negotiation, so the use of HTTP/2 must be known beforehand
        http2=http2,
        timeout=httpx2.Timeout(None, connect=options.connect_seconds),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
    )


def explain_failure(url: str, error: BaseException) -> LaunchError:
    """Convert an exception from connecting to an error with the stage and a solution."""
    host = _host_of(url)
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return LaunchError(f"couldn't find the host {host}: check the name in {url}", stage="dns")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return LaunchError(
                f"the certificate of {host} isn't trusted: {cause.verify_message or cause}. "
                "If your own CA signed it, pass its certificate (`ca_file`, or `accord connect --ca`)",
                stage="tls",
            )
        if isinstance(cause, ssl.SSLError):
            return LaunchError(f"couldn't set up TLS with {host}: {cause.reason or cause}", stage="tls")
        if isinstance(cause, ConnectionRefusedError):
            return LaunchError(
                f"couldn't connect to {host}: nothing listens there. Is the server running?", stage="connect"
            )
    if type(error).__name__ == "ConnectTimeout" or isinstance(error, TimeoutError):
        return LaunchError(f"couldn't connect to {host}: no response in time", stage="connect")
    if type(error).__name__ == "ProxyError":
        return LaunchError(f"the proxy refused the connection to {host}: {error}", stage="connect")
    return LaunchError(f"couldn't connect to {host}: {str(error) or type(error).__name__}", stage="connect")


def explain_status(url: str, status: int, text: str = "", location: str = "") -> LaunchError:
    """Convert an HTTP status to an error with a solution."""
    note = f": {reason}" if (reason := _read_reason(text)) else ""
    if status == 401:
        return LaunchError(f"{url} requires a valid token (HTTP 401){note}", stage="auth")
    if status == 403:
        return LaunchError(f"{url} denies access (HTTP 403){note}", stage="auth")
    if status == 407:
        return LaunchError(f"the proxy requires a login (HTTP 407){note}", stage="auth")
    if status == 404:
        return LaunchError(
            f"there is no agent at {url} (HTTP 404){note or ': check the path, usually /acp'}", stage="http"
        )
    if 300 <= status < 400:
        return LaunchError(f"{url} redirects to {location or 'another address'}: use that URL", stage="http")
    if status >= 500:
        return LaunchError(f"the server at {url} reports an error (HTTP {status}): try again later{note}", stage="http")
    return LaunchError(f"{url} doesn't speak ACP (HTTP {status}){note}", stage="http")


def _read_reason(text: str) -> str:
    """Return the message in the body of an error response, on one line; empty for a web page."""
    try:
        reason = msgspec.json.decode(text, type=_ErrorBody).error
    except msgspec.MsgspecError:
        reason = "" if text.lstrip().startswith("<") else text
    return " ".join(reason.split())[:300]


def _host_of(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).netloc.rpartition("@")[2] or url


def _causes(error: BaseException) -> list[BaseException]:
    """List an exception and its causes, which the HTTP libraries wrap several times."""
    found: list[BaseException] = []
    open: list[BaseException] = [error]
    while open:
        each = open.pop()
        if each in found:
            continue
        found.append(each)
        if isinstance(each, BaseExceptionGroup):
            open.extend(each.exceptions)
        open.extend(cause for cause in (each.__cause__, each.__context__) if cause is not None)
    return found
