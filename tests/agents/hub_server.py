"""A hub over standard input and output, with its event log in a file: `hub_server.py ROOT LOG`.

Its agent is this file with `--agent`: it counts to the number in its prompt, and can resume any session."""

from __future__ import annotations

import asyncio
import sys

from accord import Agent, AgentSession, Turn, run


class Counter(Agent):
    async def resume_session(self, session: AgentSession) -> None:
        """Accept any session: a counter has nothing to remember."""

    async def prompt(self, turn: Turn) -> None:
        for number in range(int(turn.text)):
            await turn.say(f"{number}")
            await asyncio.sleep(0)


async def serve(root: str, log: str) -> None:
    from accord.hub.hub import Hub
    from accord.hub.principal import Principal
    from accord.hub.spawner import CommandSpawner
    from accord.hub.sqlite_log import SqliteEventLog
    from accord.transports.stdio import StdioTransport

    spawner = CommandSpawner([sys.executable, "-P", __file__, "--agent"])
    async with Hub(spawner, log=SqliteEventLog(log), root=root, compact_after=10_000_000) as hub:  # exact, however long
        await hub.accept(StdioTransport.open(), Principal("alice"))


if __name__ == "__main__":
    if "--agent" in sys.argv:
        run(Counter())
    else:
        asyncio.run(serve(*sys.argv[1:]))
