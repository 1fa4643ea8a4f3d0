"""The official Python SDK as a client."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

import acp
import workload
from acp import schema
from measure import Stopwatch, percentiles, report, rss, settled_rss

WORKLOAD, COUNT, AGENT = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
FIFTY_MEGABYTES = 50 << 20  # what the SDK gives its own agents


class BenchClient:
    def __init__(self) -> None:
        self.updates = 0
        self.letters = 0
        self.kept: list[Any] | None = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates += 1
        if self.kept is not None:
            self.kept.append((session_id, update))
        elif update.session_update == "agent_message_chunk":
            self.letters += len(update.content.text)

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        chosen = next(option for option in options if option.kind == "allow_once")
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> schema.ReadTextFileResponse:
        return schema.ReadTextFileResponse(content=workload.READ)


class Bench:
    """The workloads; each returns what its line says."""

    def __init__(self, client: BenchClient, agent: Any) -> None:
        self.client = client
        self.agent = agent
        self.session = ""

    async def new_session(self) -> str:
        return (await self.agent.new_session(cwd="/project", mcp_servers=[])).session_id

    async def prompt(self, text: str, session: str | None = None) -> None:
        await self.agent.prompt(session_id=session or self.session, prompt=[acp.text_block(text)])

    async def turn(
        self, text: str, times: int = 1, warm_up: tuple[str, ...] = (f"stream {workload.WARM_UP}",)
    ) -> dict[str, Any]:
        for words in warm_up:
            await self.prompt(words)
        self.client.updates = self.client.letters = 0
        with Stopwatch() as watch:
            for _ in range(times):
                await self.prompt(text)
        return {
            **watch.times(),
            "updates": self.client.updates,
            "letters": self.client.letters,
        }

    async def ping(self) -> None:
        await self.agent.set_session_mode(session_id=self.session, mode_id="code")

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
        return {
            "prompt": there.wall,
            "update": back.wall,
            "both": there.both + back.both,
            "letters": self.client.letters,
        }

    async def W6(self) -> dict[str, Any]:
        return {}

    async def W7(self) -> dict[str, Any]:
        handshake = rss()
        await self.prompt(f"stream {workload.WARM_UP}")
        self.client.kept = []
        before = settled_rss()
        await self.prompt(f"stream {COUNT}")
        return {"rss": handshake, "kept": (settled_rss() - before) / len(self.client.kept)}

    async def W8(self) -> dict[str, Any]:
        sessions = [await self.new_session() for _ in range(COUNT)]
        await self.prompt(f"stream {workload.WARM_UP}")
        text = f"stream {workload.UPDATES_PER_SESSION}"
        self.client.updates = self.client.letters = 0
        with Stopwatch() as watch:
            await asyncio.gather(*(self.prompt(text, session) for session in sessions))
        return {
            **watch.times(),
            "updates": self.client.updates,
            "letters": self.client.letters,
        }


def apply() -> dict[str, float]:
    """Return the microseconds to apply one update to a session that already has `length` updates."""
    from acp.contrib.session_state import SessionAccumulator

    accumulator = SessionAccumulator()
    notifications = (
        acp.session_notification(workload.session(1), acp.update_agent_message_text(workload.token(number)))
        for number in range(workload.LENGTHS[-1] + 100)
    )
    accumulator.apply(next(notifications))
    took, length = {}, 1
    for wanted in workload.LENGTHS:
        while length < wanted:  # without a snapshot each: with them it would take hours
            accumulator._apply_update(next(notifications).update)
            length += 1
        samples = []
        for _ in range(20 if wanted <= 1_000 else 1):
            notification = next(notifications)
            start = time.perf_counter()
            accumulator.apply(notification)
            samples.append(time.perf_counter() - start)
            length += 1
        took[str(wanted)] = sorted(samples)[len(samples) // 2] * 1e6
    return took


async def main() -> None:
    client = BenchClient()
    async with acp.spawn_agent_process(
        client, *AGENT, env=os.environ, transport_kwargs={"stderr": None, "limit": FIFTY_MEGABYTES}
    ) as (agent, _):
        bench = Bench(client, agent)
        await agent.initialize(
            protocol_version=1,
            client_info=schema.Implementation(name="bench", version="1.0"),
            client_capabilities=schema.ClientCapabilities(fs=schema.FileSystemCapabilities(read_text_file=True)),
        )
        if WORKLOAD != "W6":
            bench.session = await bench.new_session()
        report(**await getattr(bench, WORKLOAD)())


if __name__ == "__main__":
    if WORKLOAD == "W7s":
        report(apply=apply())
    else:
        asyncio.run(main())
