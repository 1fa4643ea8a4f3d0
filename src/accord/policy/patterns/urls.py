"""Patterns for URLs: `example.com`, `https://*.example.com/docs/**`.

A pattern is `[scheme://]host[:port][/path]`. Without a scheme it means http and https; without a path, all paths. A
host is `*`, a name, or `*.` and a name for all its subdomains. A path is as in path patterns. To allow, a URL must
match exactly, and must be plain: no user name, no `..`, no encoded slashes. To ask or deny, a host includes its
subdomains."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from accord.errors import RuleError
from accord.policy.patterns import glob

_PATTERN = re.compile(
    r"(?:([a-z][a-z0-9+.-]*)://)?(\*|(?:\*\.)?[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(/.*)?", re.S
)
_PORTS = {"http": 80, "https": 443}


class Pattern(NamedTuple):
    """A parsed pattern."""

    schemes: tuple[str, ...]
    host: str
    port: int | None
    path: str | None
    """A path pattern, or None for every path."""

    @property
    def is_exact(self) -> bool:
        return "*" not in self.host and self.path is not None and glob.read(self.path).is_exact


class Address(NamedTuple):
    """A parsed URL."""

    scheme: str
    host: str
    port: int | None
    path: str
    is_plain: bool


@lru_cache(maxsize=4096)
def read(text: str) -> Pattern:
    """Parse a pattern, or raise `RuleError`."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise RuleError(f"{text!r} isn't a URL pattern; expected example.com or https://example.com/path/**")
    scheme, host, port, path = match.groups()
    if path is not None and path != "/":
        glob.read(path)
    schemes = (scheme,) if scheme else ("http", "https")
    if port and int(port) > 65535:
        raise RuleError(f"the URL pattern {text!r} has port {port}; expected at most 65535")
    return Pattern(schemes, host.lower().rstrip("."), int(port) if port else None, path)


def parse_url(url: str) -> Address | None:
    """Parse a URL; None if it is invalid."""
    try:
        split = urlsplit(url)
        scheme, host, port = split.scheme.lower(), split.hostname or "", split.port
    except ValueError:
        return None
    if not scheme or not host:
        return None
    path = (split.path or "/") + (f"?{split.query}" if split.query else "")
    plain = (
        url.isascii()
        and url.isprintable()
        and not any(char in url for char in "\\ @")
        and not re.search(r"(?i)%2e|%2f|%5c|%00", split.path)
        and not {"..", "."} & set(split.path.split("/"))
    )
    return Address(scheme, host.lower().rstrip("."), port or _PORTS.get(scheme), path, plain)


def covers(text: str, url: str) -> bool:
    """Return whether a pattern allows a URL."""
    pattern, address = read(text), parse_url(url)
    if address is None or not address.is_plain or address.scheme not in pattern.schemes:
        return False
    if not _is_port(pattern, address) or not _is_host(pattern.host, address.host):
        return False
    if pattern.path is None:
        return True
    if pattern.path == "/":
        return address.path == "/"
    return glob.covers(pattern.path, [address.path], project=[], home=[])


def catches(text: str, url: str) -> bool:
    """Return whether a pattern could apply to a URL, for asking and denying. An invalid URL always matches."""
    pattern, address = read(text), parse_url(url)
    if address is None:
        return True
    host = address.host
    if not _is_host(pattern.host, host) and not host.endswith("." + pattern.host):
        return False
    if pattern.path in (None, "/") or not address.is_plain:
        return True
    return glob.catches(pattern.path or "", [address.path], project=[], home=[])


def exact_pattern(url: str) -> str | None:
    """Return the pattern for this URL only; None if the URL isn't plain enough to be allowed."""
    address = parse_url(url)
    if address is None or not address.is_plain:
        return None
    port = "" if address.port in (None, _PORTS.get(address.scheme)) else f":{address.port}"
    host = f"[{address.host}]" if ":" in address.host else address.host
    text = f"{address.scheme}://{host}{port}{glob.escape(address.path)}"
    try:
        return text if covers(text, url) else None
    except RuleError:
        return None


def _is_port(pattern: Pattern, address: Address) -> bool:
    wanted = pattern.port if pattern.port is not None else _PORTS.get(address.scheme)
    return address.port == wanted


def _is_host(pattern: str, host: str) -> bool:
    if not pattern.startswith("*"):
        return host == pattern.strip("[]")
    return pattern == "*" or (host.endswith(pattern[1:]) and len(host) >= len(pattern))
