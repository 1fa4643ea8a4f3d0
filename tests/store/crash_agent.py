"""An agent that says a great deal in many ways, numbered, until it is killed. Its file is its argument."""

from __future__ import annotations

import asyncio
import random
import sys
import zlib

from accord import Agent, SqliteStore, Turn, run
from accord.store import maintenance

# So that a short life sees many checkpoints and syncs, and is killed in the middle of some.
maintenance.LOG_BYTES = 100_000
maintenance._SAVES_PER_CHECK = 5
maintenance.SYNC_SECONDS = 0.01


def piece(number: int, size: int) -> str:
    """The text of an update: its number, and proof that it is whole."""
    body = str(number % 10) * size
    return f"{number}:{zlib.crc32(body.encode()):08x}:{body}\n"


class Talker(Agent):
    """Speaks in bursts, one at a time, in large pieces and between tool calls."""

    def __init__(self, path: str) -> None:
        self.store = SqliteStore(path)

    async def prompt(self, turn: Turn) -> None:
        chance = random.Random(turn.text)
        number = 0
        while True:
            manner = chance.random()
            for _ in range(chance.choice((1, 3, 40, 300))):
                size = 100_000 if manner > 0.98 else chance.choice((1, 20, 400))
                saying = turn.say(piece(number, size)) if manner > 0.2 else turn.think(piece(number, size))
                number += 1
                await saying
                if manner > 0.9:
                    await asyncio.sleep(0)
            if manner > 0.7:
                async with turn.tool(piece(number, 5), kind="read"):
                    number += 1
            elif manner > 0.65:
                await turn.set_title(f"At {number}")
            if manner < 0.5:
                await asyncio.sleep(chance.choice((0, 0.0005, 0.003)))


def start() -> None:
    run(Talker(sys.argv[1]))


if __name__ == "__main__":
    start()
