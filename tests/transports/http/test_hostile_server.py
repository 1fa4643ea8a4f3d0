"""Servers and proxies that are busy, slow or hostile, as our client sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from support.link import until
from transports.http.agents import Worker
from transports.http.web_server import Kind, run_server

import accord
from accord import LaunchError
from accord.transports.http.client import HttpOptions, HttpTransport

INITIALIZED = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'


class BusyProxy:
    """Refuses some POSTs a few times, as a proxy does whose server doesn't respond."""

    def __init__(self, app: Any, is_refused: Callable[[dict[str, Any]], bool], status: int, times: int) -> None:
        self.app = app
        self.is_refused = is_refused
        self.status = status
        self.left = times
        self.keys: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        if self.is_refused(json.loads(body)):
            self.keys.append(dict(scope["headers"]).get(b"idempotency-key", b""))
            if self.left:
                self.left -= 1
                await respond(send, self.status, b"<h1>Bad gateway</h1>")
                return
        given = iter([{"type": "http.request", "body": body}])

        async def receive_again() -> Any:
            return next(given, None) or await receive()

        await self.app(scope, receive_again, send)


async def respond(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def is_answer(message: dict[str, Any]) -> bool:
    return "result" in message


def is_cancel(message: dict[str, Any]) -> bool:
    return message.get("method") == "session/cancel"


@pytest.mark.parametrize("status", [429, 502, 503])
async def test_an_answer_that_a_proxy_refuses_is_sent_again(kind: Kind, status: int) -> None:
    proxy = BusyProxy(accord.asgi(Worker()), is_answer, status, times=3)
    async with run_server(proxy, kind) as server, accord.connect(server.http, permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        assert (await session.prompt("ask")).text == "allowed"
    assert len(proxy.keys) == 4
    assert len(set(proxy.keys)) == 1, "the server would recognize it"


async def test_a_cancellation_that_a_proxy_refuses_is_sent_again(kind: Kind) -> None:
    worker = Worker()
    proxy = BusyProxy(accord.asgi(worker), is_cancel, 502, times=2)
    async with run_server(proxy, kind) as server, accord.connect(server.http) as agent:
        session = await agent.new_session()
        turn = session.prompt("wait")
        running = asyncio.ensure_future(_finish(turn))
        await worker.waiting.wait()
        await session.cancel()
        assert await running == "cancelled"


async def _finish(turn: Any) -> str:
    return str((await turn).stop_reason)


async def test_an_answer_that_is_refused_for_too_long_ends_the_connection(kind: Kind) -> None:
    proxy = BusyProxy(accord.asgi(Worker()), is_answer, 502, times=1_000_000)
    async with run_server(proxy, kind) as server:
        transport = await HttpTransport.connect(server.http, options=HttpOptions(resume_seconds=0.0))
        async with accord.connect(transport, permissions=accord.allow_all) as agent:
            session = await agent.new_session()
            with pytest.raises(accord.ConnectionClosed, match="502"):
                await session.prompt("ask")


class Receiver:
    """Collects what a transport delivers."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    def on_lines(self, block: bytes) -> None:
        self.lines.append(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        raise AssertionError

    def on_end(self, error: Exception | None) -> None:
        self.ended.set_result(error)


class Endless:
    """An application whose responses to POSTs never end, one way or another."""

    def __init__(self, answer: Callable[[Any], Awaitable[None]]) -> None:
        self.answer = answer
        self.tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] != "POST":
            has_connection = b"acp-connection-id" in dict(scope["headers"])
            if not has_connection or scope["method"] == "DELETE":
                await respond(send, 406, b"")
                return
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            )
            await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
        elif b'"initialize"' in (await receive())["body"]:
            headers = [(b"content-type", b"application/json"), (b"acp-connection-id", b"c")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": INITIALIZED})
            return
        else:
            task = asyncio.ensure_future(self.answer(send))
            self.tasks.add(task)
        while (await receive())["type"] != "http.disconnect":
            pass
        for task in self.tasks:
            task.cancel()


async def say_nothing(send: Any) -> None:
    await asyncio.Event().wait()


async def send_slowly(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    with suppress(OSError):
        while True:
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0.001)


async def send_much(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    with suppress(OSError):
        while True:
            await send({"type": "http.response.body", "body": b" " * 1000, "more_body": True})
            await asyncio.sleep(0)


async def send_compressed(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-encoding", b"gzip")]})
    await send({"type": "http.response.body", "body": b"\x1f\x8b", "more_body": True})


async def find_end(answer: Callable[[Any], Awaitable[None]], options: HttpOptions) -> Exception | None:
    """Return why the connection ends on the second response; None if a limit ended it on the first one already."""
    async with run_server(Endless(answer), "uvicorn") as server:
        transport = await HttpTransport.connect(server.http, options=options)
        transport.max_message_bytes = 10_000
        received = Receiver()
        transport.start(received)
        transport.send(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
        await until(lambda: received.lines or received.ended.done())
        error = None
        if not received.ended.done():
            transport.send(b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}\n')
            error = await received.ended
        await transport.close()
    return error


@pytest.mark.parametrize(
    "answer, words", [(send_much, "more than 20000 bytes"), (send_compressed, "compressed")], ids=["much", "compressed"]
)
async def test_the_response_to_a_post_has_limits(answer: Callable[[Any], Awaitable[None]], words: str) -> None:
    error = await find_end(answer, HttpOptions())
    assert isinstance(error, accord.ConnectionClosed)
    assert words in str(error)


@pytest.mark.parametrize(
    "answer, limit, words",
    [
        (say_nothing, "response_seconds", "didn't respond to a POST within {} s"),
        (send_slowly, "body_seconds", "didn't finish its response to a POST within {} s"),
    ],
    ids=["silent", "slow"],
)
async def test_the_response_to_a_post_has_to_come_in_time(
    answer: Callable[[Any], Awaitable[None]], limit: str, words: str
) -> None:
    for seconds in (0.2, 2.0, 20.0):  # longer if this machine is too slow for the response that isn't late
        error = await find_end(answer, HttpOptions(**{limit: seconds}))
        if error is not None:
            break
    assert isinstance(error, accord.ConnectionClosed)
    assert words.format(f"{seconds:g}") in str(error)


async def test_the_reason_of_a_refusal_is_not_read_forever() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 401 X\r\n\r\n")
            while True:
                writer.write(b"no " * 1000)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LaunchError, match="token"):
            await HttpTransport.connect(f"http://127.0.0.1:{port}/acp")
