"""Allowed and rejected addresses of a fetch, in many disguises."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from accord.coder.tools.base import ToolError
from accord.coder.tools.web.addresses import is_public, parse_url, resolve

PRIVATE = [
    "127.0.0.1",
    "127.1.2.3",
    "127.255.255.255",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "2002:0a00:0001::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:db8::1",
    "2001:10::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "100::1",
    "3fff::1",
    "5f00::1",
    "::8.8.8.8",
    "nonsense",
    "1.2.3",
    "1.2.3.4.5",
]

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.0.1",
    "100.128.0.1",
    "169.253.0.1",
    "192.0.1.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:0808:0808::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_recognized(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_recognized(address: str) -> None:
    assert is_public(address)


DISGUISES = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://10.0.0.1/",
    "http://192.168.1.1/admin",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/latest",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://100.64.0.1/",
    "https://127.0.0.1/",
    "https://localhost:443/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
]


@pytest.mark.parametrize("url", DISGUISES)
async def test_a_private_address_is_refused_however_it_is_written(url: str) -> None:
    with pytest.raises(ToolError, match=r"not a public internet address|couldn't resolve|not a valid host name"):
        await resolve(parse_url(url), allow_private=False)


NO_ADDRESSES = [
    ("file:///etc/passwd", "only http and https"),
    ("ftp://example.com/", "only http and https"),
    ("gopher://127.0.0.1:6379/_x", "only http and https"),
    ("data:text/html,x", "only http and https"),
    ("javascript:alert(1)", "only http and https"),
    ("example.com", "only http and https"),
    ("//example.com/", "only http and https"),
    ("", "only http and https"),
    ("http://", "has no host"),
    ("http:///path", "has no host"),
    ("http://user@example.com/", "user name"),
    ("http://user:pass@example.com/", "user name"),
    ("http://example.com@127.0.0.1/", "user name"),
    ("http://127.0.0.1\\@example.com/", "backslashes"),
    ("http://example.com\\.evil.com/", "backslashes"),
    ("http://example.com /", "spaces"),
    ("http://example.com/\r\nHost: x", "spaces"),
    ("http://exam\tple.com/", "spaces"),
    ("http://example.com:99999/", "is not a valid URL"),
    ("http://example.com:0/", "port 0"),
    ("http://example.com:x/", "is not a valid URL"),
    ("http://127.0.0.1%2f@example.com/", "user name"),
    ("http://[fe80::1%25eth0]/", "percent"),
    ("http://%31%32%37.0.0.1/", "percent"),
    ("http://[::1/", "is not a valid URL"),
    ("http://" + "a" * 9_000, "characters"),
]


@pytest.mark.parametrize("url, words", NO_ADDRESSES, ids=lambda value: str(value)[:40])
def test_an_address_that_cannot_be_fetched_is_an_error(url: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        parse_url(url)


def test_a_url_is_parsed() -> None:
    where = parse_url("HTTPS://Example.COM:8443/a b".replace(" ", "%20") + "?q=ü#part")
    assert (where.scheme, where.host, where.port, where.path) == ("https", "example.com", 8443, "/a%20b?q=%C3%BC")
    assert where.authority == "example.com:8443"
    assert where.at("2606:4700::1111") == "https://[2606:4700::1111]:8443/a%20b?q=%C3%BC"
    assert parse_url("http://bücher.example").url == "http://xn--bcher-kva.example/"
    assert parse_url("http://[2606:4700::1111]/").authority == "[2606:4700::1111]"
    assert parse_url("http://example.com//double//slash").path == "//double//slash"


def answer_lookups(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Resolve every name to these addresses. Returns the list of names that are looked up."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **how: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    return asked


async def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_lookups(monkeypatch, "8.8.8.8", "10.0.0.7")
    with pytest.raises(ToolError, match=r"example\.com \(10\.0\.0\.7\) is not a public internet address"):
        await resolve(parse_url("http://example.com/"), allow_private=False)
    assert await resolve(parse_url("http://example.com/"), allow_private=True) == ["8.8.8.8", "10.0.0.7"]


async def test_a_name_without_addresses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_lookups(monkeypatch)
    with pytest.raises(ToolError, match="has no address"):
        await resolve(parse_url("http://example.com/"), allow_private=False)
