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

from accord.coder.tools import fetching
from accord.model.requests import PermissionRequest
from accord.policy.rule import Rule

from .conftest import ALLOWED, Bench, Benches
from .serving import answer, leading_to, plain, serving

HTML = b"""<!DOCTYPE html><html><head><title>A page</title><style>p{}</style><script>alert(1)</script></head>
<body><h1>Head</h1><p>Some <b>bold</b> text and <a href="https://example.com/x">a link</a>.</p>
<ul><li>one<li>two</ul><pre>  code
    here</pre></body></html>"""


def private(desk: Bench) -> Bench:
    """Lets this machine be fetched from, which is where the server is."""
    desk.agent.allow_private = True
    return desk


async def test_a_page_is_fetched_and_made_readable(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/a?b=c"] = answer(HTML, "Content-Type: text/html")
        told = await desk.told("fetch_url", url=web.url("/a?b=c#part"))
        assert told == (
            f"{web.url('/a?b=c')}: A page\n\n# Head\n\nSome bold text and a link (https://example.com/x).\n\n"
            "- one\n- two\n\n```\n  code\n    here\n```"
        )
        shown = desk.shown
        assert (shown.title, shown.kind, shown.status) == (f"Fetch {web.url('/a?b=c#part')}", "fetch", "completed")
        assert "Some bold text" in desk.shown_text
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
async def test_text_comes_as_it_is(bench: Benches, version: int, kind: str, body: bytes, expected: str) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = answer(body, *([f"Content-Type: {kind}"] if kind else []))
        assert (await desk.told("fetch_url", url=web.url())).endswith(f"\n\n{expected}")


async def test_a_long_page_comes_in_parts(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = answer(
            b"".join(b"line %d\n" % number for number in range(1, 4501)), "Content-Type: text/plain"
        )
        first = await desk.told("fetch_url", url=web.url())
        assert first.endswith("line 2000\n[lines 1 to 2000 of 4500; line=2001 gives what follows]")
        last = await desk.told("fetch_url", url=web.url(), line=4001)
        assert "\n\nline 4001\n" in last and last.endswith("line 4500")
        assert (await desk.told("fetch_url", url=web.url(), line=4501)).endswith("[the text has only 4,500 lines]")


async def test_what_is_no_text_is_refused_with_its_type_and_size(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = answer(b"\x89PNG" * 500, "Content-Type: image/png")
        assert "is image/png of 2.0 kB, and no text" in await desk.fault("fetch_url", url=web.url())
        web.pages["/"] = answer(b"\0\1\2")
        assert "is no text" in await desk.fault("fetch_url", url=web.url())


async def test_an_error_of_the_server_is_told_with_what_it_says(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        told = await desk.fault("fetch_url", url=web.url("/missing"))
        assert told.startswith("The server answered 404 Not Found.") and "nothing here" in told


async def test_redirects_are_followed(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages |= {"/1": leading_to("/2"), "/2": leading_to(web.url("/3"), "308 Permanent Redirect")}
        web.pages["/3"] = plain("arrived")
        assert await desk.told("fetch_url", url=web.url("/1")) == f"{web.url('/3')}\n\narrived"
        web.pages["/round"] = leading_to("/round")
        web.requests.clear()
        assert "more than 5 times" in await desk.fault("fetch_url", url=web.url("/round"))
        assert len(web.requests) == 6


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://example.com/", "http://user@127.0.0.1/", "http://[::1", "gopher://127.0.0.1/_"],
)
async def test_a_redirect_to_what_cannot_be_fetched_is_not_followed(bench: Benches, location: str) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = leading_to(location)
        await desk.fault("fetch_url", url=web.url())
        assert len(web.requests) == 1


class Names:
    """Has names mean addresses, and counts how often each is looked up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **names: str) -> None:
        self.names = {name.replace("_", "."): address for name, address in names.items()}
        self.asked: list[str] = []
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", self.look_up)

    async def look_up(self, host: str, port: int, **how: Any) -> list[Any]:
        self.asked.append(host)
        if host not in self.names:
            raise socket.gaierror(8, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.names[host], port))]


async def test_a_redirect_to_this_machine_is_refused(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.coder.tools.addresses.is_public", lambda address: address == "127.0.0.1")
    async with serving() as web, bench() as desk:
        names = Names(monkeypatch, public_test="127.0.0.1", inner_test="10.0.0.1")
        web.pages["/"] = leading_to(web.url("/secret", host="inner.test"))
        told = await desk.fault("fetch_url", url=web.url("/", host="public.test"))
        assert "inner.test (10.0.0.1) is not an address of the public internet" in told
        assert names.asked == ["public.test", "inner.test"]
        assert len(web.requests) == 1


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        names = Names(monkeypatch, rebinding_test="127.0.0.1")
        web.pages["/"] = plain("pinned")
        assert "pinned" in await desk.told("fetch_url", url=web.url(host="rebinding.test"))
        assert names.asked == ["rebinding.test"]
        assert f"\r\nHost: rebinding.test:{web.port}\r\n" in web.requests[0]


async def test_nothing_of_this_machine_is_fetched_unless_it_is_allowed(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as web, bench() as desk:
        web.pages["/"] = plain("private")
        for host in ("127.0.0.1", "localhost", "2130706433", "127.1"):
            assert "public internet" in await desk.fault("fetch_url", url=web.url(host=host))
        assert web.requests == []
        monkeypatch.setenv("ACCORD_ALLOW_PRIVATE_URLS", "1")
        assert "private" in await desk.told("fetch_url", url=web.url())


async def test_proxies_of_the_environment_are_not_used(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as proxy, serving() as web, bench() as desk:
        private(desk)
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        monkeypatch.setenv("ALL_PROXY", proxy.url())
        web.pages["/"] = plain("direct")
        assert "direct" in await desk.told("fetch_url", url=web.url())
        assert proxy.requests == []


async def test_a_page_is_fetched_only_after_asking(bench: Benches) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return False

    async with serving() as web, bench(rules=(), permissions=permissions) as desk:
        private(desk)
        assert "did not allow" in await desk.fault("fetch_url", url=web.url())
        assert web.requests == []
        assert len(asked) == 1 and web.url() in str(asked[0].tool_call)
        assert "only http and https" in await desk.fault("fetch_url", url="file:///etc/passwd")
        assert len(asked) == 1


@pytest.mark.parametrize("effect, words", [("deny", "not allowed"), ("ask", "wants to be asked about")])
async def test_a_redirect_does_not_lead_around_the_rules(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, effect: Any, words: str
) -> None:
    rules = (Rule(effect=effect, url=("evil.test",)), *ALLOWED)
    async with serving() as web, bench(rules=rules) as desk:
        private(desk)
        Names(monkeypatch, good_test="127.0.0.1", evil_test="127.0.0.1")
        web.pages["/"] = leading_to(web.url("/x", host="evil.test"))
        assert words in await desk.fault("fetch_url", url=web.url(host="good.test"))
        assert len(web.requests) == 1


async def test_a_page_without_end_is_cut_off(bench: Benches) -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 99_999 + b"\n")
            await writer.drain()
            sent += 100_000

    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = endless
        told = await desk.told("fetch_url", url=web.url())
        assert told.endswith("[the page is longer than 5.0 MB; the rest was not fetched]")
        assert len(told) < 62_000
        assert sent < 50_000_000


async def test_few_bytes_that_unpack_to_many_are_cut_off(bench: Benches) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        bomb = gzip.compress(b"\n" * 20_000_000, 9)
        web.pages["/"] = answer(bomb, "Content-Type: text/plain", "Content-Encoding: gzip")
        assert "longer than 5.0 MB" in await desk.told("fetch_url", url=web.url())
        web.pages["/"] = answer(gzip.compress(b"small"), "Content-Type: text/plain", "Content-Encoding: gzip")
        assert (await desk.told("fetch_url", url=web.url())).endswith("small")
        web.pages["/"] = answer(b"no gzip", "Content-Type: text/plain", "Content-Encoding: gzip")
        assert "not packed as it says" in await desk.fault("fetch_url", url=web.url())
        web.pages["/"] = answer(b"x", "Content-Type: text/plain", "Content-Encoding: br")
        assert "was not asked for" in await desk.fault("fetch_url", url=web.url())


async def test_a_server_that_says_nothing_is_given_up(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.2)

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = silence
        assert "did not come within" in (told := await desk.fault("fetch_url", url=web.url())) or "Timeout" in told


async def test_being_cancelled_closes_the_connection(bench: Benches) -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbeginning")
        await writer.drain()
        begun.set()
        await reader.read()
        closed.set()

    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = slow
        desk.start_of("fetch_url", {"url": web.url()})
        turn = asyncio.ensure_future(_stop_reason(desk.session.prompt("go")))
        await begun.wait()
        await desk.session.cancel()
        assert await turn == "cancelled"
        await closed.wait()


@pytest.mark.parametrize(
    "said, words",
    [
        (b"", "cannot be fetched"),
        (b"nonsense\r\n\r\n", "cannot be fetched"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: text/plain\r\n\r\nshort", "broke off"),
    ],
)
async def test_a_server_that_breaks_off_is_told(bench: Benches, said: bytes, words: str) -> None:
    async with serving() as web, bench() as desk:
        private(desk)
        web.pages["/"] = said
        assert words in await desk.fault("fetch_url", url=web.url())


async def test_a_server_that_is_not_there_is_told(bench: Benches) -> None:
    async with serving() as web:
        port = web.port
    async with bench() as desk:
        private(desk)
        assert "cannot be reached" in await desk.fault("fetch_url", url=f"http://127.0.0.1:{port}/")


def certificate(folder: Path) -> ssl.SSLContext:
    """A server's certificate for secure.test, signed by nobody else."""
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=secure.test"
    names = ["-addext", "subjectAltName=DNS:secure.test", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", *words.split(), *names], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_certificates_are_checked_against_the_name_not_the_address(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = certificate(tmp_path)
    async with serving(context) as web, bench() as desk:
        private(desk)
        Names(monkeypatch, secure_test="127.0.0.1", other_test="127.0.0.1")
        web.pages["/"] = plain("encrypted")
        url = web.url(host="secure.test").replace("http:", "https:")
        assert "certificate" in (await desk.fault("fetch_url", url=url)).lower()
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        monkeypatch.setattr(fetching, "_client", lambda encrypted: httpx2.AsyncClient(verify=trusting))
        assert "encrypted" in await desk.told("fetch_url", url=url)
        told = await desk.fault("fetch_url", url=url.replace("secure", "other"))
        assert "other.test cannot be reached" in told and "Hostname mismatch" in told
        web.pages["/"] = leading_to(web.url(host="secure.test"))
        assert "not encrypted" in await desk.fault("fetch_url", url=url)


async def _stop_reason(turn: Any) -> Any:
    return (await turn).stop_reason
