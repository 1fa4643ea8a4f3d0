"""The official Python SDK as an agent."""

from __future__ import annotations

import asyncio
from typing import Any

import acp
import workload
from acp import schema


class BenchAgent:
    """Does what the prompt says; README.md lists the words."""

    def __init__(self) -> None:
        self.sessions = 0

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=1, agent_info=schema.Implementation(name="python-sdk", version="1.0")
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        self.sessions += 1
        return schema.NewSessionResponse(session_id=workload.session(self.sessions))

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        return schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        word, _, rest = prompt[0].text[:32].partition(" ")
        if word == "stream":
            for number in range(int(rest)):
                update = acp.update_agent_message_text(workload.token(number))
                await self.client.session_update(session_id=session_id, update=update)
        elif word == "blob":
            update = acp.update_agent_message_text(workload.blob(int(rest)))
            await self.client.session_update(session_id=session_id, update=update)
        elif word == "mixed":
            for kind, value in workload.MIXED:
                await getattr(self, kind)(session_id, value)
        return schema.PromptResponse(stop_reason="end_turn")

    async def plan(self, id: str, _: str) -> None:
        entries = [acp.plan_entry(text, priority="medium", status="pending") for text in workload.PLAN]
        await self.client.session_update(session_id=id, update=acp.update_plan(entries))

    async def thought(self, id: str, text: str) -> None:
        await self.client.session_update(session_id=id, update=acp.update_agent_thought_text(text))

    async def chunk(self, id: str, text: str) -> None:
        await self.client.session_update(session_id=id, update=acp.update_agent_message_text(text))

    async def tool(self, id: str, number: str) -> None:
        call, path = f"call-{number}", workload.path(number)
        diff = acp.tool_diff_content(path, workload.NEW, workload.OLD)
        where = [schema.ToolCallLocation(path=path, line=1)]
        for update in (
            acp.start_tool_call(call, f"Edit file {number}", kind="edit", status="pending", locations=where),
            acp.update_tool_call(call, status="in_progress"),
            acp.update_tool_call(call, content=[diff]),
            acp.update_tool_call(call, status="completed"),
        ):
            await self.client.session_update(session_id=id, update=update)

    async def permission(self, id: str, number: str) -> None:
        answer = await self.client.request_permission(
            session_id=id,
            tool_call=schema.ToolCallUpdate(tool_call_id=f"call-{number}", title=f"Edit file {number}"),
            options=[
                schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
        assert answer.outcome.option_id == "yes"

    async def read(self, id: str, number: str) -> None:
        file = await self.client.read_text_file(session_id=id, path=workload.path(number))
        assert len(file.content) == len(workload.READ)


if __name__ == "__main__":
    asyncio.run(acp.run_agent(BenchAgent()))
