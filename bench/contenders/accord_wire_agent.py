"""`accord.v1` as an agent: the wire API, exactly the protocol."""

from __future__ import annotations

import asyncio

import workload

from accord import v1
from accord.transports.stdio import StdioTransport


class BenchAgent:
    """Does what the prompt says; README.md lists the words."""

    client: v1.ClientConnection

    def __init__(self) -> None:
        self.sessions = 0

    async def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(
            protocol_version=1, agent_info=v1.Implementation(name="accord-wire", version="1.0")
        )

    async def session_new(self, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
        self.sessions += 1
        return v1.NewSessionResponse(session_id=workload.session(self.sessions))

    async def session_set_mode(self, params: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return v1.SetSessionModeResponse()

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        word, _, rest = params.prompt[0].text[:32].partition(" ")
        id = params.session_id
        if word == "stream":
            for number in range(int(rest)):
                await self.chunk(id, workload.token(number))
        elif word == "blob":
            await self.chunk(id, workload.blob(int(rest)))
        elif word == "mixed":
            for kind, value in workload.MIXED:
                await getattr(self, kind)(id, value)
        return v1.PromptResponse(stop_reason="end_turn")

    async def plan(self, id: str, _: str) -> None:
        entries = [v1.PlanEntry(content=text, priority="medium", status="pending") for text in workload.PLAN]
        await self.client.session_update(v1.SessionNotification(session_id=id, update=v1.Plan(entries=entries)))

    async def thought(self, id: str, text: str) -> None:
        update = v1.AgentThoughtChunk(content=v1.TextContent(text=text))
        await self.client.session_update(v1.SessionNotification(session_id=id, update=update))

    async def chunk(self, id: str, text: str) -> None:
        update = v1.AgentMessageChunk(content=v1.TextContent(text=text))
        await self.client.session_update(v1.SessionNotification(session_id=id, update=update))

    async def tool(self, id: str, number: str) -> None:
        call, path = f"call-{number}", workload.path(number)
        diff = v1.Diff(path=path, old_text=workload.OLD, new_text=workload.NEW)
        where = [v1.ToolCallLocation(path=path, line=1)]
        for update in (
            v1.ToolCall(tool_call_id=call, title=f"Edit file {number}", kind="edit", status="pending", locations=where),
            v1.ToolCallUpdate(tool_call_id=call, status="in_progress"),
            v1.ToolCallUpdate(tool_call_id=call, content=[diff]),
            v1.ToolCallUpdate(tool_call_id=call, status="completed"),
        ):
            await self.client.session_update(v1.SessionNotification(session_id=id, update=update))

    async def permission(self, id: str, number: str) -> None:
        answer = await self.client.session_request_permission(
            v1.RequestPermissionRequest(
                session_id=id,
                tool_call=v1.ToolCallPatch(tool_call_id=f"call-{number}", title=f"Edit file {number}"),
                options=[
                    v1.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                    v1.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
                ],
            )
        )
        assert isinstance(answer.outcome, v1.SelectedPermissionOutcome)
        assert answer.outcome.option_id == "yes"

    async def read(self, id: str, number: str) -> None:
        request = v1.ReadTextFileRequest(session_id=id, path=workload.path(number))
        file = await self.client.fs_read_text_file(request)
        assert len(file.content) == len(workload.READ)


async def main() -> None:
    agent = BenchAgent()
    agent.client = v1.serve(StdioTransport.open(), agent)
    await agent.client.wait_ended()
    await agent.client.close()


if __name__ == "__main__":
    asyncio.run(main())
