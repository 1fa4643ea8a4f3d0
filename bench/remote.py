"""Measure servers over WebSocket: many connections with streaming sessions. Adds a section to RESULTS.md.

The load is the same for all: at a fixed rate, where latencies can be compared, and as fast as each server can, where
only throughput can (a faster server keeps the client busier, so that its updates wait there). CPU time is that of the
server and the processes it started.

Three servers take turns: `accord serve` (with its hub and a durable log, one agent process for all), `accord.asgi`
alone, and the server of the official Python SDK. The client is this process and the same for all: it counts every
update, checks their order, and takes the time from the agent's call to the arrival. Agent, server and client share a
machine and its clock."""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import re
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import accord
from accord import Turn

HERE = Path(__file__).resolve().parent
HEADING = "## Remote agents"
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


# -- the agent


class Streamer(accord.Agent):
    """Streams timestamps: `stream COUNT INTERVAL OFFSET BYTES`."""

    async def prompt(self, turn: Turn) -> None:
        _, count, interval, offset, size = turn.text.split()
        padding = "x" * int(size)
        await asyncio.sleep(float(offset))
        for number in range(int(count)):
            await turn.say(f"{number} {time.monotonic():.6f} {padding}")
            await asyncio.sleep(float(interval))


async def serve_plain() -> None:
    """Serve the agent without hub and tokens, and print the URL."""
    import socket

    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(1000)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}/acp", flush=True)
    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    await serve(accord.asgi(Streamer()), config)


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
                self._on_update(params.session_id, params.update["content"]["text"])
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
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *(each for child in path.read_text().split() for each in _family(int(child)))]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


@asynccontextmanager
async def run_server(name: str) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **{f"ACCORD_{kind}_HOME": f"{folder}/{kind}" for kind in ("CONFIG", "DATA", "CACHE")}}
        process = await asyncio.create_subprocess_exec(
            *_command(name), stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL, cwd=folder, env=env
        )
        try:
            assert process.stdout is not None
            url, token = "", "none"
            while not url or (name == "serve" and token == "none"):
                line = (await process.stdout.readline()).decode()
                if not line:
                    raise RuntimeError(f"{name} didn't start")
                if found := re.search(r"https?://\S+/acp", line):
                    url = url or found[0]
                if found := re.search(r"Token +(\S+)", line):
                    token = found[1]
            yield Server(url, token, process.pid, folder)
        finally:
            process.kill()
            await process.wait()


def _command(name: str) -> list[str]:
    this = [sys.executable, str(HERE / "remote.py")]
    if name == "serve":
        limits = ["--max-rate", "100000", "--max-sessions", "100000", "--max-connections-per-token", "1000"]
        serve = [sys.executable, "-m", "accord", "serve", "--port", "0", "--show-token", "--isolation", "shared"]
        return [*serve, *limits, "--", *this, "--agent"]
    if name == "asgi":
        return [*this, "--plain"]
    sys.path.insert(0, str(HERE.parent / "tests"))
    from peers import install

    return [str(install.python()), str(HERE / "contenders" / "python_sdk_server.py")]


TITLES = {"serve": "accord serve", "asgi": "accord.asgi", "sdk": "Python SDK's server"}


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


async def measure(name: str, load: Load) -> Figures:
    async with run_server(name) as server, asyncio.timeout(TIMEOUT_SECONDS):
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


# -- reporting


def page(figures: dict[str, Figures], load: Load, busy: float) -> str:
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
    table = [["", *(TITLES[name] for name in figures)], ["---"] * (len(figures) + 1)]
    table += [[title, *(cell(each) for each in figures.values())] for title, cell in rows.items()]
    lines = "\n".join("| " + " | ".join(line) + " |" for line in table)
    size = f"{load.connections} WebSocket connections with {load.sessions} sessions each"
    rate = f"one every {load.interval:g} s ({load.total / load.interval:,.0f} per second in all)"
    machine = f"load average at the start {busy:.1f} on {os.cpu_count()} cores, of which the client uses its part"
    machine += "; it was busy with other programs" if busy > (os.cpu_count() or 1) else ""
    sent = SLOW_UPDATES * SLOW_BYTES / 1e6
    return f"""{HEADING}

`python bench/remote.py`: {size}.
Every session streams {load.updates} updates, {rate};
the streams start a second after the prompts. Then the same beside a client that is sent
{sent:.0f} MB and reads nothing; then as fast as possible. The machine: {machine}.

`accord serve` saves every update in its log before sending it, and its agent is another process. The other two save
nothing, and the agent is part of the server. The servers run on hypercorn and
asyncio; the agent of `accord serve` on uvloop where it is installed.

{lines}
"""


def write(text: str) -> None:
    """Replace this section in the results."""
    results = HERE / "RESULTS.md"
    others, _, rest = results.read_text().partition(HEADING)
    after = rest[rest.index("\n## ") :].strip() if "\n## " in rest else ""
    results.write_text("\n\n".join(part.strip() for part in (others, text, after) if part) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=200, help="connections (default 200)")
    parser.add_argument("--sessions", type=int, default=5, help="sessions of each connection (default 5)")
    parser.add_argument("--updates", type=int, default=10, help="updates of each session and stream (default 10)")
    parser.add_argument("--interval", type=float, default=2.0, help="seconds between updates (default 2)")
    parser.add_argument("--only", default="serve,asgi,sdk", help="servers to measure (default serve,asgi,sdk)")
    parser.add_argument("--dry", action="store_true", help="print the table, leave RESULTS.md alone")
    parser.add_argument("--agent", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.agent:
        accord.run(Streamer())
        return 0
    if options.plain:
        asyncio.run(serve_plain())
        return 0
    load = Load(options.connections, options.sessions, options.updates, options.interval)
    busy = float(Path("/proc/loadavg").read_text().split()[0])
    figures = {name: asyncio.run(measure(name, load)) for name in options.only.split(",")}
    text = page(figures, load, busy)
    print(text)
    if not options.dry:
        write(text)
    return 1 if any(each.failures for name, each in figures.items() if name != "sdk") else 0


if __name__ == "__main__":
    sys.exit(main())
