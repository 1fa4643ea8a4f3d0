"""Check that `fetch_url` only connects to public internet addresses.

A name is resolved once, all of its addresses are checked, and the connection goes to one of them: a DNS server that
answers differently the second time gains nothing. Disguised addresses (a number, IPv4 inside IPv6) are checked as the
addresses they stand for."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple, Union
from urllib.parse import quote, urlsplit

from accord.coder.tools.base import ToolError

Address = Union[IPv4Address, IPv6Address]

PRIVATE_ALLOWED = "ACCORD_ALLOW_PRIVATE_URLS"
MAX_URL = 8_192
PORTS = {"http": 80, "https": 443}

_EMBEDDING = (  # networks that embed an IPv4 address, and the position of its last bit
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
_NEVER = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "168.63.129.16/32",  # Azure's internal service address
            "64:ff9b:1::/48",  # NAT64 with a local prefix: embeds IPv4 at an unknown position
            "fec0::/10",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
        ),
    )
)


class Target(NamedTuple):
    """A parsed URL that can be fetched."""

    scheme: str
    host: str
    port: int
    path: str
    """Including the query."""

    @property
    def authority(self) -> str:
        """For the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    def at(self, address: str) -> str:
        """Return the same URL with an address in place of the name."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_url(url: str) -> Target:
    """Parse a URL. Raises `ToolError` if it can't be fetched."""
    if len(url) > MAX_URL:
        raise ToolError(f"the URL has {len(url):,} characters; the maximum is {MAX_URL:,}")
    if any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url):
        raise ToolError("the URL contains spaces, control characters or backslashes; percent-encode them")
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise ToolError(f"{url[:200]} is not a valid URL: {error}") from None
    if scheme not in PORTS:
        raise ToolError(
            f"only http and https URLs can be fetched, not {scheme or 'URLs without a scheme'}: {url[:200]}"
        )
    if not host:
        raise ToolError(f"the URL {url[:200]} has no host")
    if "@" in parts.netloc:
        raise ToolError("the URL contains a user name or password; such URLs are not fetched")
    if "%" in host:
        raise ToolError("the URL's host contains a percent sign")
    if port == 0:
        raise ToolError("the URL has port 0")
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe="/%:?#[]@!$&'()*+,;=~-._|^")
    return Target(scheme, _ascii(host.rstrip(".") or host), port or PORTS[scheme], path)


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise ToolError(f"{host[:100]!r} is not a valid host name") from None


async def resolve(where: Target, *, allow_private: bool) -> list[str]:
    """Resolve a host. Raises `ToolError` unless all of its addresses may be used."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(
            f"couldn't resolve {where.host}: {(isinstance(error, OSError) and error.strerror) or error}"
        ) from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise ToolError(f"{where.host} has no address")
    if not allow_private:
        for address in addresses:
            if not is_public(address):
                name = where.host if where.host == address else f"{where.host} ({address})"
                raise ToolError(
                    f"{name} is not a public internet address; local and private network addresses are only fetched if "
                    f"the user allows it ({PRIVATE_ALLOWED}=1)"
                )
    return addresses


def is_private_allowed(setting: bool) -> bool:
    """Return whether private addresses may be fetched, by the session's setting or the environment."""
    return setting or os.environ.get(PRIVATE_ALLOWED) == "1"


def is_public(text: str) -> bool:
    """Return whether an address, and any IPv4 address embedded in it, is public."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(map(_is_public, (address, *_embedded_ipv4(address))))


def _embedded_ipv4(address: Address) -> list[Address]:
    """Return the IPv4 addresses embedded in an IPv6 address."""
    if isinstance(address, IPv4Address):
        return []
    number = int(address)
    return [IPv4Address(number >> shift & 0xFFFFFFFF) for network, shift in _EMBEDDING if address in network]


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and any(address in network for network, _ in _EMBEDDING[1:]):
        return True  # the embedded address decides
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address.version == network.version and address in network for network in _NEVER)
    )
