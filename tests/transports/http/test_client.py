"""Our client over real sockets: headers, cookies, order, reconnecting, and the errors of connecting."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import pytest
from support.link import until
from support.loop_clock import LoopClock
from support.receiver import Listener
from transports.http.agents import Keeper, Worker
from transports.http.cutting_proxy import CuttingProxy
from transports.http.web_server import Certificate, Kind, WebServer, run_server

import accord
from accord import Agent, LaunchError
from accord.transports.http.client import HttpOptions, HttpTransport, WebSocketTransport, open_url

Message = MutableMapping[str, Any]


class Request(NamedTuple):
    """A request that a server received."""

    method: str
    headers: dict[str, str]
    message: dict[str, Any]
    """The body of a POST; empty for others."""

    @property
    def call(self) -> str:
        found: str = self.message.get("method", "")
        return found


class Recorder:
    """Records the requests to an application, sets a cookie with each response, and may hold responses back."""

    def __init__(self, agent: Agent, cookie: str = "") -> None:
        self.app = accord.asgi(agent)
        self.cookie = cookie
        self.requests: list[Request] = []
        self.first_text = ""
        self.hold: Callable[[Request], Awaitable[None]] | None = None

    def calls(self, name: str) -> list[Request]:
        return [each for each in self.requests if each.call == name]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        kind = scope["type"]
        body = await self._read(receive) if scope.get("method") == "POST" else b""
        request = Request(scope.get("method", "WEBSOCKET"), headers, json.loads(body) if body else {})
        self.requests.append(request)
        given = iter([{"type": "http.request", "body": body}] if body else [])

        async def receive_again() -> Message:
            event: Message = next(given, None) or await receive()
            if event["type"] == "websocket.receive":
                self.first_text = self.first_text or event["text"]
            return event

        async def send_with_cookie(event: Message) -> None:
            if event["type"] in ("http.response.start", "websocket.accept"):
                if self.hold is not None and kind == "http":
                    await self.hold(request)
                if self.cookie:
                    event["headers"] = [*event.get("headers", []), (b"set-cookie", self.cookie.encode())]
            await send(event)

        await self.app(scope, receive_again, send_with_cookie)

    async def _read(self, receive: Any) -> bytes:
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                return body


@asynccontextmanager
async def recording(
    kind: Kind, agent: Agent | None = None, cookie: str = ""
) -> AsyncIterator[tuple[Recorder, WebServer]]:
    recorder = Recorder(agent or Worker(), cookie)
    async with run_server(recorder, kind) as server:
        yield recorder, server


@pytest.mark.req("V1-HTTP-08", "V1-HTTP-09", "V1-HTTP-20", "V1-HTTP-25")
async def test_every_request_has_the_headers_it_should(kind: Kind, version: int) -> None:
    async with (
        recording(kind) as (recorder, server),
        accord.connect(server.http, versions={version}, permissions=accord.allow_all) as agent,
    ):
        session = await agent.new_session()
        assert (await session.prompt("ask")).text == "allowed"
        call = asyncio.ensure_future(agent.request("_test/hang", {}))
        await until(lambda: recorder.calls("_test/hang"))
        call.cancel()
        await until(lambda: recorder.calls("$/cancel_request"))

    assert "acp-session-id" not in recorder.calls("$/cancel_request")[0].headers
    probe, first, *later = recorder.requests
    assert (probe.method, first.call) == ("GET", "initialize")
    assert "acp-connection-id" not in first.headers
    assert "acp-protocol-version" not in first.headers
    ids = {request.headers["acp-connection-id"] for request in later}
    assert len(ids) == 1
    assert {request.headers["acp-protocol-version"] for request in later} == {str(version)}
    prompt = recorder.calls("session/prompt")[0]
    assert prompt.headers["acp-session-id"] == prompt.message["params"]["sessionId"] == session.id
    answer = next(request for request in later if "result" in request.message)
    assert answer.headers["acp-session-id"] == session.id
    assert "acp-session-id" not in recorder.calls("session/new")[0].headers
    streams = [request.headers.get("acp-session-id") for request in later if request.method == "GET"]
    assert streams == [None, session.id]
    assert later[-1].method == "DELETE"


@pytest.mark.req("V1-WS-02")
async def test_a_websocket_starts_with_initialize(kind: Kind) -> None:
    async with recording(kind) as (recorder, server), accord.connect(server.websocket):
        assert json.loads(recorder.first_text)["method"] == "initialize"


@pytest.mark.req("V1-HTTP-04", "V1-HTTP-05")
async def test_cookies_are_returned_until_the_connection_ends(kind: Kind) -> None:
    async with recording(kind, cookie="node=7; Path=/") as (recorder, server):
        async with accord.connect(server.http) as agent:
            session = await agent.new_session()
            await session.prompt("x")
        assert "cookie" not in recorder.requests[0].headers
        assert {request.headers.get("cookie") for request in recorder.requests[1:]} == {"node=7"}
        recorder.requests.clear()
        async with accord.connect(server.websocket):
            assert "cookie" not in recorder.requests[0].headers, "it ended with the connection"


@pytest.mark.req("V1-HTTP-04")
@pytest.mark.parametrize("scheme", ["http", "websocket"])
async def test_options_reach_the_server(kind: Kind, scheme: str) -> None:
    async with recording(kind) as (recorder, server):
        options = HttpOptions(token="secret", headers={"X-Team": "blue"}, cookies={"a": "1"})
        async with accord.connect(await open_url(getattr(server, scheme), options)) as agent:
            await agent.new_session()
    for request in recorder.requests:
        assert request.headers["authorization"] == "Bearer secret"
        assert (request.headers["x-team"], request.headers["cookie"]) == ("blue", "a=1")
    assert "secret" not in repr(options)


async def test_the_answer_to_a_permission_request_overtakes_a_post_that_the_server_keeps_open(kind: Kind) -> None:
    answered = asyncio.Event()

    async def hold(request: Request) -> None:
        if request.call == "session/prompt":
            await answered.wait()
        elif "result" in request.message:
            answered.set()

    async with recording(kind) as (recorder, server):
        recorder.hold = hold
        async with accord.connect(server.http, permissions=accord.allow_all) as agent:
            session = await agent.new_session()
            assert (await session.prompt("ask")).text == "allowed"


async def test_a_ping_is_sent_when_the_server_has_accepted_every_post_before_it(kind: Kind) -> None:
    accepted = asyncio.Event()

    async def hold(request: Request) -> None:
        if request.call == "session/prompt":
            await accepted.wait()

    async with recording(kind) as (recorder, server):
        recorder.hold = hold
        async with accord.connect(server.http) as agent:
            session = await agent.new_session()
            assert (await session.prompt("x")).text == "x "
            ping = asyncio.ensure_future(agent.request("_accord/ping", {}))
            await asyncio.sleep(0)  # it is sent before the next one
            later = asyncio.ensure_future(agent.request("_test/later", {}))
            await until(lambda: recorder.calls("_test/later"))
            assert not recorder.calls("_accord/ping")
            accepted.set()
            await asyncio.wait({ping, later})
            assert isinstance(ping.exception(), accord.MethodNotFound)
            assert isinstance(later.exception(), accord.MethodNotFound)
    assert recorder.calls("_accord/ping")


async def test_calls_keep_their_order_however_long_the_queue_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"_test/{number}" for number in range(4)]
    accepted = {name: asyncio.Event() for name in names}

    async def hold(request: Request) -> None:
        if request.call in accepted:
            await accepted[request.call].wait()

    clock = LoopClock(monkeypatch)
    async with recording("uvicorn") as (recorder, server):
        recorder.hold = hold
        transport = await HttpTransport.connect(server.http)
        listener = Listener()
        transport.start(listener)
        transport.send(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
        await listener.until_heard(1)
        for name in names:
            transport.send(b'{"jsonrpc":"2.0","method":"%b","params":{}}\n' % name.encode())
        for name in names:
            await until(lambda name=name: recorder.calls(name))
            clock.advance(20)  # fast enough for each call, but not for the whole queue
            await (await HttpTransport.connect(server.http)).close()  # what was due is sent by now
            sent = [each.call for each in recorder.requests if each.call in names]
            assert sent == names[: len(sent)] and sent[-1] == name
            accepted[name].set()
        await transport.close()


class Forgetful:
    """An application whose response to `session/resume` follows five events, of which it sends one."""

    def __init__(self) -> None:
        self.resumed = asyncio.Event()
        self.noticed = asyncio.Event()
        self.streams = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        session = headers.get(b"acp-session-id")
        if scope["type"] != "http":
            return
        if scope["method"] == "POST":
            await self._answer_post(json.loads((await receive())["body"]), send)
        elif b"acp-connection-id" not in headers or scope["method"] == "DELETE":
            await _send(send, 406)
        elif session is None:
            await self._send_response(receive, send)
        elif self.streams:
            await _send(send, 410)
        else:
            self.streams += 1
            await _start_stream(send, b'id: 1\ndata: {"jsonrpc":"2.0","method":"session/update","params":{}}\n\n')
            await self.noticed.wait()
            await send({"type": "http.response.body", "body": b""})

    async def _answer_post(self, message: dict[str, Any], send: Any) -> None:
        if message["method"] == "initialize":
            names = [(b"acp-connection-id", b"c"), (b"accord-features", b"last-event-id")]
            await _send(send, 200, b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}', names)
        else:
            await _send(send, 202)
            self.resumed.set()

    async def _send_response(self, receive: Any, send: Any) -> None:
        await _start_stream(send, b": open\n\n")
        await self.resumed.wait()
        notice = b'id: 1\ndata: {"jsonrpc":"2.0","method":"_test/notice","params":{}}\n\n'
        response = b'id: 2;after=5;session=s\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
        await send({"type": "http.response.body", "body": notice + response, "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass


async def _send(send: Any, status: int, body: bytes = b"", headers: Any = ()) -> None:
    names = [*headers, (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": names})
    await send({"type": "http.response.body", "body": body})


async def _start_stream(send: Any, chunk: bytes) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


class Collector:
    """Collects what a transport delivers."""

    def __init__(self, app: Forgetful) -> None:
        self.app = app
        self.lines: list[dict[str, Any]] = []
        self.ended = asyncio.Event()

    def on_lines(self, block: bytes) -> None:
        self.lines += map(json.loads, block.splitlines())
        if self.lines[-1].get("method") == "_test/notice":
            self.app.noticed.set()  # the response is right behind it, and waits

    def on_oversized(self, head: bytes, size: int) -> None:
        raise AssertionError

    def on_end(self, error: Exception | None) -> None:
        assert error is not None
        self.ended.set()


async def test_a_response_is_not_delivered_when_the_stream_with_the_events_before_it_is_lost() -> None:
    app = Forgetful()
    async with run_server(app, "uvicorn") as server:
        transport = await HttpTransport.connect(server.http)
        received = Collector(app)
        transport.start(received)
        transport.send(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
        await until(lambda: received.lines)
        transport.send(b'{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"s"}}\n')
        await received.ended.wait()
        await transport.close()
    assert [each.get("method", each.get("id")) for each in received.lines[1:]] in (
        ["session/update", "_test/notice"],
        ["_test/notice", "session/update"],
    )


@pytest.mark.req("V1-HTTP-15", "V2-HTTP-01")
async def test_the_stream_of_a_session_is_open_before_it_is_loaded(kind: Kind, version: int) -> None:
    async with recording(kind, Keeper()) as (recorder, server):
        async with accord.connect(server.http, versions={version}) as agent:
            session = await agent.new_session()
            await session.prompt("many 200")
        recorder.requests.clear()
        async with accord.connect(server.http, versions={version}) as agent:
            again = await agent.load_session(session.id)
            text = "".join(item.text for item in again.transcript.timeline if item.role == "agent")  # type: ignore[union-attr]
            assert len(text.split()) == 200, "the whole history comes before the response"
    method = "session/load" if version == 1 else "session/resume"
    stream = [request.headers.get("acp-session-id") for request in recorder.requests].index(session.id)
    assert recorder.requests[stream].method == "GET"
    assert stream < recorder.requests.index(recorder.calls(method)[0])


async def test_a_cut_loses_and_repeats_nothing(kind: Kind, version: int) -> None:
    async with run_server(accord.asgi(Worker()), kind) as server, CuttingProxy.run(server.port) as proxy:
        url = f"http://localhost:{proxy.port}/acp"
        async with accord.connect(url, versions={version}) as agent:
            session = await agent.new_session()
            turn = session.prompt("many 400")
            seen = 0
            async for event in turn:
                if isinstance(event, accord.Text):
                    seen += 1
                    if seen in (1, 100, 250, 399):
                        proxy.cut()
            assert turn.text.split() == [str(number) for number in range(400)]
            proxy.cut()
            assert (await session.prompt("still here")).text == "still here "
    assert proxy.cuts > 5


async def test_an_idle_connection_reports_that_it_cannot_be_continued_and_that_it_is(kind: Kind) -> None:
    async with (
        run_server(accord.asgi(Worker()), kind) as server,
        CuttingProxy.run(server.port) as proxy,
        accord.connect(f"http://localhost:{proxy.port}/acp") as agent,
    ):
        session = await agent.new_session()
        await session.prompt("all streams are open")
        events = aiter(session.events())
        proxy.refuse()
        lost = await anext(events)
        proxy.accept()
        resumed = await anext(events)
        assert (await session.prompt("still here")).text == "still here "
    assert isinstance(lost, accord.Disconnected)
    assert "was lost" in lost.reason
    assert isinstance(resumed, accord.Resumed)
    assert resumed.attempts > 1


@pytest.mark.req("V1-HTTP-21")
async def test_a_connection_that_the_server_forgot_ends_with_an_error(kind: Kind) -> None:
    app = accord.asgi(Worker())
    async with run_server(app, kind) as server, accord.connect(server.http) as agent:
        session = await agent.new_session()
        app.close_connections(lambda peer: True)
        with pytest.raises(accord.ConnectionClosed):
            await session.prompt("x")


async def test_a_websocket_that_breaks_ends_the_connection_with_an_error(kind: Kind) -> None:
    agent = Worker()
    async with (
        run_server(accord.asgi(agent), kind) as server,
        CuttingProxy.run(server.port) as proxy,
        accord.connect(f"ws://localhost:{proxy.port}/acp") as connected,
    ):
        session = await connected.new_session()
        turn = asyncio.ensure_future(session.prompt("wait"))
        await agent.waiting.wait()
        proxy.cut()
        with pytest.raises(accord.ConnectionClosed, match="was lost"):
            await turn


async def test_a_server_that_ends_its_http2_connections_is_called_again() -> None:
    app = accord.asgi(Worker())
    async with run_server(app, "hypercorn", max_requests=4) as server:
        transport = await HttpTransport.connect(server.http, options=HttpOptions(http2=True))
        async with accord.connect(transport) as agent:
            session = await agent.new_session()
            for number in range(12):
                assert (await session.prompt(f"number {number}")).text == f"number {number} "


@pytest.mark.parametrize("scheme", ["http", "websocket"])
async def test_tls_with_an_own_authority(kind: Kind, certificate: Certificate, scheme: str) -> None:
    async with run_server(accord.asgi(Worker()), kind, certificate=certificate) as server:
        url = getattr(server, scheme)
        with pytest.raises(LaunchError, match="ca_file") as caught:
            await open_url(url)
        assert caught.value.stage == "tls"
        transport = await open_url(url, HttpOptions(ca_file=certificate.cert))
        async with accord.connect(transport) as agent:
            session = await agent.new_session()
            assert (await session.prompt("x")).text == "x "


@asynccontextmanager
async def answering(status: int, headers: str = "") -> AsyncIterator[int]:
    """A server that gives every request the same status. Yields its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize(
    "status, stage, words",
    [
        (401, "auth", "token"),
        (403, "auth", "denies"),
        (404, "http", "path"),
        (503, "http", "later"),
        (308, "http", "redirects to /there"),
        (200, "http", "doesn't speak ACP"),
    ],
)
async def test_a_status_is_an_error_that_says_what_to_do(scheme: str, status: int, stage: str, words: str) -> None:
    async with answering(status, "Location: /there\r\n") as port:
        with pytest.raises(LaunchError, match=words) as caught:
            await open_url(f"{scheme}://127.0.0.1:{port}/acp")
    assert caught.value.stage == stage


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_addresses_that_lead_nowhere(scheme: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # it doesn't listen, and nobody else can take its port
        with pytest.raises(LaunchError, match="nothing listens") as caught:
            await open_url(f"{scheme}://127.0.0.1:{bound.getsockname()[1]}/acp")
    assert caught.value.stage == "connect"
    with pytest.raises(LaunchError, match=r"host nowhere\.invalid") as caught:
        await open_url(f"{scheme}://nowhere.invalid/acp")
    assert caught.value.stage == "dns"


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_server_that_accepts_and_never_responds_is_given_up(scheme: str) -> None:
    hung_up = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        hung_up.set()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LaunchError, match="couldn't connect") as caught:
            await open_url(f"{scheme}://127.0.0.1:{port}/acp", HttpOptions(connect_seconds=0.1))
        await hung_up.wait()
    assert caught.value.stage == "connect"


@pytest.mark.parametrize("kind_of_transport", [HttpTransport, WebSocketTransport])
async def test_a_proxy_is_used(kind_of_transport: Any) -> None:
    async with answering(407) as port:
        options = HttpOptions(proxy=f"http://127.0.0.1:{port}")
        scheme = "http" if kind_of_transport is HttpTransport else "ws"
        with pytest.raises(LaunchError, match="proxy"):
            await kind_of_transport.connect(f"{scheme}://agent.example/acp", options=options)


@pytest.mark.parametrize(
    ("scheme", "missing"),
    [("http", "httpx2"), ("https", "httpx2"), ("https", "h2"), ("ws", "httpx2"), ("ws", "wsproto"), ("wss", "wsproto")],
)
async def test_a_missing_part_of_the_extra_is_reported_with_its_command(
    scheme: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(LaunchError, match=r"pip install 'accord-acp\[http\]'"):
        await open_url(f"{scheme}://127.0.0.1:1/acp")
