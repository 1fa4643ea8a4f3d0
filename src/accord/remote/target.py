"""Connections to remote agents by URL, with a transport that survives lost connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from accord.config.command import URLS
from accord.errors import ConfigError, LaunchError
from accord.remote.resuming_transport import ResumingTransport, Retry
from accord.transports.base import Interruption, Transport

if TYPE_CHECKING:
    from accord.transports.http.client import HttpOptions


def is_url(target: str) -> bool:
    """Return whether a target is the URL of a remote agent."""
    return target.strip().lower().startswith(URLS)


async def open_url(
    url: str,
    *,
    token: str | None = None,
    options: HttpOptions | None = None,
    retry: Retry | None = None,
    on_change: Callable[[Interruption], None] | None = None,
    resets: bool = True,
) -> Transport:
    """Connect to a remote agent by Streamable HTTP (`https:`) or WebSocket (`wss:`).

    Without `token` it is looked up: `ACCORD_TOKEN`, a saved one, or that of a server on this machine. `resets` is
    whether the receiver supports `_accord/snapshot`. Raises `LaunchError` with the stage that failed."""
    url = check_url(url)

    async def open() -> Transport:
        from accord.transports.http import client

        found = _choose(url, token, options)
        try:
            return await client.open_url(*found)
        except LaunchError as error:
            # A server on this machine has a new token after a restart, and may have listed it only now.
            newer = _choose(url, token, options)
            if error.stage != "auth" or newer == found:
                raise
        return await client.open_url(*newer)

    return ResumingTransport(await open(), open, retry=retry, on_change=on_change, resets=resets)


def _choose(url: str, token: str | None, options: HttpOptions | None) -> tuple[str, HttpOptions]:
    """Choose the address and the token. The token of a local server is sent only to that server, never to a proxy.

    Raises `LaunchError` if a file with tokens can't be used."""
    from accord.remote.tokens import find_local, find_token
    from accord.transports.http.client import HttpOptions

    chosen = options or HttpOptions()
    try:
        known = chosen.token or find_token(url, token)
        local = find_local(url) if known is None and chosen.proxy is None else None
    except ConfigError as error:
        raise LaunchError(str(error), stage="resolve") from None
    if known is not None:
        return url, replace(chosen, token=known)
    return (url, chosen) if local is None else (local.url, replace(chosen, token=local.token, is_direct=True))


def check_url(url: str) -> str:
    """Check that a URL could be that of an agent. A token must not be part of it: URLs end up in logs."""
    from urllib.parse import urlsplit

    url = url.strip()
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise LaunchError(f"{url!r} isn't a valid URL: {error}", stage="resolve") from None
    if not is_url(url) or not parts.hostname or any(map(str.isspace, url)):
        raise LaunchError(
            f"{url!r} isn't the URL of an agent; use one such as https://example.org/acp or wss://example.org/acp",
            stage="resolve",
        )
    if parts.username is not None or parts.password is not None:
        raise LaunchError("a URL can't contain a password or a token: set ACCORD_TOKEN instead", stage="resolve")
    return url
