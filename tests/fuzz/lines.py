"""Hostile lines against both sides: `python tests/fuzz/lines.py [COUNT [SEED]]`.

No exception escapes, nothing hangs, no task is left behind, every request is answered exactly once. The same seed gives
the same lines."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path
from random import Random

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.sides import Broken, against_agent, against_client

PER_CONVERSATION = 500


async def fuzz(count: int, seed: int) -> int:
    """Send `count` lines, half to each side, and return how many were sent."""
    sent, number = 0, 0
    while sent < count:
        side = against_agent if number % 2 == 0 else against_client
        lines = min(PER_CONVERSATION, count - sent)
        try:
            await side(Random(f"{seed} {number}"), lines)
        except Exception as error:
            raise Broken(f"conversation {number} of seed {seed} ({side.__name__}): {error}") from error
        sent, number = sent + lines, number + 1
    return sent


def main(words: list[str]) -> int:
    count = int(words[0]) if words else 100_000
    seed = int(words[1]) if len(words) > 1 else 1
    begin = time.monotonic()
    logging.getLogger("accord").setLevel(logging.ERROR)
    sent = asyncio.run(fuzz(count, seed))
    print(f"{sent} hostile lines (seed {seed}) in {time.monotonic() - begin:.0f} s: nothing broke")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
