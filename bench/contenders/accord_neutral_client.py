"""Accord's neutral API as a client, with its transcript."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import workload
from measure import Stopwatch, percentiles, report, rss, settled_rss

import accord

WORKLOAD, COUNT, AGENT = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


class Files(accord.Workspace):
    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return workload.READ


class Bench:
    """The workloads; each returns what its line says."""

    def __init__(self, agent: accord.ConnectedAgent, session: accord.Session | None) -> None:
        self.agent = agent
        self.session = session
        self.updates = 0
        self.letters = 0

    async def prompt(self, text: str, session: accord.Session | None = None) -> None:
        async for event in (session or self.session).prompt(text):  # type: ignore[union-attr]
            self.updates += 1
            if type(event) is accord.Text:
                self.letters += len(event.text)

    async def turn(
        self, text: str, times: int = 1, warm_up: tuple[str, ...] = (f"stream {workload.WARM_UP}",)
    ) -> dict[str, Any]:
        for words in warm_up:
            await self.prompt(words)
        self.updates = self.letters = 0
        with Stopwatch() as watch:
            for _ in range(times):
                await self.prompt(text)
        return {**watch.times(), "updates": self.updates, "letters": self.letters}

    async def ping(self) -> None:
        await self.session.set_mode("code")  # type: ignore[union-attr]

    async def send_pipelined(self, count: int) -> None:
        async def worker() -> None:
            for _ in range(count // workload.IN_FLIGHT):
                await self.ping()

        await asyncio.gather(*(worker() for _ in range(workload.IN_FLIGHT)))

    async def W1(self) -> dict[str, Any]:
        return await self.turn(f"stream {COUNT}")

    async def W1t(self) -> dict[str, Any]:
        return await self.turn(f"tokens {COUNT}")

    async def W2(self) -> dict[str, Any]:
        times = []
        for _ in range(workload.WARM_UP):
            await self.ping()
        with Stopwatch() as watch:
            for _ in range(COUNT):
                start = time.perf_counter()
                await self.ping()
                times.append(time.perf_counter() - start)
        return {**watch.times(), **percentiles(times)}

    async def W3(self) -> dict[str, Any]:
        await self.send_pipelined(workload.WARM_UP)
        with Stopwatch() as watch:
            await self.send_pipelined(COUNT)
        return {**watch.times()}

    async def W4(self) -> dict[str, Any]:
        return await self.turn("mixed", COUNT, ("mixed", "mixed"))

    async def W5(self) -> dict[str, Any]:
        text = workload.blob(COUNT)
        with Stopwatch() as there:
            await self.prompt(text)
        with Stopwatch() as back:
            await self.prompt(f"blob {COUNT}")
        return {"prompt": there.wall, "update": back.wall, "both": there.both + back.both, "letters": self.letters}

    async def W6(self) -> dict[str, Any]:
        return {}

    async def W7(self) -> dict[str, Any]:
        """Measure the memory of the session's transcript."""
        handshake = rss()
        await self.prompt(f"stream {workload.WARM_UP}")
        before = settled_rss()
        await self.prompt(f"stream {COUNT}")
        return {"rss": handshake, "kept": (settled_rss() - before) / COUNT}

    async def W8(self) -> dict[str, Any]:
        sessions = [await self.agent.new_session("/project") for _ in range(COUNT)]
        await self.prompt(f"stream {workload.WARM_UP}")
        text = f"stream {workload.UPDATES_PER_SESSION}"
        self.updates = self.letters = 0
        with Stopwatch() as watch:
            await asyncio.gather(*(self.prompt(text, session) for session in sessions))
        return {**watch.times(), "updates": self.updates, "letters": self.letters}


def apply() -> dict[str, float]:
    """Return the microseconds to apply one update to a session that already has `length` updates."""
    from accord import v1
    from accord.transcript.v1 import Fold

    fold = Fold()
    updates = (
        v1.AgentMessageChunk(content=v1.TextContent(text=workload.token(number)), message_id="m1")
        for number in range(workload.LENGTHS[-1] + 10_000)
    )
    took, length = {}, 0
    for wanted in workload.LENGTHS:
        while length < wanted:
            fold.apply(next(updates))
            length += 1
        samples = []
        for _ in range(50 if wanted <= 1_000 else 1_000):
            update = next(updates)
            start = time.perf_counter()
            fold.apply(update)
            samples.append(time.perf_counter() - start)
            length += 1
        took[str(wanted)] = sorted(samples)[len(samples) // 2] * 1e6
    return took


async def main() -> None:
    async with accord.connect(AGENT, workspace=Files(), permissions=accord.allow_all) as agent:
        session = await agent.new_session("/project") if WORKLOAD != "W6" else None
        report(**await getattr(Bench(agent, session), WORKLOAD)())


if __name__ == "__main__":
    if WORKLOAD == "W7s":
        report(apply=apply())
    else:
        asyncio.run(main())
