"""Measure servers over WebSocket: many connections with streaming sessions. Adds a section to RESULTS.md.

The load is the same for all: at a fixed rate, where latencies can be compared, and as fast as each server can, where
only throughput can (a faster server keeps the client busier, so that its updates wait there). CPU time is that of the
server and the processes it started.

These servers take turns: `accord serve` (with its hub and a durable log, one agent process for all), `accord.asgi`
alone, and the server of the official Python SDK; `remote_qwen.py` adds `qwen serve`. The client is this process and the
same for all: it counts every update, checks their order, and takes the time from the agent's call to the arrival.
Agent, server and client share a machine and its clock."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import remote_qwen
from remote_load import (
    ACCORD_OUTPUT,
    SLOW_BYTES,
    SLOW_UPDATES,
    URL,
    Figures,
    Load,
    Server,
    accord_serve,
    measure,
    run_server,
    table,
)

import accord
from accord import Turn

HERE = Path(__file__).resolve().parent
HEADING = "## Remote agents"


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


# -- the servers


def run(name: str) -> AbstractAsyncContextManager[Server]:
    """Start a server."""
    this = [sys.executable, str(HERE / "remote.py")]
    if name == "serve":
        return run_server(accord_serve([*this, "--agent"]), ACCORD_OUTPUT)
    if name == "asgi":
        return run_server([*this, "--plain"], {"url": URL})
    sys.path.insert(0, str(HERE.parent / "tests"))
    from peers import install

    return run_server([str(install.python()), str(HERE / "contenders" / "python_sdk_server.py")], {"url": URL})


TITLES = {"serve": "accord serve", "asgi": "accord.asgi", "sdk": "Python SDK's server"}


# -- reporting


def page(figures: dict[str, Figures], load: Load, busy: float, more: str) -> str:
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

{table({TITLES[name]: each for name, each in figures.items()})}

{more}
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
    parser.add_argument(
        "--only", default="serve,asgi,sdk,qwen", help="servers to measure (default serve,asgi,sdk,qwen)"
    )
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
    names = options.only.split(",")
    figures = {name: asyncio.run(measure(partial(run, name), load)) for name in names if name != "qwen"}
    text = page(figures, load, busy, remote_qwen.compare() if "qwen" in names else "")
    print(text)
    if not options.dry:
        write(text)
    return 1 if any(each.failures for name, each in figures.items() if name != "sdk") else 0


if __name__ == "__main__":
    sys.exit(main())
