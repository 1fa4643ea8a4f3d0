"""msgspec on asyncio as an agent."""

from __future__ import annotations

import asyncio
from typing import Any

import raw_wire as wire
import workload
from raw_asyncio import Peer


class BenchAgent:
    def __init__(self) -> None:
        self.peer = Peer(0, 1, self.answer)
        self.sessions = 0

    def answer(self, method: str, params: Any) -> Any:
        if method == "session/set_mode":
            return wire.Empty()
        if method == "session/prompt":
            return self.prompt(params)
        if method == "session/new":
            self.sessions += 1
            return wire.SessionId(workload.session(self.sessions))
        return wire.Initialized(1)

    async def update(self, id: str, update: wire.Update) -> None:
        await self.peer.notify("session/update", wire.SessionNotification(id, update))

    async def prompt(self, params: wire.Prompt) -> wire.Stopped:
        id = params.session_id
        word, _, rest = params.prompt[0].text[:32].partition(" ")
        if word == "stream":
            for number in range(int(rest)):
                await self.update(id, wire.AgentMessageChunk(wire.Text(workload.token(number))))
        elif word == "blob":
            await self.update(id, wire.AgentMessageChunk(wire.Text(workload.blob(int(rest)))))
        elif word == "mixed":
            for kind, value in workload.MIXED:
                await getattr(self, kind)(id, value)
        return wire.Stopped("end_turn")

    async def plan(self, id: str, _: str) -> None:
        await self.update(id, wire.Plan([wire.PlanEntry(text, "medium", "pending") for text in workload.PLAN]))

    async def thought(self, id: str, text: str) -> None:
        await self.update(id, wire.AgentThoughtChunk(wire.Text(text)))

    async def chunk(self, id: str, text: str) -> None:
        await self.update(id, wire.AgentMessageChunk(wire.Text(text)))

    async def tool(self, id: str, number: str) -> None:
        call, path = f"call-{number}", workload.path(number)
        where = [wire.Location(path, 1)]
        await self.update(
            id, wire.ToolCall(call, f"Edit file {number}", kind="edit", status="pending", locations=where)
        )
        await self.update(id, wire.ToolCallUpdate(call, status="in_progress"))
        await self.update(id, wire.ToolCallUpdate(call, content=[wire.Diff(path, workload.NEW, workload.OLD)]))
        await self.update(id, wire.ToolCallUpdate(call, status="completed"))

    async def permission(self, id: str, number: str) -> None:
        options = [wire.Option("yes", "Allow", "allow_once"), wire.Option("no", "Reject", "reject_once")]
        call = wire.ToolFields(f"call-{number}", f"Edit file {number}")
        answer = await self.peer.request("session/request_permission", wire.Permission(id, call, options))
        assert answer.outcome.option_id == "yes"

    async def read(self, id: str, number: str) -> None:
        file = await self.peer.request("fs/read_text_file", wire.ReadFile(id, workload.path(number)))
        assert len(file.content) == len(workload.READ)


async def main() -> None:
    await BenchAgent().peer.ended


if __name__ == "__main__":
    asyncio.run(main())
