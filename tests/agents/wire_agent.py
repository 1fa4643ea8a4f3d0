"""Two agents written with the types of `accord.v1` and `accord.v2`: they echo, ask for permission, and wait.

`wire_agent.py 1` and `wire_agent.py 2` serve on standard input and output."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from accord import MethodNotFound, NotFound, v1, v2
from accord.transports.stdio import StdioTransport


class Extensions:
    """Extension methods of both agents."""

    client: Any

    async def extension_request(self, method: str, params: Any) -> Any:
        if method != "_test/echo":
            raise MethodNotFound(f"there is no {method} here")
        return params

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == "_test/note":
            await self.client.notify("_test/noted", params)


class V1(Extensions):
    """Version 1: a prompt is answered when its work is done."""

    client: v1.ClientConnection

    def __init__(self) -> None:
        self.cancelled: dict[str, asyncio.Event] = {}

    def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_info=v1.Implementation(name="wire-agent", version="1"))

    def session_new(self, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
        id = f"session-{len(self.cancelled) + 1}"
        self.cancelled[id] = asyncio.Event()
        return v1.NewSessionResponse(session_id=id)

    def session_cancel(self, params: v1.CancelNotification) -> None:
        self.cancelled[params.session_id].set()

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        id = params.session_id
        if id not in self.cancelled:
            raise NotFound(f"there is no session {id}")
        text = "".join(block.text for block in params.prompt if isinstance(block, v1.TextContent))
        if text == "wait":
            await self.say(id, "waiting")
            await self.cancelled[id].wait()
            return v1.PromptResponse(stop_reason="cancelled")
        await self.say(id, await self.ask(id) if text == "permission" else text)
        return v1.PromptResponse(stop_reason="end_turn")

    async def say(self, id: str, text: str) -> None:
        update = v1.AgentMessageChunk(content=v1.TextContent(text=text))
        await self.client.session_update(v1.SessionNotification(session_id=id, update=update))

    async def ask(self, id: str) -> str:
        answer = await self.client.session_request_permission(
            v1.RequestPermissionRequest(
                session_id=id,
                tool_call=v1.ToolCallPatch(tool_call_id="call-1", title="Delete the notes"),
                options=[v1.PermissionOption(option_id="yes", name="Allow", kind="allow_once")],
            )
        )
        match answer.outcome:
            case v1.SelectedPermissionOutcome(option_id=chosen):
                return f"chose {chosen}"
            case _:
                return "chose nothing"


class V2(Extensions):
    """Version 2: a prompt is answered when it is taken, and the end of its work is a state."""

    client: v2.ClientConnection

    def __init__(self) -> None:
        self.cancelled: dict[str, asyncio.Event] = {}
        self.messages = 0
        self.working: set[asyncio.Task[None]] = set()

    def initialize(self, params: v2.InitializeRequest) -> v2.InitializeResponse:
        return v2.InitializeResponse(protocol_version=2, info=v2.Implementation(name="wire-agent", version="1"))

    def session_new(self, params: v2.NewSessionRequest) -> v2.NewSessionResponse:
        id = f"session-{len(self.cancelled) + 1}"
        self.cancelled[id] = asyncio.Event()
        return v2.NewSessionResponse(session_id=id)

    def session_cancel(self, params: v2.CancelSessionNotification) -> None:
        self.cancelled[params.session_id].set()

    async def session_prompt(self, params: v2.PromptRequest) -> v2.PromptResponse:
        id = params.session_id
        if id not in self.cancelled:
            raise NotFound(f"there is no session {id}")
        message = self.next_message()
        await self.tell(id, v2.UserMessage(message_id=message, content=params.prompt))
        text = "".join(block.text for block in params.prompt if isinstance(block, v2.TextContent))
        work = asyncio.create_task(self.work(id, text))
        self.working.add(work)
        work.add_done_callback(self.working.discard)
        return v2.PromptResponse(message_id=message)

    async def work(self, id: str, text: str) -> None:
        reason = "end_turn"
        await self.tell(id, v2.StateUpdate(state="running"))
        if text == "wait":
            await self.say(id, "waiting")
            await self.cancelled[id].wait()
            reason = "cancelled"
        else:
            await self.say(id, await self.ask(id) if text == "permission" else text)
        await self.tell(id, v2.StateUpdate(state="idle", stop_reason=reason))

    def next_message(self) -> str:
        self.messages += 1
        return f"message-{self.messages}"

    async def say(self, id: str, text: str) -> None:
        content = v2.TextContent(text=text)
        await self.tell(id, v2.AgentMessageChunk(message_id=self.next_message(), content=content))

    async def tell(self, id: str, update: Any) -> None:
        await self.client.session_update(v2.UpdateSessionNotification(session_id=id, update=update))

    async def ask(self, id: str) -> str:
        await self.tell(id, v2.StateUpdate(state="requires_action"))
        patch = v2.ToolCallPatch(tool_call_id="call-1", title="Delete the notes")
        answer = await self.client.session_request_permission(
            v2.RequestPermissionRequest(
                session_id=id,
                title="Delete the notes",
                subject=v2.ToolCallPermissionSubject(tool_call=patch),
                options=[v2.PermissionOption(option_id="yes", name="Allow", kind="allow_once")],
            )
        )
        await self.tell(id, v2.StateUpdate(state="running"))
        match answer.outcome:
            case v2.SelectedPermissionOutcome(option_id=chosen):
                return f"chose {chosen}"
            case _:
                return "chose nothing"


async def main(version: str) -> None:
    agent, speak = (V1(), v1.serve) if version == "1" else (V2(), v2.serve)
    agent.client = speak(StdioTransport.open(), agent)
    await agent.client.wait_ended()
    await agent.client.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
