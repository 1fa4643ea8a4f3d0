"""Tokens for remote agents: given, from the environment, saved earlier, or from a server on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from accord.config.directories import data_directory
from accord.config.files import read_object, replace
from accord.errors import ConfigError

VARIABLE = "ACCORD_TOKEN"
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class SavedTokens:
    """The file with one token per server, readable by the user only."""

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path if path is not None else data_directory() / "remote" / "tokens.json"

    def find(self, url: str) -> str | None:
        """Return the token of a URL's server, if there is one."""
        token = self._read().get(server_of(url))
        return token if isinstance(token, str) else None

    def save(self, url: str, token: str) -> None:
        """Save the token of a URL's server."""
        import msgspec

        known = {**self._read(), server_of(url): token}
        replace(self.path, msgspec.json.format(msgspec.json.encode(known)).decode() + "\n", mode=0o600)

    def _read(self) -> dict[str, object]:
        if not self.path.exists():
            return {}
        if sys.platform != "win32" and self.path.stat().st_mode & 0o077:
            raise ConfigError(f"{self.path} is readable by others; run: chmod 600 {self.path}")
        return read_object(self.path)


def find_token(url: str, given: str | None = None) -> str | None:
    """Find the token for a URL: the given one, `ACCORD_TOKEN` or a saved one.

    A saved token is sent only to the server it was meant for; `ACCORD_TOKEN` is the user's choice."""
    return given or os.environ.get(VARIABLE) or SavedTokens().find(url)


def describe_source(url: str) -> str:
    """Describe where the token of a URL comes from; empty if there is none."""
    if os.environ.get(VARIABLE):
        return VARIABLE
    saved = SavedTokens()
    if saved.find(url):
        return str(saved.path)
    return "the server on this machine" if find_local(url) is not None else ""


class LocalServer(NamedTuple):
    """A server of this user on this machine."""

    url: str
    """The URL with the address on which it listens; `localhost` may resolve to another one."""
    token: str


def find_local(url: str) -> LocalServer | None:
    """Find the server of this user to which a URL refers; None if none is running there."""
    from accord.config.served_agents import ServedAgents

    served = ServedAgents()
    address = served.locate(url)
    token = served.find_token(address)
    return LocalServer(address, token) if token is not None else None


def server_of(url: str) -> str:
    """Return the identity of a URL's server: scheme, host and port. `ws:` and `http:` are the same server."""
    try:
        parts = urlsplit(url)
        scheme = {"ws": "http", "wss": "https"}.get(parts.scheme.lower(), parts.scheme.lower())
        return f"{scheme}://{(parts.hostname or '').lower()}:{parts.port or _PORTS.get(scheme, 0)}"
    except ValueError:
        raise ConfigError(f"{url!r} isn't a valid URL") from None
