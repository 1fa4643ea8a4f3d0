"""Cancelling, both ways: ours sends `$/cancel_request`, theirs cancels the handler and is still answered once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, an_agent, passes, prompt, until, update

from accord import v1
from accord.errors import RequestCancelled
from accord.testing import WirePeer

READ = {"sessionId": "s", "path": "/a"}
END = v1.PromptResponse(stop_reason="end_turn")


def answers(peer: WirePeer, id: Any) -> list[dict[str, Any]]:
    return [m for m in peer.received if "method" not in m and m["id"] == id and type(m["id"]) is type(id)]


# -- we cancel


async def test_cancelling_an_awaiting_task_tells_the_peer() -> None:
    async with a_client() as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        request = await peer.next_call("session/prompt")
        turn.cancel()
        cancel = await peer.next_call("$/cancel_request")
        assert cancel["params"] == {"requestId": request["id"]}
        assert "id" not in cancel
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_task_that_is_cancelled_before_it_asked_sends_nothing() -> None:
    async with a_client() as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        turn.cancel()
        await asyncio.wait({turn})
        await peer.quiet()

    assert [message for message in peer.received if "method" in message] == []


async def test_a_timeout_around_a_call_tells_the_peer() -> None:
    async with a_client() as (peer, connection):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await connection.session_list(v1.ListSessionsRequest())
        await peer.next_call("$/cancel_request")


@pytest.mark.parametrize("answer", [{"result": {"sessions": []}}, {"error": {"code": -32800, "message": "cancelled"}}])
async def test_the_answer_to_what_was_cancelled_is_taken_and_dropped(answer: dict[str, Any]) -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        request = await peer.next_call("session/list")
        asking.cancel()
        await peer.next_call("$/cancel_request")
        await peer.send({"id": request["id"], **answer})
        await peer.quiet()

    assert connection.connection.problems == {}


async def test_cancelling_after_the_answer_came_sends_nothing() -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await asyncio.wait_for(asking, BOUND)
        asking.cancel()
        await peer.quiet()

    assert not any(message.get("method") == "$/cancel_request" for message in peer.received)


async def test_an_answer_that_waits_in_its_lane_is_not_cancelled_any_more() -> None:
    go_on = asyncio.Event()

    async def session_update(params: Any) -> None:
        await go_on.wait()

    async with a_client(session_update=session_update) as (peer, connection):
        asking = asyncio.ensure_future(connection.session_close(v1.CloseSessionRequest(session_id="s")))
        request = await peer.next_call("session/close")
        await peer.tell("session/update", update("s", ""))
        await peer.reply(request, {})
        await peer.quiet()
        asking.cancel()
        await asyncio.wait({asking})
        go_on.set()
        await peer.quiet()

    assert not any(message.get("method") == "$/cancel_request" for message in peer.received)


@pytest.mark.req("V1-CANCEL-13", "V2-CANCEL-16")
async def test_a_cancelled_answer_to_a_call_that_still_waits_is_raised() -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.refuse(await peer.next_call("session/list"), -32800, "Request cancelled")
        with pytest.raises(RequestCancelled):
            await asyncio.wait_for(asking, BOUND)


# -- they cancel


class Prompts:
    """A handler that can be watched."""

    def __init__(self, stubborn: bool = False) -> None:
        self.began = asyncio.Event()
        self.finish = asyncio.Event()
        self.cancelled = 0
        self.stubborn = stubborn

    async def __call__(self, params: Any) -> Any:
        self.began.set()
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            if not self.stubborn:
                raise
            return v1.PromptResponse(stop_reason="cancelled")
        return END


@pytest.mark.req("V1-CANCEL-11", "V1-CANCEL-12", "V1-CANCEL-13", "V2-CANCEL-15", "V2-CANCEL-16", "V1-FRAME-35")
@pytest.mark.parametrize("id", [7, "7", 0])
async def test_a_running_handler_is_cancelled_and_its_request_answered(id: Any) -> None:
    prompts = Prompts()
    async with an_agent(session_prompt=prompts) as (peer, _):
        await peer.ask("session/prompt", prompt("s"), id=id)
        await asyncio.wait_for(prompts.began.wait(), BOUND)
        await peer.tell("$/cancel_request", {"requestId": id})
        answer = await peer.answer_to(id)
        await peer.quiet()

    assert answer["error"] == {"code": -32800, "message": "Request cancelled"}
    assert len(answers(peer, id)) == (1 if id != 0 else 2)  # the quiet call has the id 0 too
    assert prompts.cancelled == 1


@pytest.mark.req("V1-CANCEL-13", "V1-FRAME-25")
async def test_a_request_that_is_cancelled_in_the_same_breath_is_still_answered() -> None:
    """Its task has not taken its first step when the cancellation is read."""
    prompts = Prompts()
    async with an_agent(session_prompt=prompts) as (peer, _):
        await peer.send(
            b'{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":%b}\n'
            b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}' % json.dumps(prompt("s")).encode()
        )
        answer = await peer.answer_to(5)
        await peer.quiet()

    assert answer["error"]["code"] == -32800
    assert len(answers(peer, 5)) == 1


@pytest.mark.req("V1-CANCEL-13", "V2-CANCEL-16")
async def test_a_handler_that_makes_something_of_the_cancellation_answers_with_that() -> None:
    prompts = Prompts(stubborn=True)
    async with an_agent(session_prompt=prompts) as (peer, _):
        await peer.ask("session/prompt", prompt("s"), id=5)
        await asyncio.wait_for(prompts.began.wait(), BOUND)
        await peer.tell("$/cancel_request", {"requestId": 5})

        assert (await peer.answer_to(5))["result"] == {"stopReason": "cancelled"}


@pytest.mark.req("V1-CANCEL-15")
async def test_a_request_that_was_done_first_gets_its_result() -> None:
    async with an_agent(session_list=lambda params: {"sessions": []}) as (peer, _):
        await peer.send(
            b'{"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}\n'
            b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}'
        )
        assert (await peer.answer_to(5))["result"] == {"sessions": []}
        await peer.quiet()
        # and the cancellation does not stick to the next request with that id
        await peer.ask("session/list", {}, id=5)
        assert (await peer.answer_to(5))["result"] == {"sessions": []}

    assert len(answers(peer, 5)) == 2


@pytest.mark.req("V1-CANCEL-11", "V1-CANCEL-13")
async def test_a_request_that_waits_in_its_lane_never_begins_once_it_is_cancelled() -> None:
    go_on = asyncio.Event()
    read: list[str] = []

    async def session_update(params: Any) -> None:
        await go_on.wait()

    def fs_read_text_file(params: Any) -> dict[str, str]:
        read.append(params.path)
        return {"content": ""}

    async with a_client(session_update=session_update, fs_read_text_file=fs_read_text_file) as (peer, _):
        await peer.tell("session/update", update("s", ""))
        await peer.ask("fs/read_text_file", {**READ, "path": "/cancelled"}, id="a")
        await peer.ask("fs/read_text_file", {**READ, "path": "/kept"}, id="b")
        await peer.tell("$/cancel_request", {"requestId": "a"})
        await peer.quiet()
        go_on.set()
        assert (await peer.answer_to("a"))["error"]["code"] == -32800
        assert (await peer.answer_to("b"))["result"] == {"content": ""}

    assert read == ["/kept"]
    assert Counter(m["id"] for m in peer.received) == {0: 1, "a": 1, "b": 1}


@pytest.mark.req("V1-CANCEL-16", "V2-CANCEL-18")
async def test_a_cancellation_never_touches_our_own_requests() -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        request = await peer.next_call("session/list")
        await peer.tell("$/cancel_request", {"requestId": request["id"]})
        await peer.quiet()
        assert not asking.done()
        await peer.reply(request, {"sessions": []})
        await asyncio.wait_for(asking, BOUND)


@pytest.mark.req("V1-CANCEL-17", "V1-FRAME-24", "V1-EXT-09")
async def test_cancellations_of_nothing_and_other_protocol_notifications_are_ignored_in_silence() -> None:
    async with an_agent() as (peer, connection):
        await peer.tell("$/cancel_request", {"requestId": 99})
        await peer.tell("$/cancel_request", {"requestId": {"not": "an id"}})
        await peer.tell("$/cancel_request")
        await peer.tell("$/from/the/future", {"x": 1})
        await peer.quiet()

    assert [message["id"] for message in peer.received] == ["hello", 0]
    assert connection.connection.problems == {}


@pytest.mark.req("V1-CANCEL-12", "V1-CANCEL-19")
async def test_cancelling_a_request_cancels_what_its_handler_asked() -> None:
    async def session_prompt(params: Any) -> Any:
        await connection.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a"))

    async with an_agent(session_prompt=session_prompt) as (peer, connection):
        turn = await peer.ask("session/prompt", prompt("s"), id="turn")
        nested = await peer.next_call("fs/read_text_file")
        await peer.tell("$/cancel_request", {"requestId": turn})
        assert (await peer.next_call("$/cancel_request"))["params"] == {"requestId": nested["id"]}
        assert (await peer.answer_to("turn"))["error"]["code"] == -32800


async def test_cancelling_twice_cancels_once_more_and_answers_once() -> None:
    prompts = Prompts()
    async with an_agent(session_prompt=prompts) as (peer, _):
        await peer.ask("session/prompt", prompt("s"), id=5)
        await asyncio.wait_for(prompts.began.wait(), BOUND)
        for _ in range(3):
            await peer.tell("$/cancel_request", {"requestId": 5})
        await peer.answer_to(5)
        await peer.quiet()

    assert len(answers(peer, 5)) == 1


async def test_a_cancelled_entry_of_a_batch_is_answered_with_the_rest() -> None:
    prompts = Prompts()
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt("s")},
        {"jsonrpc": "2.0", "id": 2, "method": "session/list"},
    ]
    async with an_agent(session_prompt=prompts, session_list=lambda params: {"sessions": []}) as (peer, _):
        await peer.send(batch)
        await asyncio.wait_for(prompts.began.wait(), BOUND)
        await peer.tell("$/cancel_request", {"requestId": 1})
        await until(lambda: isinstance(peer.received[-1], list))

    assert {answer["id"]: "error" in answer for answer in peer.received[-1]} == {1: True, 2: False}


@pytest.mark.req("V1-CANCEL-18", "V2-CANCEL-17")
async def test_closing_mid_request_answers_it_cancelled() -> None:
    prompts = Prompts()
    async with an_agent(session_prompt=prompts) as (peer, connection):
        await peer.ask("session/prompt", prompt("s"), id=5)
        await asyncio.wait_for(prompts.began.wait(), BOUND)
        await connection.close()
        await passes()

    assert answers(peer, 5)[0]["error"]["code"] == -32800
    assert prompts.cancelled == 1
