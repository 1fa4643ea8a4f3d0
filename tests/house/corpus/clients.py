"""Calls of the client's side and of the wire API, right and wrong. Checked by type checkers, and never run."""

from __future__ import annotations

from typing import assert_type

import accord
import accord.sync
from accord import Transport, v1, v2
from accord.testing import ScriptedAgent, ScriptedClient, link, wire_agent


async def right() -> None:
    async with accord.connect("my-agent", permissions=accord.allow_all, versions=(1, 2)) as agent:
        session = await agent.load_session("one", "/project", additional_directories=["/other"])
        turn = await session.prompt("hello", accord.Image(data="", mime_type="image/png"), ["and", "more"])
        assert_type(turn.text, str)
        if turn.stop_reason == "end_turn":
            print(turn.tool_calls[0].kind == "read", turn.tool_calls[0].status == "completed")
    async with link(ScriptedAgent(["hello"]), ScriptedClient(files={"/a": "b"}), version=2, cwd="/project") as agent:
        assert_type(agent, accord.ConnectedAgent)
    with accord.sync.connect("my-agent", permissions=accord.reject_all) as blocking:
        assert_type(blocking.new_session("/project", meta={"a": 1}).ask("hello").text, str)


async def wrong() -> None:
    with accord.connect("my-agent"):  # wrong
        pass
    accord.connect("my-agent", permissions="allow")  # wrong
    accord.connect("my-agent", version=2)  # wrong
    accord.connect(8080)  # wrong
    accord.conect("my-agent")  # wrong
    await accord.connect("my-agent").new_session()  # wrong
    accord.sync.connect("my-agent", permission=accord.allow_all)  # wrong
    accord.sync.ask("my-agent", "hello", timeout=3)  # wrong
    link(ScriptedAgent(), verson=2)  # wrong
    wire_agent(2, permission=accord.allow_all)  # wrong
    async with accord.connect("my-agent") as agent:
        await agent.load_session("one", directory="/project")  # wrong
        session = await agent.new_session()
        await session.prompt(42)  # wrong
        for _ in session.prompt("hello"):  # wrong
            pass
        async with session.prompt("hello"):  # wrong
            pass


class RightHandlers(v1.AgentHandlers):
    def initialize(self, params: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")


class RightClient(v2.ClientHandlers):
    def session_update(self, params: v2.UpdateSessionNotification) -> None:
        print(params.update)


class WrongParams(v1.AgentHandlers):
    def session_prompt(self, params: v1.NewSessionRequest) -> v1.PromptResponse:  # wrong
        return v1.PromptResponse(stop_reason="end_turn")


class WrongResult(v1.ClientHandlers):
    def fs_read_text_file(self, params: v1.ReadTextFileRequest) -> str:  # wrong
        return params.path


def wire(transport: Transport) -> None:
    v1.serve(transport, RightHandlers())
    v2.connect(transport, RightClient())
