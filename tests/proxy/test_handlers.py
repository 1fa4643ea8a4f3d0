"""Handlers: look at, change, answer, drop and inject messages, with the types of the negotiated version."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.chains import between, initialize

from accord import InvalidParams, RequestFailed, UsageError, v1, v2
from accord.proxy import Notification, Proxy, Request, to_agent, to_client

PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hello", "new": [1]}], "later": {"a": 1}}


def update(text: str, session: str = "s") -> dict[str, Any]:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, "messageId": "m"}
    return {"sessionId": session, "update": chunk}


class Context(Proxy):
    """Adds a text to every prompt, in both versions."""

    @to_agent(v1.methods.SESSION_PROMPT)
    async def prompt_v1(self, request: Request[v1.PromptRequest, v1.PromptResponse]) -> v1.PromptResponse:
        request.params.prompt.insert(0, v1.TextContent(text="context"))
        response = await request.forward()
        response.stop_reason = "refusal"
        return response

    @to_agent(v2.methods.SESSION_PROMPT)
    async def prompt_v2(self, request: Request[v2.PromptRequest, v2.PromptResponse]) -> v2.PromptResponse:
        request.params.prompt.insert(0, v2.TextContent(text="context"))
        return await request.forward()


@pytest.mark.req("V2-SDK-04")
async def test_what_a_handler_does_not_change_survives_with_unknown_fields(version: int) -> None:
    async with between(Context()) as ends:
        await initialize(ends, version)
        id = await ends.client.ask("session/prompt", PROMPT)
        asked = await ends.agent.next_call("session/prompt")
        await ends.agent.reply(asked, {"stopReason": "end_turn", "usage2": 7, "_meta": {"k": 1}})
        answer = await ends.client.answer_to(id)

        assert asked["params"] == {**PROMPT, "prompt": [{"type": "text", "text": "context"}, *PROMPT["prompt"]]}
        stop_reason = "refusal" if version == 1 else "end_turn"
        assert answer["result"] == {"stopReason": stop_reason, "usage2": 7, "_meta": {"k": 1}}


async def test_a_handler_of_one_version_is_not_called_in_the_other() -> None:
    class Old(Proxy):
        @to_agent(v1.methods.SESSION_PROMPT)
        async def prompt(self, request: Request[v1.PromptRequest, v1.PromptResponse]) -> v1.PromptResponse:
            raise InvalidParams("not called")

    async with between(Old()) as ends:
        await initialize(ends, 2)
        await ends.client.ask("session/prompt", PROMPT)
        assert (await ends.agent.next_call("session/prompt"))["params"] == PROMPT


async def test_a_handler_answers_a_request_itself() -> None:
    class Allow(Proxy):
        @to_client(v1.methods.SESSION_REQUEST_PERMISSION)
        async def permission(
            self, request: Request[v1.RequestPermissionRequest, v1.RequestPermissionResponse]
        ) -> v1.RequestPermissionResponse:
            chosen = v1.SelectedPermissionOutcome(option_id=request.params.options[0].option_id)
            return v1.RequestPermissionResponse(outcome=chosen)

    async with between(Allow()) as ends:
        await initialize(ends)
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
        answer = await ends.agent.call("session/request_permission", params)
        await ends.agent.tell("_after")
        await ends.client.next_call("_after")

        assert answer["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert [message.get("method") for message in ends.client.received[1:]] == ["_after"]


async def test_a_handler_answers_with_an_error() -> None:
    class Closed(Proxy):
        @to_agent(v1.methods.SESSION_NEW)
        async def new(self, request: Request[v1.NewSessionRequest, v1.NewSessionResponse]) -> v1.NewSessionResponse:
            raise RequestFailed("closed on Sundays", code=-31000, data={"day": 7})

    async with between(Closed()) as ends:
        await initialize(ends)
        answer = await ends.client.call("session/new", {"cwd": "/", "mcpServers": []})
        assert answer["error"] == {"code": -31000, "message": "closed on Sundays", "data": {"day": 7}}


async def test_a_notification_that_is_not_forwarded_is_dropped() -> None:
    class Quiet(Proxy):
        @to_client(v1.methods.SESSION_UPDATE)
        async def update(self, notification: Notification[v1.SessionNotification]) -> None:
            chunk = notification.params.update
            assert isinstance(chunk, v1.AgentMessageChunk)
            assert isinstance(chunk.content, v1.TextContent)
            if chunk.content.text != "secret":
                chunk.content.text = chunk.content.text.upper()
                await notification.forward()

    async with between(Quiet()) as ends:
        await initialize(ends)
        for word in ("one", "secret", "two"):
            await ends.agent.tell("session/update", update(word))
        first = await ends.client.next_call("session/update")
        second = await ends.client.next_call("session/update")
        assert [each["params"]["update"]["content"]["text"] for each in (first, second)] == ["ONE", "TWO"]


async def test_a_proxy_sends_its_own_requests_and_notifications() -> None:
    class Busy(Proxy):
        @to_agent("session/prompt")
        async def prompt(self, request: Request[Any, Any]) -> Any:
            await self.client.notify(v1.methods.SESSION_UPDATE, v1_update("thinking"))
            mode = v1.SetSessionModeRequest(session_id="s", mode_id="careful")
            await self.agent.request(v1.methods.SESSION_SET_MODE, mode)
            assert await self.client.request("_ask", {"n": 1}) == {"n": 2}
            return await request.forward()

    async with between(Busy()) as ends:
        await initialize(ends)
        id = await ends.client.ask("session/prompt", PROMPT)
        assert (await ends.client.next_call("session/update"))["params"]["update"]["content"]["text"] == "thinking"
        mode = await ends.agent.next_call("session/set_mode")
        await ends.agent.reply(mode, {})
        await ends.client.reply(await ends.client.next_call("_ask"), {"n": 2})
        await ends.agent.reply(await ends.agent.next_call("session/prompt"), {"stopReason": "end_turn"})
        assert mode["params"] == {"sessionId": "s", "modeId": "careful"}
        assert (await ends.client.answer_to(id))["result"] == {"stopReason": "end_turn"}


def v1_update(text: str) -> v1.SessionNotification:
    return v1.SessionNotification(session_id="s", update=v1.AgentMessageChunk(content=v1.TextContent(text=text)))


async def test_an_error_response_to_the_proxy_is_raised() -> None:
    class Curious(Proxy):
        @to_agent("_ask")
        async def ask(self, request: Request[Any, Any]) -> Any:
            try:
                await self.agent.request("_nothing")
            except RequestFailed as error:
                return {"code": error.code, "data": error.data}

    async with between(Curious()) as ends:
        await initialize(ends)
        id = await ends.client.ask("_ask", {})
        await ends.agent.refuse(await ends.agent.next_call("_nothing"), -31001, data=[1])
        assert (await ends.client.answer_to(id))["result"] == {"code": -31001, "data": [1]}


async def test_a_watching_proxy_sees_every_message() -> None:
    seen: list[tuple[str, ...]] = []

    class Log(Proxy):
        def watch(self, way: str, kind: str, method: str, body: bytes) -> None:
            seen.append((way, kind, method, body.decode()))

    async with between(Log()) as ends:
        await initialize(ends)
        id = await ends.client.ask("_ask", [1])
        asked = await ends.agent.next_call("_ask")
        await ends.agent.tell("_note")
        await ends.agent.refuse(asked, -1, "no")
        await ends.client.answer_to(id)

    assert seen[2:] == [
        ("to_agent", "request", "_ask", "[1]"),
        ("to_client", "notification", "_note", ""),
        ("to_client", "error", "_ask", '{"code": -1, "message": "no"}'),
    ]


class Slow(Proxy):
    """Holds every update and every prompt until the test sets `go`."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    @to_client("session/update")
    async def update(self, notification: Notification[Any]) -> None:
        await self.go.wait()
        await notification.forward()

    @to_agent("session/prompt")
    async def prompt(self, request: Request[Any, Any]) -> Any:
        await self.go.wait()
        return await request.forward()


async def test_a_session_stays_in_order_behind_a_slow_handler_and_others_continue() -> None:
    proxy = Slow()
    async with between(proxy) as ends:
        await initialize(ends)
        id = await ends.client.ask("_work", {"sessionId": "s"})
        asked = await ends.agent.next_call("_work")
        await ends.agent.tell("session/update", update("first"))
        await ends.agent.tell("_note", {"sessionId": "s"})
        await ends.agent.reply(asked, {})
        await ends.agent.tell("_note", {"sessionId": "other"})
        assert (await ends.client.receive())["params"] == {"sessionId": "other"}
        proxy.go.set()
        later = [await ends.client.receive() for _ in range(3)]
        assert [message.get("method", message.get("id")) for message in later] == ["session/update", "_note", id]


async def test_a_cancellation_stays_behind_the_prompt_that_a_handler_holds() -> None:
    proxy = Slow()
    async with between(proxy) as ends:
        await initialize(ends)
        await ends.client.ask("session/prompt", PROMPT)
        await ends.client.tell("session/cancel", {"sessionId": "s"})
        await ends.client.tell("_note", {"sessionId": "other"})
        assert (await ends.agent.receive())["method"] == "_note"
        proxy.go.set()
        assert [(await ends.agent.receive())["method"] for _ in range(2)] == ["session/prompt", "session/cancel"]


async def test_an_unordered_handler_holds_nothing_back() -> None:
    go = asyncio.Event()

    class Own(Proxy):
        @to_agent("session/prompt", ordered=False)
        async def prompt(self, request: Request[Any, Any]) -> Any:
            await go.wait()
            return v1.PromptResponse(stop_reason="cancelled")

    async with between(Own()) as ends:
        await initialize(ends)
        id = await ends.client.ask("session/prompt", PROMPT)
        await ends.client.tell("session/cancel", {"sessionId": "s"})
        await ends.agent.next_call("session/cancel")
        go.set()
        assert (await ends.client.answer_to(id))["result"] == {"stopReason": "cancelled"}


async def test_updates_of_a_new_session_come_after_the_response_that_a_handler_holds() -> None:
    go = asyncio.Event()

    class New(Proxy):
        @to_agent(v1.methods.SESSION_NEW)
        async def new(self, request: Request[v1.NewSessionRequest, v1.NewSessionResponse]) -> v1.NewSessionResponse:
            response = await request.forward()
            await go.wait()
            return response

    async with between(New()) as ends:
        await initialize(ends)
        id = await ends.client.ask("session/new", {"cwd": "/", "mcpServers": []})
        await ends.agent.reply(await ends.agent.next_call("session/new"), {"sessionId": "fresh"})
        await ends.agent.tell("session/update", update("hi", "fresh"))
        await ends.client.tell("_sync")
        await ends.agent.next_call("_sync")
        go.set()
        seen = [await ends.client.receive() for _ in range(2)]
        assert [message.get("method", message.get("id")) for message in seen] == [id, "session/update"]


@pytest.mark.req("V1-PROXY-03")
@pytest.mark.parametrize("manner", ["changes the version", "does not forward"])
async def test_a_handler_of_initialize_must_forward_it_and_keep_the_version(
    manner: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Liar(Proxy):
        @to_agent(v1.methods.INITIALIZE)
        async def initialize(
            self, request: Request[v1.InitializeRequest, v1.InitializeResponse]
        ) -> v1.InitializeResponse:
            if manner == "does not forward":
                return v1.InitializeResponse(protocol_version=1)
            response = await request.forward()
            response.protocol_version = 7
            return response

    async with between(Liar()) as ends:
        id = await ends.client.ask("initialize", {"protocolVersion": 1})
        if manner == "changes the version":
            await ends.agent.reply(await ends.agent.next_call("initialize"), {"protocolVersion": 1})
        error = (await ends.client.answer_to(id))["error"]
    assert "initialize" in error["message"]
    assert "UsageError" in caplog.text


async def test_a_handler_of_initialize_changes_capabilities() -> None:
    class NoLoad(Proxy):
        @to_agent(v1.methods.INITIALIZE)
        async def initialize(
            self, request: Request[v1.InitializeRequest, v1.InitializeResponse]
        ) -> v1.InitializeResponse:
            response = await request.forward()
            assert isinstance(response.agent_capabilities, v1.AgentCapabilities)
            response.agent_capabilities.load_session = False
            return response

    async with between(NoLoad()) as ends:
        id = await ends.client.ask("initialize", {"protocolVersion": 1})
        result = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "x": 1}, "y": 2}
        await ends.agent.reply(await ends.agent.next_call("initialize"), result)
        capabilities = {"loadSession": False, "x": 1}
        assert (await ends.client.answer_to(id))["result"] == {**result, "agentCapabilities": capabilities}


async def test_a_failing_handler_is_reported_and_the_proxy_continues(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Proxy):
        @to_client("session/update")
        async def update(self, notification: Notification[Any]) -> None:
            raise ValueError("no idea")

        @to_agent("session/prompt")
        async def prompt(self, request: Request[Any, Any]) -> Any:
            await request.forward()

    async with between(Broken()) as ends:
        await initialize(ends)
        await ends.agent.tell("session/update", update("lost"))
        id = await ends.client.ask("session/prompt", PROMPT)
        await ends.agent.reply(await ends.agent.next_call("session/prompt"), {"stopReason": "end_turn"})
        error = (await ends.client.answer_to(id))["error"]
    assert "return await request.forward()" in error["message"]
    assert "the handler of session/update failed" in caplog.text


def test_wrong_handlers_are_reported_when_the_class_is_created() -> None:
    with pytest.raises(UsageError, match="must be “async def”"):

        class Plain(Proxy):
            @to_agent("session/prompt")  # type: ignore[type-var]
            def prompt(self, request: Any) -> Any: ...

    with pytest.raises(UsageError, match="session/update is sent to the client; use @to_client"):
        to_agent(v1.methods.SESSION_UPDATE)
    with pytest.raises(UsageError, match=r"Twice\.one and Twice\.two handle the same method"):

        class Twice(Proxy):
            @to_agent("session/prompt")
            async def one(self, request: Any) -> Any: ...

            @to_agent("session/prompt")
            async def two(self, request: Any) -> Any: ...


async def test_a_subclass_overrides_a_handler_by_its_name() -> None:
    class Base(Proxy):
        @to_agent("_ask")
        async def ask(self, request: Request[Any, Any]) -> Any:
            return "base"

    class Derived(Base):
        @to_agent("_ask")
        async def ask(self, request: Request[Any, Any]) -> Any:
            return "derived"

    async with between(Derived()) as ends:
        await initialize(ends)
        assert (await ends.client.call("_ask", {}))["result"] == "derived"
