"""fetch_url, with a real server."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from accord.coder.tools import fetch_url
from accord.coder.tools.web import http
from accord.model.requests import PermissionRequest
from accord.policy.rule import Rule

from .conftest import ALLOWED, Harness, ToolHarness
from .web_server import answer, leading_to, plain, serving

HTML = b"""<!DOCTYPE html><html><head><title>A page</title><style>p{}</style><script>alert(1)</script></head>
<body><h1>Head</h1><p>Some <b>bold</b> text and <a href="https://example.com/x">a link</a>.</p>
<ul><li>one<li>two</ul><pre>  code
    here</pre></body></html>"""


def private(tools: ToolHarness) -> ToolHarness:
    """Allow URLs of this machine, where the server runs."""
    tools.agent.allow_private = True
    return tools


async def test_a_page_is_fetched_and_made_readable(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/a?b=c"] = answer(HTML, "Content-Type: text/html")
        told = await tools.call("fetch_url", url=web.url("/a?b=c#part"))
        assert told == (
            f"{web.url('/a?b=c')}: A page\n\n# Head\n\nSome bold text and a link (https://example.com/x).\n\n"
            "- one\n- two\n\n```\n  code\n    here\n```"
        )
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == (f"Fetch {web.url('/a?b=c#part')}", "fetch", "completed")
        assert "Some bold text" in tools.shown_text
        assert shown.raw_output["type"] == "text/html"
        assert "cookie" not in web.requests[0].lower() and "authorization" not in web.requests[0].lower()


@pytest.mark.parametrize(
    "kind, body, expected",
    [
        ("text/plain", b"plain\n", "plain"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/plain; charset=nonsense", b"x", "x"),
        ("text/plain; charset=zlib_codec", b"x", "x"),
        ("text/plain; charset=idna", b"x", "x"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/problem+json", b"{}", "{}"),
        ("application/xml", b"<a/>", "<a/>"),
        ("text/markdown", b"\xef\xbb\xbf# x", "# x"),
        ("", b"no type", "no type"),
        ("", b"<html><p>page", "page"),
        ("text/html", b"<meta charset='latin-1'><p>caf\xe9", "café"),
    ],
)
async def test_text_is_returned_unchanged(
    harness: Harness, version: int, kind: str, body: bytes, expected: str
) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = answer(body, *([f"Content-Type: {kind}"] if kind else []))
        assert (await tools.call("fetch_url", url=web.url())).endswith(f"\n\n{expected}")


async def test_a_long_page_is_returned_in_parts(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = answer(
            b"".join(b"line %d\n" % number for number in range(1, 4501)), "Content-Type: text/plain"
        )
        first = await tools.call("fetch_url", url=web.url())
        assert first.endswith("line 2000\n[lines 1 to 2000 of 4500; continue with offset=2001]")
        last = await tools.call("fetch_url", url=web.url(), offset=4001)
        assert "\n\nline 4001\n" in last and last.endswith("line 4500")
        assert (await tools.call("fetch_url", url=web.url(), offset=4501)).endswith("[the text only has 4,500 lines]")


async def test_a_binary_response_is_rejected_with_its_type_and_size(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = answer(b"\x89PNG" * 500, "Content-Type: image/png")
        assert "is image/png of 2.0 kB, not text" in await tools.call_failing("fetch_url", url=web.url())
        web.pages["/"] = answer(b"\0\1\2")
        assert "looks binary" in await tools.call_failing("fetch_url", url=web.url())


async def test_the_error_of_a_server_contains_the_response_body(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        told = await tools.call_failing("fetch_url", url=web.url("/missing"))
        assert told.startswith("The server responded with 404 Not Found.") and "nothing here" in told


async def test_redirects_are_followed(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages |= {"/1": leading_to("/2"), "/2": leading_to(web.url("/3"), "308 Permanent Redirect")}
        web.pages["/3"] = plain("arrived")
        assert await tools.call("fetch_url", url=web.url("/1")) == f"{web.url('/3')}\n\narrived"
        web.pages["/round"] = leading_to("/round")
        web.requests.clear()
        assert "more than 5 times" in await tools.call_failing("fetch_url", url=web.url("/round"))
        assert len(web.requests) == 6


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://example.com/", "http://user@127.0.0.1/", "http://[::1", "gopher://127.0.0.1/_"],
)
async def test_a_redirect_to_what_cannot_be_fetched_is_not_followed(harness: Harness, location: str) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = leading_to(location)
        await tools.call_failing("fetch_url", url=web.url())
        assert len(web.requests) == 1


class Names:
    """Resolves names to fixed addresses, and counts the lookups."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **names: str) -> None:
        self.names = {name.replace("_", "."): address for name, address in names.items()}
        self.asked: list[str] = []
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", self.look_up)

    async def look_up(self, host: str, port: int, **how: Any) -> list[Any]:
        self.asked.append(host)
        if host not in self.names:
            raise socket.gaierror(8, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.names[host], port))]


async def test_a_redirect_to_this_machine_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.coder.tools.web.addresses.is_public", lambda address: address == "127.0.0.1")
    async with serving() as web, harness() as tools:
        names = Names(monkeypatch, public_test="127.0.0.1", inner_test="10.0.0.1")
        web.pages["/"] = leading_to(web.url("/secret", host="inner.test"))
        told = await tools.call_failing("fetch_url", url=web.url("/", host="public.test"))
        assert "inner.test (10.0.0.1) is not a public internet address" in told
        assert names.asked == ["public.test", "inner.test"]
        assert len(web.requests) == 1


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        names = Names(monkeypatch, rebinding_test="127.0.0.1")
        web.pages["/"] = plain("pinned")
        assert "pinned" in await tools.call("fetch_url", url=web.url(host="rebinding.test"))
        assert names.asked == ["rebinding.test"]
        assert f"\r\nHost: rebinding.test:{web.port}\r\n" in web.requests[0]


async def test_nothing_of_this_machine_is_fetched_unless_it_is_allowed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as web, harness() as tools:
        web.pages["/"] = plain("private")
        for host in ("127.0.0.1", "localhost", "2130706433", "127.1"):
            assert "public internet" in await tools.call_failing("fetch_url", url=web.url(host=host))
        assert web.requests == []
        monkeypatch.setenv("ACCORD_ALLOW_PRIVATE_URLS", "1")
        assert "private" in await tools.call("fetch_url", url=web.url())


async def test_proxies_of_the_environment_are_not_used(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as proxy, serving() as web, harness() as tools:
        private(tools)
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        monkeypatch.setenv("ALL_PROXY", proxy.url())
        web.pages["/"] = plain("direct")
        assert "direct" in await tools.call("fetch_url", url=web.url())
        assert proxy.requests == []


async def test_a_page_is_fetched_only_after_asking(harness: Harness) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return False

    async with serving() as web, harness(rules=(), permissions=permissions) as tools:
        private(tools)
        assert "didn't allow" in await tools.call_failing("fetch_url", url=web.url())
        assert web.requests == []
        assert len(asked) == 1 and web.url() in str(asked[0].tool_call)
        assert "only http and https" in await tools.call_failing("fetch_url", url="file:///etc/passwd")
        assert len(asked) == 1


@pytest.mark.parametrize("effect, words", [("deny", "not allowed"), ("ask", "needs the user's permission")])
async def test_a_redirect_does_not_bypass_the_rules(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, effect: Any, words: str
) -> None:
    rules = (Rule(effect=effect, url=("evil.test",)), *ALLOWED)
    async with serving() as web, harness(rules=rules) as tools:
        private(tools)
        Names(monkeypatch, good_test="127.0.0.1", evil_test="127.0.0.1")
        web.pages["/"] = leading_to(web.url("/x", host="evil.test"))
        assert words in await tools.call_failing("fetch_url", url=web.url(host="good.test"))
        assert len(web.requests) == 1


async def test_a_page_without_end_is_cut_off(harness: Harness) -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 99_999 + b"\n")
            await writer.drain()
            sent += 100_000

    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = endless
        told = await tools.call("fetch_url", url=web.url())
        assert told.endswith("[the page is longer than 5.0 MB; the rest was not fetched]")
        assert len(told) < 62_000
        assert sent < 50_000_000


async def test_few_bytes_that_unpack_to_many_are_cut_off(harness: Harness) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        bomb = gzip.compress(b"\n" * 20_000_000, 9)
        web.pages["/"] = answer(bomb, "Content-Type: text/plain", "Content-Encoding: gzip")
        assert "longer than 5.0 MB" in await tools.call("fetch_url", url=web.url())
        web.pages["/"] = answer(gzip.compress(b"small"), "Content-Type: text/plain", "Content-Encoding: gzip")
        assert (await tools.call("fetch_url", url=web.url())).endswith("small")
        web.pages["/"] = answer(b"no gzip", "Content-Type: text/plain", "Content-Encoding: gzip")
        assert "not compressed as its headers say" in await tools.call_failing("fetch_url", url=web.url())
        web.pages["/"] = answer(b"x", "Content-Type: text/plain", "Content-Encoding: br")
        assert "wasn't requested" in await tools.call_failing("fetch_url", url=web.url())


async def test_a_silent_server_times_out(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_url, "TIMEOUT_SECONDS", 0.2)

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # until the client gives up

    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = silence
        assert "timed out after" in (told := await tools.call_failing("fetch_url", url=web.url())) or "Timeout" in told


async def test_cancelling_the_turn_closes_the_connection(harness: Harness) -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbeginning")
        await writer.drain()
        begun.set()
        await reader.read()
        closed.set()

    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = slow
        tools.start_of("fetch_url", {"url": web.url()})
        turn = asyncio.ensure_future(_stop_reason(tools.session.prompt("go")))
        await begun.wait()
        await tools.session.cancel()
        assert await turn == "cancelled"
        await closed.wait()


@pytest.mark.parametrize(
    "said, words",
    [
        (b"", "couldn't fetch"),
        (b"nonsense\r\n\r\n", "couldn't fetch"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: text/plain\r\n\r\nshort", "the connection broke"),
    ],
)
async def test_an_interrupted_response_is_an_error(harness: Harness, said: bytes, words: str) -> None:
    async with serving() as web, harness() as tools:
        private(tools)
        web.pages["/"] = said
        assert words in await tools.call_failing("fetch_url", url=web.url())


async def test_an_unreachable_server_is_an_error(harness: Harness) -> None:
    async with serving() as web:
        port = web.port
    async with harness() as tools:
        private(tools)
        assert "couldn't reach" in await tools.call_failing("fetch_url", url=f"http://127.0.0.1:{port}/")


def certificate(folder: Path) -> ssl.SSLContext:
    """Return a self-signed certificate for secure.test."""
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=secure.test"
    names = ["-addext", "subjectAltName=DNS:secure.test", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", *words.split(), *names], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_certificates_are_checked_against_the_name_not_the_address(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = certificate(tmp_path)
    async with serving(context) as web, harness() as tools:
        private(tools)
        Names(monkeypatch, secure_test="127.0.0.1", other_test="127.0.0.1")
        web.pages["/"] = plain("encrypted")
        url = web.url(host="secure.test").replace("http:", "https:")
        assert "certificate" in (await tools.call_failing("fetch_url", url=url)).lower()
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        monkeypatch.setattr(http, "make_client", lambda encrypted: httpx2.AsyncClient(verify=trusting))
        assert "encrypted" in await tools.call("fetch_url", url=url)
        told = await tools.call_failing("fetch_url", url=url.replace("secure", "other"))
        assert "couldn't reach other.test" in told and "Hostname mismatch" in told
        web.pages["/"] = leading_to(web.url(host="secure.test"))
        assert "without encryption" in await tools.call_failing("fetch_url", url=url)


async def _stop_reason(turn: Any) -> Any:
    return (await turn).stop_reason
