"""`make cuts`: conversations whose connections break at every message, at random bytes, and by kill -9 of the server.

Prints how many events were lost, duplicated or reordered, which must be none. `--quick` runs a small part; `--seed`
chooses other random places."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cut_conversation import Shape, Tally
from support.cut_runs import SCHEMES, CutRun, Scheme, run_in_memory, run_on_network
from support.faulty_proxy import Fault, Kind
from support.kill_runs import run_with_kills

LONG = Shape(sessions=2, turns=3, words=8)
KINDS: list[Kind] = ["drop", "drop", "drop", "duplicate", "stall"]
NAMES = {"http": "Streamable HTTP", "ws": "WebSocket"}


class Sweep:
    """Many runs, and the sum of their results."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = self.cuts = 0
        self.tally = Tally()
        self.begin = time.monotonic()

    def add(self, run: CutRun) -> None:
        self.runs += 1
        self.cuts += run.cuts
        self.tally += run.tally
        if not run.tally.is_clean:
            print(f"  {self.name}, run {self.runs}: {run.tally}", flush=True)

    def print(self) -> None:
        seconds = time.monotonic() - self.begin
        lost, duplicated, reordered, _ = self.tally
        print(
            f"{self.name:48} {self.runs:6} {self.cuts:6} {lost:6} {duplicated:10} {reordered:9} {seconds:8.0f}",
            flush=True,
        )


async def cut_every_message(scheme: Scheme | None, version: int, cwd: Path, step: int) -> AsyncIterator[CutRun]:
    """Run one conversation for each message, cut before that message."""

    async def run(cuts: set[int]) -> CutRun:
        if scheme is None:
            return await run_in_memory(cuts, LONG, version, cwd)
        return await run_on_network(scheme, LONG, version, cwd, cuts=cuts)

    whole = await run(set())
    for index in range(1, whole.messages + 1, step):
        yield await run({index})


async def cut_random_bytes(
    scheme: Scheme, chance: random.Random, cwd: Path, conversations: int
) -> AsyncIterator[CutRun]:
    """Run conversations through a proxy with faults at random byte offsets."""
    whole = await run_on_network(scheme, LONG, 1, cwd)
    for _ in range(conversations):
        offsets = [chance.randrange(1, 2 * whole.messages) for _ in range(12)]
        faults = [Fault(at, chance.choice(KINDS)) for at in offsets]
        yield await run_on_network(scheme, LONG, chance.choice([1, 2]), cwd, faults=faults)


async def kill_server(scheme: Scheme, chance: random.Random, conversations: int) -> AsyncIterator[CutRun]:
    """Run conversations with a server that is killed at random instants."""
    for _ in range(conversations):
        with tempfile.TemporaryDirectory() as directory:
            kills = {chance.randrange(1, 50): chance.choice([0.0, chance.uniform(0, 0.05)]) for _ in range(5)}
            yield await run_with_kills(scheme, 3, 6, Path(directory), kills)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    step, conversations, kills = (40, 2, 1) if options.quick else (1, 30, 10)
    print(f"{'':48} {'runs':>6} {'cuts':>6} {'lost':>6} {'duplicated':>10} {'reordered':>9} {'seconds':>8}")
    with tempfile.TemporaryDirectory() as directory:
        cwd = Path(directory)
        sweeps: list[tuple[str, Callable[[], AsyncIterator[CutRun]]]] = []
        for version in (1, 2):
            for scheme in (None, *SCHEMES):
                name = f"every message, {NAMES.get(scheme or '', 'memory')}, version {version}"
                sweeps.append((name, lambda s=scheme, v=version: cut_every_message(s, v, cwd, step)))  # type: ignore[misc]
        for scheme in SCHEMES:
            name = NAMES[scheme]
            sweeps.append(
                (f"random bytes, {name}", lambda s=scheme: cut_random_bytes(s, chance, cwd, conversations))  # type: ignore[misc]
            )
            sweeps.append((f"kill -9 of the server, {name}", lambda s=scheme: kill_server(s, chance, kills)))  # type: ignore[misc]
        total = Sweep("all")
        for name, runs in sweeps:
            sweep = Sweep(name)
            async for run in runs():
                sweep.add(run)
                total.runs += 1
                total.cuts += run.cuts
                total.tally += run.tally
            sweep.print()
        total.print()
    return 0 if total.tally.is_clean else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
