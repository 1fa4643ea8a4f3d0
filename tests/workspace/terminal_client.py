"""A program for a fork server: a client that makes, kills and releases terminals without end, until somebody ends it.

Every command has a family that ignores SIGTERM, one process of it in another session. Prints "ready" first."""

from __future__ import annotations

import asyncio
import itertools

from accord.process import supervision
from accord.workspace.terminals import Terminals

supervision.EXIT_GRACE_SECONDS = 0.05
supervision.TERM_GRACE_SECONDS = 0.1

DEAF = "trap '' TERM HUP;"
FAMILY = f'{DEAF} ({DEAF} sleep 600; :) & setsid sh -c "{DEAF} sleep 600; :" & sleep 600; :'


async def main() -> None:
    terminals = Terminals(grace=0.01)
    print("ready", flush=True)
    ids: list[str] = []
    for number in itertools.count():
        ids.append(await terminals.create("s", FAMILY, cwd="/", pty=number % 3 == 2))
        await asyncio.sleep(0)
        if len(ids) == 4:
            await terminals.kill(ids[1])
            await terminals.release(ids.pop(0))


def start() -> None:
    asyncio.run(main())
