"""A provider on this machine: real sockets, and the real wire formats of Anthropic, OpenAI and Google.

A test sets the next answers; the requested path decides their wire format. Requests are recorded, and
whether the client hung up before the end."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from coder.providers import anthropic, bedrock, chat, google, ollama, openrouter, responses
from coder.providers.script import Answer, Cuts, End, Holds, Planned, Refusal, Step, Stops, Usage

WIRES = {
    "anthropic": anthropic,
    "chat": chat,
    "responses": responses,
    "google": google,
    "openrouter": openrouter,
    "ollama": ollama,
    "bedrock": bedrock,
}
REASONS = {401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 529: "Overloaded"}


@dataclass
class Asked:
    """One received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    wire: str
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client hung up before the answer was complete."""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the answer is complete."""


class FakeProvider:
    """A fake provider, used as `async with FakeProvider() as fake`. With no answer planned, it sends `Hello.`"""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.models = ["one", "two"]
        """The names in the list of models."""
        self.documents: dict[str, Any] = {}
        """Answers of the server's own API, by path."""
        self._planned: deque[Planned] = deque()
        self._lists: deque[Refusal] = deque()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._more = asyncio.Condition()
        self._go_on = asyncio.Event()

    # -- planned answers

    def says(self, *steps: Step, end: End | None = None, usage: Usage | None = None) -> None:
        """Set the next answer."""
        self._planned.append(Answer(list(steps), end, usage or Usage()))

    def refuses(
        self, status: int, message: str = "no", *, type: str = "", body: str | None = None, **more: str
    ) -> None:
        """Answer the next request with an HTTP error. Header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in more.items()}
        self._planned.append(Refusal(status, message, type, named, body))

    def lists(self, status: int, **headers: str) -> None:
        """Answer the next request for the list of models with this status."""
        self._lists.append(Refusal(status, headers=headers))

    def goes_on(self) -> None:
        """Resume answers that are held."""
        self._go_on.set()

    async def is_asked(self, count: int = 1) -> Asked:
        """Wait for a number of requests, and return the last one."""
        async with self._more:
            await self._more.wait_for(lambda: len(self.asked) >= count)
        return self.asked[count - 1]

    # -- its address

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def base_url(self, wire: str) -> str:
        """Return the base URL for a client of a wire format."""
        paths = {"anthropic": "", "google": "", "openrouter": "/api/v1", "copilot": ""}
        return f"{self.url}{paths.get(wire, '/v1')}"

    def environment(self) -> dict[str, str]:
        """Return the environment variables that make a process use this provider."""
        return {
            "ANTHROPIC_BASE_URL": self.base_url("anthropic"),
            "ANTHROPIC_API_KEY": "key-of-anthropic",
            "OPENAI_BASE_URL": self.base_url("chat"),
            "OPENAI_API_KEY": "key-of-openai",
            "GOOGLE_GEMINI_BASE_URL": self.base_url("google"),
            "GEMINI_API_KEY": "key-of-google",
        }

    async def __aenter__(self) -> FakeProvider:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    # -- one connection

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _request(reader)) is not None:
                async with self._more:
                    self.asked.append(asked)
                    self._more.notify_all()
                await self._answer(asked, reader, writer)
                asked.answered.set()
        except (ConnectionError, _Broken):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if asked.path in self.documents:
            await _whole(writer, 200, json.dumps(self.documents[asked.path]), {})
            return
        if asked.path == "/api/show":
            await _whole(writer, 404, "{}", {})
            return
        if asked.method == "GET":
            if self._lists:
                refusal = self._lists.popleft()
                await _whole(writer, refusal.status, "{}", refusal.headers)
                return
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            await _whole(writer, 200, json.dumps(listed), {})
            return
        wire = WIRES[asked.wire]
        planned = self._planned.popleft() if self._planned else Answer([_hello()])
        if isinstance(planned, Refusal):
            body = planned.body if planned.body is not None else json.dumps(wire.refusal(planned))
            await _whole(writer, planned.status, body, planned.headers)
            return
        kind = getattr(wire, "CONTENT_TYPE", "text/event-stream")
        lines = ["HTTP/1.1 200 OK", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in planned.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        try:
            for part in _encode_answer(wire, planned, asked):
                if isinstance(part, bytes):
                    await _chunk(writer, part)
                elif isinstance(part, Holds):
                    await self._hold(reader)
                elif isinstance(part, Cuts):
                    raise _Broken
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        except ConnectionError:
            asked.gone.set()
            raise
        except _Gone:
            asked.gone.set()
            raise _Broken from None

    async def _hold(self, reader: asyncio.StreamReader) -> None:
        """Wait for the client to hang up, or for the test to resume the answer."""
        hung_up = asyncio.create_task(reader.read(1))
        going_on = asyncio.create_task(self._go_on.wait())
        done, waiting = await asyncio.wait({hung_up, going_on}, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        if hung_up in done:
            with suppress(ConnectionError):
                assert not hung_up.result(), "the client wrote into the answer"
            raise _Gone


class _Broken(Exception):
    """The connection ends."""


class _Gone(Exception):
    """The client hung up."""


def _hello() -> Step:
    from coder.providers.script import Says

    return Says("Hello.")


def _encode_answer(wire: Any, planned: Answer, asked: Asked) -> Iterator[bytes | Holds | Cuts]:
    """Yield the bytes of an answer, and the events between them."""
    for part in wire.spell(planned, asked.body):
        if isinstance(part, Stops):
            return
        yield part


async def _request(reader: asyncio.StreamReader) -> Asked | None:
    """Read the next request of a connection, or return None if it has ended."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        data = b""
        while size := int((await reader.readline()).split(b";")[0], 16):
            data += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, _decode(data, headers.get("content-type", "")), _wire(path))


def _decode(data: bytes, content_type: str) -> Any:
    if "form-urlencoded" in content_type:
        return dict(parse_qsl(data.decode()))
    return json.loads(data) if data else None


def _wire(path: str) -> str:
    for mark, wire in (
        ("/messages", "anthropic"),
        ("/api/v1/chat/completions", "openrouter"),
        ("/chat/completions", "chat"),
        ("/api/chat", "ollama"),
        ("/converse-stream", "bedrock"),
        ("/responses", "responses"),
        ("GenerateContent", "google"),
    ):
        if mark in path:
            return wire
    return "chat"


async def _whole(writer: asyncio.StreamWriter, status: int, body: str, headers: dict[str, str]) -> None:
    data = body.encode()
    kind = "application/json" if body[:1] in "{[" else "text/html"
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'OK' if status < 400 else 'Error')}", f"content-type: {kind}"]
    lines += [f"content-length: {len(data)}", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
    await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()
