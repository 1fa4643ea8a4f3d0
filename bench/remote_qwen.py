"""Compare `qwen serve` with `accord serve`. Qwen Code's server runs no other agent, so both run this one.

The agent's model is a server in another process, which streams timestamps. It isn't part of the figures, but the agent
is, so that the two servers differ in the rest. Run by `remote.py`."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from remote_load import ACCORD_OUTPUT, Figures, Load, Server, accord_serve, measure, run_server, table

LOAD = Load(connections=10, sessions=2, updates=100, interval=0.25)
"""Smaller than that of the others, because a session of this agent takes megabytes, and each prompt much CPU time."""
OUTPUT = {"url": r"listening on (http://\S+)", "ready": r"(/acp WebSocket) transport enabled"}
SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "openai"}},
    "model": {"name": "fake"},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}
PACKAGE = "npm install -g @qwen-code/qwen-code@0.24.4 (with Node 22 or newer)"


def compare() -> str:
    """Measure both servers, and return a part of the page; a note if `qwen serve` isn't installed."""
    if shutil.which("qwen") is None or "daemon" not in _run("qwen", "serve", "--help"):
        return f"`qwen serve` was skipped, because it isn't installed: `{PACKAGE}`."
    figures: dict[str, Figures] = {}
    with _model() as url:
        for title in ("accord serve -- qwen --acp", "qwen serve"):
            figures[title] = asyncio.run(measure(lambda title=title: _start(title, url), LOAD))
    version = _run("qwen", "--version").strip()
    return f"""### With Qwen Code's agent

`qwen serve` (Qwen Code {version}) runs no other agent than its own, so `accord serve` runs this one as well, on the
same Node, with a model server that streams timestamps: {LOAD.connections} connections with {LOAD.sessions} sessions
each, {LOAD.updates} updates, one every {LOAD.interval:g} s; otherwise as above. The figures contain the agent.
`accord serve` saves every update before sending it; `qwen serve` keeps them in memory.

{table(figures)}"""


@asynccontextmanager
async def _start(title: str, model_url: str) -> AsyncIterator[Server]:
    env = {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model_url,
        "OPENAI_MODEL": "fake",
        "NO_PROXY": "127.0.0.1",
    }
    files = {".qwen/settings.json": json.dumps(SETTINGS)}
    if title == "qwen serve":
        command = ["qwen", "serve", "--port", "0", "--no-web", "--max-sessions", "0", "--max-connections", "0"]
        server = run_server(command, OUTPUT, env=env, files=files, path="/acp")
    else:
        server = run_server(accord_serve(["qwen", "--acp"]), ACCORD_OUTPUT, env=env, files=files)
    async with server as running:
        yield running


def _run(*command: str) -> str:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout


# -- the model


@contextmanager
def _model() -> Iterator[str]:
    """Run the model server in another process, and return its URL."""
    command = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def serve_model() -> None:
    """Serve the chat API of OpenAI, and print its URL."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 24)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = json.loads(await reader.readexactly(int(length[1])) if length else b"{}")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            async for event in _complete(body):
                data = b"data: " + event + b"\n\n"
                writer.write(b"%x\r\n%b\r\n" % (len(data), data))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _complete(body: dict[str, Any]) -> AsyncIterator[bytes]:
    """Answer a request as `Streamer` in `remote.py` does; anything else than `stream …` with one word."""
    content = (body.get("messages") or [{}])[-1].get("content") or ""
    last = content if isinstance(content, str) else content[-1].get("text", "")
    asked = re.search(r"stream (\d+) (\S+) (\S+) (\d+)\s*$", last)
    if asked is None:
        yield _chunk({"role": "assistant", "content": "ok"})
    else:
        padding = "x" * int(asked[4])
        await asyncio.sleep(float(asked[3]))
        for number in range(int(asked[1])):
            yield _chunk({"role": "assistant", "content": f"{number} {time.monotonic():.6f} {padding}"})
            await asyncio.sleep(float(asked[2]))
    yield _chunk({}, finish_reason="stop")
    yield b"[DONE]"


def _chunk(delta: dict[str, str], **fields: str) -> bytes:
    choice = {"index": 0, "delta": delta, **fields}
    return json.dumps(
        {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice]}
    ).encode()


if __name__ == "__main__":
    asyncio.run(serve_model())
