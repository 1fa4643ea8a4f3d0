"""msgspec on asyncio as a client."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from typing import Any

import raw_wire as wire
import workload
from measure import Stopwatch, percentiles, report, rss, settled_rss
from raw_asyncio import Peer

WORKLOAD, COUNT, AGENT = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


class Bench:
    """The workloads; each returns what its line says."""

    def __init__(self, reader: int, writer: int) -> None:
        self.peer = Peer(reader, writer, self.serve)
        self.session = ""
        self.updates = 0
        self.letters = 0
        self.kept: list[Any] | None = None

    def serve(self, method: str, params: Any) -> Any:
        """Deals with what the agent asks or tells."""
        if method == "session/update":
            update = params.update
            self.updates += 1
            if self.kept is not None:
                self.kept.append(params)
            elif type(update) is wire.AgentMessageChunk:
                self.letters += len(update.content.text)
            return None
        if method == "session/request_permission":
            chosen = next(option for option in params.options if option.kind == "allow_once")
            return wire.Permitted(wire.Selected(chosen.option_id))
        return wire.FileContent(workload.READ)

    async def new_session(self) -> str:
        id: str = (await self.peer.request("session/new", wire.NewSession("/project", []))).session_id
        return id

    async def prompt(self, text: str, session: str | None = None) -> None:
        await self.peer.request("session/prompt", wire.Prompt(session or self.session, [wire.Text(text)]))

    async def ping(self) -> None:
        await self.peer.request("session/set_mode", wire.SetMode(self.session, "code"))

    async def send_pipelined(self, count: int) -> None:
        async def worker() -> None:
            for _ in range(count // workload.IN_FLIGHT):
                await self.ping()

        await asyncio.gather(*(worker() for _ in range(workload.IN_FLIGHT)))

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
        handshake = rss()
        await self.prompt(f"stream {workload.WARM_UP}")
        self.kept = []
        before = settled_rss()
        await self.prompt(f"stream {COUNT}")
        return {"rss": handshake, "kept": (settled_rss() - before) / len(self.kept)}

    async def W8(self) -> dict[str, Any]:
        sessions = [await self.new_session() for _ in range(COUNT)]
        await self.prompt(f"stream {workload.WARM_UP}")
        text = f"stream {workload.UPDATES_PER_SESSION}"
        self.updates = self.letters = 0
        with Stopwatch() as watch:
            await asyncio.gather(*(self.prompt(text, session) for session in sessions))
        return {**watch.times(), "updates": self.updates, "letters": self.letters}


async def main() -> None:
    agent = subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: ASYNC220
    assert agent.stdin is not None
    assert agent.stdout is not None
    bench = Bench(agent.stdout.fileno(), agent.stdin.fileno())
    await bench.peer.request("initialize", wire.Initialize(1))
    if WORKLOAD != "W6":
        bench.session = await bench.new_session()
    report(**await getattr(bench, WORKLOAD)())
    agent.stdin.close()
    await bench.peer.ended
    agent.wait()


if __name__ == "__main__":
    asyncio.run(main())
