"""Running local servers: `accord serve` lists its URL and token here, and clients on the same machine find them.

    {"servers": [{"url": "http://127.0.0.1:8765/acp", "token": "accord_…", "pid": 123}]}

Only the user can read the file. An entry is removed when its server exits, and ignored once its process is gone."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from accord.config.directories import data_directory
from accord.config.files import replace
from accord.config.locking import hold
from accord.errors import ConfigError

LOOPBACK_NAMES = frozenset({"127.0.0.1", "::1", "localhost"})
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class ServedAgent(msgspec.Struct, frozen=True):
    """A server that runs on this machine, and the token for clients of the same user."""

    url: str
    token: str
    pid: int


class _Document(msgspec.Struct):
    servers: list[ServedAgent] = []


def serve_directory() -> Path:
    """Return the directory of tokens, local servers and logs of `accord serve`."""
    return data_directory() / "serve"


class ServedAgents:
    """The file with the local servers of this user."""

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path if path is not None else serve_directory() / "local.json"

    @contextmanager
    def publish(self, url: str, token: str) -> Iterator[None]:
        """Publish a server of this process for the duration of the context."""
        entry = ServedAgent(url, token, os.getpid())
        self._change(add=entry)
        try:
            yield
        finally:
            self._change(remove=entry)

    def servers(self) -> list[ServedAgent]:
        """Return the running servers. A file that others can read is refused, because it holds tokens."""
        try:
            info = self.path.stat()
            content = self.path.read_bytes()
        except OSError:
            return []
        if sys.platform != "win32" and stat.S_IMODE(info.st_mode) & 0o077:
            raise ConfigError(f"{self.path} is readable by others; run: chmod 600 {self.path}")
        try:
            found = msgspec.json.decode(content, type=_Document).servers
        except msgspec.MsgspecError:
            return []
        return [server for server in found if _is_running(server.pid)]

    def find_token(self, url: str) -> str | None:
        """Return the token for a URL if a server of this user listens on its address; any path will do.

        The address has to be the same. `localhost` may be `127.0.0.1` or `::1`, and if our server listens on one of
        them, a server of another user may listen on the other: see `locate`."""
        target = _place(url)
        if target is None:
            return None
        return next((server.token for server in self.servers() if _place(server.url) == target), None)

    def locate(self, url: str) -> str:
        """Replace `localhost` in a URL with the address on which a server of this user listens, if there is one.

        Not with TLS, because the certificate is for the name."""
        target = _place(url)
        if target is None or target.host != "localhost" or target.is_encrypted:
            return url
        for server in self.servers():
            place = _place(server.url)
            if place is not None and place.host in LOOPBACK_NAMES and place == target._replace(host=place.host):
                host = f"[{place.host}]" if ":" in place.host else place.host
                return urlsplit(url)._replace(netloc=f"{host}:{place.port}").geturl()
        return url

    def _change(self, add: ServedAgent | None = None, remove: ServedAgent | None = None) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self.path.with_suffix(".lock")):
            try:
                servers_left = [server for server in self.servers() if server != remove]
            except ConfigError:
                servers_left = []  # the file is rewritten, readable by its owner only
            if add is not None:
                servers_left = [server for server in servers_left if _place(server.url) != _place(add.url)] + [add]
            if servers_left:
                replace(self.path, msgspec.json.encode(_Document(servers_left)).decode() + "\n", mode=0o600)
            else:
                self.path.unlink(missing_ok=True)


class _Place(NamedTuple):
    """The identity of a server. `ws:` and `http:` are the same."""

    is_encrypted: bool
    host: str
    port: int


def _place(url: str) -> _Place | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme.lower()]
    except (ValueError, KeyError):
        return None
    return _Place(parts.scheme.lower() in ("https", "wss"), (parts.hostname or "").lower(), port)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return pid > 0  # it runs as another user
    return True
