"""The load for servers over WebSocket, and what is measured: the same for every server. See `remote.py`."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import signal
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

SLOW_UPDATES, SLOW_BYTES = 200, 100_000
"""What a client is sent that doesn't read: more than the buffers of a connection hold."""
BURST = 2
"""How many times as many updates are streamed as fast as possible."""
TIMEOUT_SECONDS = 600.0


class Load(NamedTuple):
    """The size of a measurement."""

    connections: int
    sessions: int
    updates: int
    interval: float

    @property
    def total(self) -> int:
        return self.connections * self.sessions


# -- the client


class Message(msgspec.Struct):
    """Those parts of a message that the client needs."""

    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: Any = None
    error: Any = None


class Update(msgspec.Struct, rename="camel"):
    """The params of an update with text; other kinds have none."""

    session_id: str
    update: dict[str, Any]


DECODE = msgspec.json.Decoder(Message).decode
DECODE_UPDATE = msgspec.json.Decoder(Update).decode


class WebSocketClient(asyncio.Protocol):
    """One WebSocket connection, with no more than the load needs: text messages, pings, and requests by id."""

    def __init__(self, url: str, token: str, on_update: Callable[[str, str], None]) -> None:
        self._host = url.split("/")[2]
        self._path = "/" + url.split("/", 3)[3]
        self._token = token
        self._on_update = on_update
        self._buffer = bytearray()
        self._is_open = asyncio.get_running_loop().create_future()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._transport: asyncio.Transport

    @classmethod
    async def open(cls, url: str, token: str, on_update: Callable[[str, str], None]) -> WebSocketClient:
        client = cls(url, token, on_update)
        host, port = client._host.split(":")
        await asyncio.get_running_loop().create_connection(lambda: client, host, int(port))
        await client._is_open
        await client.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        return client

    def request(self, method: str, params: Any) -> asyncio.Future[Any]:
        self._last_id += 1
        answer = self._waiting[self._last_id] = asyncio.get_running_loop().create_future()
        self._send(1, msgspec.json.encode({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}))
        return answer

    async def new_session(self, cwd: str) -> str:
        answer = await self.request("session/new", {"cwd": cwd, "mcpServers": []})
        return str(answer["sessionId"])

    def prompt(self, session: str, text: str) -> asyncio.Future[Any]:
        return self.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def stop_reading(self) -> None:
        self._transport.pause_reading()

    def close(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {self._path} HTTP/1.1",
            f"Host: {self._host}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            f"Authorization: Bearer {self._token}",
        ]
        transport.write("\r\n".join([*lines, "", ""]).encode())

    def connection_lost(self, error: Exception | None) -> None:
        for future in (self._is_open, *self._waiting.values()):
            if not future.done():
                future.set_exception(ConnectionError("the server closed the connection"))
                future.exception()  # nobody may be waiting for it

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._is_open.done():
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self._is_open.set_exception(ConnectionError(head.split(b"\r\n")[0].decode()))
                return
            self._is_open.set_result(None)
            self._buffer = rest
        while frame := self._next_frame():
            self._take(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        start, size = 2, buffer[1] & 0x7F
        if size >= 126:
            start, form = (4, ">H") if size == 126 else (10, ">Q")
            if len(buffer) < start:
                return None
            (size,) = struct.unpack_from(form, buffer, 2)
        if len(buffer) < start + size:
            return None
        assert buffer[0] & 0x80, "messages in several frames aren't supported"
        frame = buffer[0] & 0x0F, bytes(buffer[start : start + size])
        del buffer[: start + size]
        return frame

    def _take(self, opcode: int, content: bytes) -> None:
        if opcode == 9:
            self._send(10, content)
        if opcode != 1:
            return
        message = DECODE(content)
        if message.method == "session/update":
            params = DECODE_UPDATE(message.params)
            if params.update["sessionUpdate"] == "agent_message_chunk":
                text = params.update["content"]["text"]
                if text:  # Qwen Code ends a turn with an empty one
                    self._on_update(params.session_id, text)
        elif message.method is None and message.id is not None:
            answer = self._waiting.pop(message.id)
            if message.error is None:
                answer.set_result(message.result)
            else:
                answer.set_exception(RuntimeError(str(message.error)))

    def _send(self, opcode: int, content: bytes) -> None:
        size = len(content)
        length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size)
        # A mask of zeros leaves the content as it is.
        self._transport.write(bytes([0x80 | opcode]) + length + b"\0\0\0\0" + content)


class Streams:
    """Updates received in the current streams, by session."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.disordered: set[str] = set()
        self.latencies: list[float] = []

    def clear(self) -> None:
        self.counts, self.disordered, self.latencies = {}, set(), []

    def take(self, session: str, text: str) -> None:
        number, sent, _ = text.split(" ", 2)
        if int(number) != self.counts.get(session, 0):
            self.disordered.add(session)
        self.counts[session] = int(number) + 1
        self.latencies.append(time.monotonic() - float(sent))


# -- a server


class Server(NamedTuple):
    """A running server."""

    url: str
    token: str
    pid: int
    cwd: str

    def cpu(self) -> float:
        """Return the CPU seconds of the server and the processes it has started."""
        return sum(map(_cpu, _family(self.pid)))

    def memory(self) -> int:
        """Return the bytes of the server and the processes it has started. Shared pages count in part (Pss)."""
        return sum(map(_memory, _family(self.pid)))


def _family(pid: int) -> list[int]:
    children = _read(f"/proc/{pid}/task/{pid}/children").split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process, and of its children that have ended."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    found = re.search(r"^Pss: +(\d+) kB", _read(f"/proc/{pid}/smaps_rollup"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _read(path: str) -> str:
    """Read a file about a process; empty if it has ended."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


RunServer = Callable[[], AbstractAsyncContextManager[Server]]
URL = r"(https?://\S+/acp)"
ACCORD_OUTPUT = {"url": URL, "token": r"Token +(\S+)"}
"""What `accord serve --show-token` prints."""


def accord_serve(agent: Sequence[str]) -> list[str]:
    """Return the command that serves an agent, with limits that no load reaches."""
    limits = ["--max-rate", "100000", "--max-sessions", "100000", "--max-connections-per-token", "1000"]
    serve = [sys.executable, "-m", "accord", "serve", "--port", "0", "--show-token", "--isolation", "shared"]
    return [*serve, *limits, "--", *agent]


@asynccontextmanager
async def run_server(
    command: Sequence[str],
    output: Mapping[str, str],
    *,
    env: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    path: str = "",
) -> AsyncIterator[Server]:
    """Run a server in a temporary directory, its home, with these files. It is ready once it has printed all of
    `output`: `url`, to which `path` is added, perhaps `token`, and others."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, text in (files or {}).items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        homes = {f"ACCORD_{kind}_HOME": f"{folder}/{kind}" for kind in ("CONFIG", "DATA", "CACHE")}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **homes, "HOME": folder, **(env or {})},
        )
        assert process.stdout is not None
        found: dict[str, str] = {}
        draining: asyncio.Task[bytes] | None = None
        try:
            while found.keys() < output.keys():
                line = (await process.stdout.readline()).decode()
                if not line:
                    raise RuntimeError(f"{command[0]} didn't start")
                for name, pattern in output.items():
                    if match := re.search(pattern, line):
                        found.setdefault(name, match[1])
            draining = asyncio.create_task(process.stdout.read())
            yield Server(found["url"] + path, found.get("token", "none"), process.pid, folder)
        finally:
            for pid in reversed(_family(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await process.wait()
            if draining is not None:
                await draining


# -- measuring


class Figures(NamedTuple):
    """Results of one server."""

    opening: float
    per_session: float
    quiet: list[float]
    cpu_quiet: float
    with_slow: list[float]
    burst: float
    cpu_burst: float
    failures: int


async def measure(run: RunServer, load: Load) -> Figures:
    """Measure the server that `run` starts."""
    async with run() as server, asyncio.timeout(TIMEOUT_SECONDS):
        streams = Streams()
        warm = await WebSocketClient.open(server.url, server.token, streams.take)
        await warm.prompt(await warm.new_session(server.cwd), "stream 20 0 0 0")
        before = server.memory()
        start = time.monotonic()
        sessions = await open_sessions(server, load, streams)
        opening = time.monotonic() - start
        per_session = (server.memory() - before) / load.total
        failures = load.total - len(sessions)

        updates = load.updates * load.total
        used = server.cpu()
        lost = await stream(sessions, streams, load.updates, load.interval)
        quiet, failures, cpu_quiet = streams.latencies, failures + lost, (server.cpu() - used) / updates
        slow = await WebSocketClient.open(server.url, server.token, lambda session, text: None)
        ignored = slow.prompt(await slow.new_session(server.cwd), f"stream {SLOW_UPDATES} 0.05 0 {SLOW_BYTES}")
        slow.stop_reading()
        lost = await stream(sessions, streams, load.updates, load.interval)
        with_slow, failures = streams.latencies, failures + lost
        slow.close()
        await asyncio.gather(ignored, return_exceptions=True)
        # Long enough that the prompts, which all come at once, are a small part of it.
        start, used = time.monotonic(), server.cpu()
        failures += await stream(sessions, streams, BURST * load.updates, 0)
        burst, cpu_burst = BURST * updates / (time.monotonic() - start), (server.cpu() - used) / (BURST * updates)
        return Figures(opening, per_session, quiet, cpu_quiet, with_slow, burst, cpu_burst, failures)


async def open_sessions(server: Server, load: Load, streams: Streams) -> list[tuple[WebSocketClient, str]]:
    """Open the connections, ten at a time, and their sessions."""
    turnstile = asyncio.Semaphore(10)

    async def one() -> list[tuple[WebSocketClient, str]]:
        async with turnstile:
            client = await WebSocketClient.open(server.url, server.token, streams.take)
            return [(client, await client.new_session(server.cwd)) for _ in range(load.sessions)]

    opened = await asyncio.gather(*(one() for _ in range(load.connections)), return_exceptions=True)
    return [session for found in opened if isinstance(found, list) for session in found]


async def stream(sessions: list[tuple[WebSocketClient, str]], streams: Streams, updates: int, interval: float) -> int:
    """Let all sessions stream, spread over the interval. Returns how many failed, lost or reordered something.

    Paced streams start a second after the prompts, which all come at once and aren't what is measured."""
    streams.clear()
    start = 1.0 if interval else 0.0
    answers = [
        client.prompt(session, f"stream {updates} {interval} {start + interval * number / len(sessions):.4f} 0")
        for number, (client, session) in enumerate(sessions)
    ]
    ended = await asyncio.gather(*answers, return_exceptions=True)
    return sum(
        isinstance(end, BaseException) or streams.counts.get(session) != updates or session in streams.disordered
        for end, (_, session) in zip(ended, sessions, strict=True)
    )


# -- the table


def table(figures: Mapping[str, Figures]) -> str:
    """Compare servers, by their titles."""

    def ms(latencies: list[float], percent: int) -> str:
        return f"{statistics.quantiles(latencies, n=100)[percent - 1] * 1e3:.1f}" if len(latencies) > 1 else "-"

    rows: dict[str, Callable[[Figures], str]] = {
        "sessions that failed, lost or reordered updates": lambda f: str(f.failures),
        "opening everything, s": lambda f: f"{f.opening:.1f}",
        "memory per open session, kB (server and agent)": lambda f: f"{f.per_session / 1e3:.1f}",
        "update latency p50, ms": lambda f: ms(f.quiet, 50),
        "update latency p99, ms": lambda f: ms(f.quiet, 99),
        "server CPU per update at this rate, µs": lambda f: f"{f.cpu_quiet * 1e6:.0f}",
        "p50 beside a client that doesn't read, ms": lambda f: ms(f.with_slow, 50),
        "p99 beside a client that doesn't read, ms": lambda f: ms(f.with_slow, 99),
        "updates per second, as fast as possible": lambda f: f"{f.burst:,.0f}",
        "server CPU per update, as fast as possible, µs": lambda f: f"{f.cpu_burst * 1e6:.0f}",
    }
    table = [["", *figures], ["---"] * (len(figures) + 1)]
    table += [[title, *(cell(each) for each in figures.values())] for title, cell in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in table)
