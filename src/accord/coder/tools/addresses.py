"""Which addresses a fetch may go to: those of the public internet, and no others.

A name is looked up once, every address it has is checked, and the connection is made to one of those very addresses:
whoever answers differently the second time gains nothing. What is written in disguise (a number, IPv4 inside IPv6) is
judged by what it stands for."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple, Union
from urllib.parse import quote, urlsplit

from accord.coder.tools.base import ToolFault

Address = Union[IPv4Address, IPv6Address]

PRIVATE_ALLOWED = "ACCORD_ALLOW_PRIVATE_URLS"
MAX_URL = 8_192
PORTS = {"http": 80, "https": 443}

_CARRIERS = (  # networks whose addresses have one of IPv4 in them, and where
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
            "192.88.99.0/24",  # relays that lead anywhere
            "168.63.129.16/32",  # a public address that is a cloud's own
            "64:ff9b:1::/48",  # carries addresses of IPv4 wherever its owner likes
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
    """A URL, taken apart and checked as far as words go."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query."""

    @property
    def authority(self) -> str:
        """For the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    def at(self, address: str) -> str:
        """The same URL with an address in place of the name."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def target(url: str) -> Target:
    """Reads a URL. Raises `ToolFault` for what is none that can be fetched."""
    if len(url) > MAX_URL:
        raise ToolFault(f"the address has {len(url):,} characters; {MAX_URL:,} is the most")
    if any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url):
        raise ToolFault("the address has blanks, control characters or backslashes in it; write them as %20 and so on")
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise ToolFault(f"{url[:200]} is no address: {error}") from None
    if scheme not in PORTS:
        raise ToolFault(f"only http and https can be fetched, not {scheme or 'no scheme at all'}: {url[:200]}")
    if not host:
        raise ToolFault(f"the address {url[:200]} names no host")
    if "@" in parts.netloc:
        raise ToolFault("the address has a user name or password in it; such addresses are not fetched")
    if "%" in host:
        raise ToolFault("the host of the address has a percent sign in it")
    if port == 0:
        raise ToolFault("the address has the port 0")
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe="/%:?#[]@!$&'()*+,;=~-._|^")
    return Target(scheme, _ascii(host.rstrip(".") or host), port or PORTS[scheme], path)


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise ToolFault(f"the host {host[:100]!r} is no name that can be looked up") from None


async def addresses_of(where: Target, *, allow_private: bool) -> list[str]:
    """The addresses of a host, if every one of them may be used."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFault(f"the host {where.host} was not found: {getattr(error, 'strerror', None) or error}") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise ToolFault(f"the host {where.host} has no address")
    if not allow_private:
        for address in addresses:
            if not is_public(address):
                name = where.host if where.host == address else f"{where.host} ({address})"
                raise ToolFault(
                    f"{name} is not an address of the public internet; addresses of this machine and of private "
                    f"networks are fetched only when the user allows it ({PRIVATE_ALLOWED}=1)"
                )
    return addresses


def private_allowed(setting: bool) -> bool:
    """Whether private addresses may be fetched, by the session's setting or the environment."""
    return setting or os.environ.get(PRIVATE_ALLOWED) == "1"


def is_public(text: str) -> bool:
    """Whether an address belongs to the public internet, whatever it is dressed up as."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(map(_is_public, (address, *_carried(address))))


def _carried(address: Address) -> list[Address]:
    """The addresses of IPv4 that one of IPv6 has in it."""
    if isinstance(address, IPv4Address):
        return []
    number = int(address)
    return [IPv4Address(number >> shift & 0xFFFFFFFF) for network, shift in _CARRIERS if address in network]


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and any(address in network for network, _ in _CARRIERS[1:]):
        return True  # what it carries decides
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address.version == network.version and address in network for network in _NEVER)
    )
