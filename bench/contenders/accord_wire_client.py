"""`accord.v1` as a client: the wire API, exactly the protocol. With `plain` in ACCORD_HANDLERS, plain handlers."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

import workload
from measure import Stopwatch, percentiles, report, rss, settled_rss

from accord import v1
from accord.transports.subprocess import SubprocessTransport

WORKLOAD, COUNT, AGENT = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


class BenchClient:
    def __init__(self) -> None:
        self.updates = 0
        self.letters = 0
        self.kept: list[Any] | None = None

    async def session_update(self, note: v1.SessionNotification) -> None:
        self.updates += 1
        if self.kept is not None:
            self.kept.append(note)
        elif isinstance(note.update, v1.AgentMessageChunk):
            self.letters += len(note.update.content.text)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        chosen = next(option for option in request.options if option.kind == "allow_once")
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=chosen.option_id))

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content=workload.READ)


class PlainClient(BenchClient):
    """The same with a plain handler for updates, which is called in place."""

    def session_update(self, note: v1.SessionNotification) -> None:  # type: ignore[override]
        self.updates += 1
        if self.kept is not None:
            self.kept.append(note)
        elif isinstance(note.update, v1.AgentMessageChunk):
            self.letters += len(note.update.content.text)


class Bench:
    """The workloads; each returns what its line says."""

    def __init__(self, client: BenchClient, agent: v1.AgentConnection) -> None:
        self.client = client
        self.agent = agent
        self.session = ""

    async def new_session(self) -> str:
        return (await self.agent.session_new(v1.NewSessionRequest(cwd="/project", mcp_servers=[]))).session_id

    async def prompt(self, text: str, session: str | None = None) -> None:
        await self.agent.session_prompt(
            v1.PromptRequest(session_id=session or self.session, prompt=[v1.TextContent(text=text)])
        )

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
        await self.agent.session_set_mode(v1.SetSessionModeRequest(session_id=self.session, mode_id="code"))

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


async def main() -> None:
    client = PlainClient() if os.environ.get("ACCORD_HANDLERS") == "plain" else BenchClient()
    transport = await SubprocessTransport.launch(AGENT, cwd=os.getcwd())
    async with v1.connect(transport, client) as agent:
        bench = Bench(client, agent)
        await agent.initialize(
            v1.InitializeRequest(
                protocol_version=1,
                client_info=v1.Implementation(name="bench", version="1.0"),
                client_capabilities=v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True)),
            )
        )
        if WORKLOAD != "W6":
            bench.session = await bench.new_session()
        report(**await getattr(bench, WORKLOAD)())


if __name__ == "__main__":
    asyncio.run(main())
