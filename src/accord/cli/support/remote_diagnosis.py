"""The steps of `accord doctor URL`: from the name of the server to a working session."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from accord.cli.support.diagnosis import Step, check_agent
from accord.errors import AccordError, LaunchError

if TYPE_CHECKING:
    from accord.config.settings import Loaded
    from accord.transports.base import Transport

_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_TOKEN_ADVICE = (
    "get a token from the server's owner (accord serve token new), then set ACCORD_TOKEN or run: "
    "accord connect URL --save-token"
)
_ADVICE = {
    "dns": "check the spelling of the host name, and your network or VPN",
    "connect": "check that the server is running, that it listens on this port, and that no firewall blocks it",
    "tls": "check the certificate; for your own CA, set SSL_CERT_FILE or use accord connect --ca FILE",
    "auth": _TOKEN_ADVICE,
    "http": "check the path of the URL, usually /acp, and the configuration of any proxy in front of the server",
}
_STAGES = {"connect": "tcp", "auth": "token"}


async def run_remote_steps(
    url: str, prompt: str | None, timeout: float, cwd: Path, loaded: Loaded, versions: frozenset[int]
) -> AsyncIterator[Step]:
    """Run the steps in order, up to the first that fails."""
    from accord.remote.target import check_url

    try:
        url = check_url(url)
        parts = urlsplit(url)
        yield Step(stage="resolve", ok=True, found=f"a remote agent: {url}")
        proxy = _find_proxy(parts)
        if proxy:
            yield Step(
                stage="proxy", ok=True, found=f"connecting through {proxy}; DNS, TCP and TLS aren't tested separately"
            )
        else:
            yield await _look_up(parts, timeout)
            yield await _connect(parts, timeout)
            if parts.scheme in ("https", "wss"):
                yield await _check_tls(parts, timeout)
        transport = await _open(url, timeout)
    except LaunchError as error:
        yield _fail(error)
        return
    yield Step(stage="token", ok=True, found=_describe_token(url))
    yield Step(stage="http", ok=True, found=_describe_transport(parts))
    async for step in check_agent(transport, prompt, timeout, cwd, loaded, versions, {}):
        yield step


def _find_proxy(parts: SplitResult) -> str:
    """Return the proxy that the environment sets for a URL; empty if there is none."""
    proxies = getproxies()
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    if proxy_bypass(parts.hostname or ""):
        return ""
    return proxies.get(scheme) or proxies.get("all") or ""


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


async def _look_up(parts: SplitResult, timeout: float) -> Step:
    host = parts.hostname or ""
    try:
        async with asyncio.timeout(timeout):
            found = await asyncio.get_running_loop().getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise LaunchError(f"couldn't find the host {host}: {_reason(error)}", stage="dns") from None
    addresses = ", ".join(dict.fromkeys(str(each[4][0]) for each in found))
    return Step(stage="dns", ok=True, found=addresses if addresses == host else f"{host} resolves to {addresses}")


async def _connect(parts: SplitResult, timeout: float) -> Step:
    place = f"{parts.hostname} port {_port(parts)}"
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(parts.hostname, _port(parts))
    except (OSError, TimeoutError) as error:
        raise LaunchError(f"couldn't connect to {place}: {_reason(error)}", stage="connect") from None
    writer.close()
    return Step(stage="tcp", ok=True, found=f"connected to {place}")


async def _check_tls(parts: SplitResult, timeout: float) -> Step:
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(
                parts.hostname, _port(parts), ssl=ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
            )
    except (OSError, TimeoutError) as error:
        raise LaunchError(f"couldn't set up TLS: {_reason(error)}", stage="tls") from None
    connection: Any = writer.get_extra_info("ssl_object")
    version, ends = connection.version(), connection.getpeercert().get("notAfter", "an unknown date")
    writer.close()
    return Step(stage="tls", ok=True, found=f"{version}; the certificate is valid until {ends}")


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no response in time"
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


async def _open(url: str, timeout: float) -> Transport:
    from accord.remote.target import open_url
    from accord.transports.http.client import HttpOptions

    try:
        return await open_url(url, options=HttpOptions(connect_seconds=timeout))
    except LaunchError:
        raise
    except AccordError as error:
        raise LaunchError(str(error), stage="auth") from None


def _describe_token(url: str) -> str:
    from accord.remote.tokens import describe_source

    source = describe_source(url)
    return f"accepted, from {source}" if source else "none needed"


def _describe_transport(parts: SplitResult) -> str:
    kind = "WebSocket" if parts.scheme in ("ws", "wss") else "Streamable HTTP"
    return f"{kind} at {parts.path or '/'}"


def _fail(error: LaunchError) -> Step:
    from accord.config.redaction import redact_text

    stage = _STAGES.get(error.stage, error.stage)
    return Step(stage=stage, ok=False, found=redact_text(str(error)), advice=_ADVICE.get(error.stage, ""))
