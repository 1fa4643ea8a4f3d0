"""A program for tests: a client with a terminal that floods. Prints what became of memory and output, as JSON.

`flood_client.py LINES LIMIT PTY`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import resource
import sys
import time
from pathlib import Path

from accord.workspace.terminals import Terminals

FLOOD = str(Path(__file__).with_name("flood_program.py"))


def peak() -> int:
    """The most memory there ever was, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def watch(terminals: Terminals, id: str) -> tuple[int, int, int]:
    """Return the number of bytes, missed bytes and pieces."""
    came = missed = pieces = 0
    async for delta in terminals.subscribe(id):
        came, missed, pieces = came + len(delta.data), missed + delta.skipped, pieces + 1
    return came, missed, pieces


async def main() -> None:
    lines, limit = sys.argv[1], int(sys.argv[2])
    terminals = Terminals()
    warm = await terminals.create("s", "echo é", cwd="/")
    await terminals.wait_for_exit(warm)
    await watch(terminals, warm)
    before, began = peak(), time.monotonic()
    id = await terminals.create("s", sys.executable, ["-I", "-S", FLOOD, lines], cwd="/", output_limit=limit)
    watching = asyncio.ensure_future(watch(terminals, id))
    await terminals.wait_for_exit(id)
    seconds = time.monotonic() - began
    text, truncated, exit = terminals.output(id)
    came, missed, pieces = await watching
    report = {
        "growth": peak() - before,
        "seconds": seconds,
        "size": len(text.encode()),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "truncated": truncated,
        "code": exit.code if exit else None,
        "came": came,
        "missed": missed,
        "pieces": pieces,
    }
    print(json.dumps(report))
    await terminals.close()


asyncio.run(main())
