"""A server in the test's process, and clients that speak raw HTTP/1.1 to it: the test decides about every byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import accord
from accord.agent.side import AgentSide
from accord.config.served_agents import ServedAgents
from accord.hub.principal import Principal, Role
from accord.server.server import Server, ServerOptions
from accord.server.tokens import TokenFile
from accord.transports.base import Transport
from accord.transports.memory import pair

PING = 9
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


class AgentBackend:
    """Serves every connection with the same agent object."""

    def __init__(self, agent: accord.Agent) -> None:
        self.agent = agent
        self.principals: list[Principal] = []
        self.closed_with: float | None = None
        self._serving: set[asyncio.Future[None]] = set()

    async def accept(self, transport: Transport, principal: Principal) -> None:
        self.principals.append(principal)
        await AgentSide(self.agent, transport).serve()

    async def close(self, *, drain_seconds: float = 0) -> None:
        self.closed_with = drain_seconds


class MemorySpawner:
    """Connects the hub to an agent object."""

    def __init__(self, agent: accord.Agent) -> None:
        self._agent = agent
        self._serving: set[asyncio.Task[None]] = set()

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        ours, theirs = pair()
        task = asyncio.create_task(AgentSide(self._agent, theirs).serve())
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return ours

    def describe(self) -> str:
        return "an agent in memory"


class Echo(accord.Agent):
    """Repeats the prompt."""

    async def prompt(self, turn: accord.Turn) -> None:
        await turn.say(f"You said: {turn.text}")


class Response(NamedTuple):
    """A response to a raw request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


class Served:
    """A running server, with the files of one directory."""

    def __init__(self, server: Server, folder: Path, port: int) -> None:
        self.server = server
        self.port = port
        self.tokens = TokenFile(folder / "tokens.json")
        self.local = ServedAgents(folder / "local.json")
        self.access = folder / "access.jsonl"
        self.audit = folder / "audit.jsonl"

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def local_token(self) -> str:
        token = self.local.find_token(self.url)
        assert token is not None
        return token

    def token(self, name: str, role: Role = "driver") -> str:
        return self.tokens.create(name, role)

    async def open(self) -> RawClient:
        return RawClient(*await asyncio.open_connection("127.0.0.1", self.port))

    async def exchange(self, data: bytes) -> Response:
        """Send bytes on a new connection, and read one response."""
        client = await self.open()
        try:
            client.write(data)
            return await client.response()
        finally:
            await client.close()

    async def request(
        self, method: str, path: str, *, token: str | None = None, body: Any = None, **headers: str
    ) -> Response:
        """Send an ordinary request. Headers are given with underscores."""
        return await self.exchange(self.encode(method, path, token=token, body=body, **headers))

    def encode(self, method: str, path: str, *, token: str | None = None, body: Any = None, **headers: str) -> bytes:
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = {"Host": f"127.0.0.1:{self.port}"}
        if token is not None:
            lines["Authorization"] = f"Bearer {token}"
        if body is not None:
            lines |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        lines |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + content

    def upgrade(self, path: str = "/acp", *, token: str | None = None, **headers: str) -> bytes:
        """Encode the request that opens a WebSocket."""
        return self.encode(
            "GET",
            path,
            token=token,
            connection="Upgrade",
            upgrade="websocket",
            sec_websocket_version="13",
            sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==",
            **headers,
        )

    async def initialize(self, token: str) -> str:
        """Open a connection by HTTP, and return its id."""
        response = await self.request("POST", "/acp", token=token, body=INITIALIZE)
        assert response.status == 200, response
        return response.headers["acp-connection-id"]

    def audit_entries(self, event: str) -> list[dict[str, Any]]:
        entries = [json.loads(line) for line in self.audit.read_text().splitlines()]
        return [entry for entry in entries if entry["event"] == event]


class RawClient:
    """One TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def response(self) -> Response:
        """Read one response, with its body if it has a length."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", "0"))
        return Response(int(first.split()[1]), headers, await self.reader.readexactly(length))

    async def frame(self) -> tuple[int, bytes]:
        """Read one WebSocket frame that isn't a ping: its opcode and content."""
        while True:
            first, second = await self.reader.readexactly(2)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            content = await self.reader.readexactly(size)
            if first & 0x0F != PING:
                return first & 0x0F, content

    def write_frame(self, data: bytes, *, first: int = 0x81) -> None:
        """Write one WebSocket frame, masked with zeros."""
        size = len(data)
        if size < 126:
            length = bytes([0x80 | size])
        elif size < 1 << 16:
            length = bytes([0x80 | 126]) + size.to_bytes(2, "big")
        else:
            length = bytes([0x80 | 127]) + size.to_bytes(8, "big")
        self.write(bytes([first]) + length + bytes(4) + data)

    async def read_to_end(self) -> bytes:
        """Read until the server closes the connection."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@asynccontextmanager
async def serving(folder: Path, backend: Any = None, **options: Any) -> AsyncIterator[Served]:
    """Run a server while the context lasts. Options are those of `ServerOptions`; the port is any free one."""
    address = options.pop("address", ServerOptions().address._replace(port=0))
    chosen = ServerOptions(
        address=address, access_log=str(folder / "access.jsonl"), audit_log=str(folder / "audit.jsonl"), **options
    )
    server = Server(
        backend if backend is not None else AgentBackend(Echo()),
        chosen,
        token_file=TokenFile(folder / "tokens.json"),
        served=ServedAgents(folder / "local.json"),
    )
    listening = asyncio.Event()
    running = asyncio.create_task(server.run(listening.set, signals=False))
    waiting = asyncio.create_task(listening.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        waiting.cancel()
        await running
    try:
        yield Served(server, folder, int(server.url.split(":")[2].partition("/")[0]))
    finally:
        server.stop()
        server.stop()
        await running
