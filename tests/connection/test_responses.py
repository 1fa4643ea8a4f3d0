"""Every request of the peer is answered exactly once, whatever its handler does."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, an_agent, passes, prompt, until

from accord import v1
from accord.connection.dispatch import Answer
from accord.errors import AuthRequired, NotFound, RequestFailed

READ = {"sessionId": "s", "path": "/a"}


def serve(handler: Any) -> Any:
    return a_client(fs_read_text_file=handler)


async def ask(handler: Any) -> dict[str, Any]:
    """The answer that a handler leads to; the connection must still work afterwards."""
    async with serve(handler) as (peer, _):
        answer = await peer.call("fs/read_text_file", READ)
        await peer.quiet()
        assert Counter(message["id"] for message in peer.received) == {0: 1, 1: 1}
    return answer


# -- what a handler may return


async def test_a_plain_handler_answers_in_place() -> None:
    answer = await ask(lambda params: v1.ReadTextFileResponse(content=params.path))

    assert answer == {"jsonrpc": "2.0", "id": 0, "result": {"content": "/a"}}


async def test_a_handler_may_return_any_awaitable() -> None:
    class Later:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return {"content": "later"}

    async def coroutine() -> dict[str, str]:
        await asyncio.sleep(0)
        return {"content": "later"}

    for given in (Later, coroutine, lambda: asyncio.ensure_future(coroutine())):
        answer = await ask(lambda params, given=given: given())
        assert answer["result"] == {"content": "later"}


async def test_nothing_is_an_empty_object() -> None:
    assert (await ask(lambda params: None))["result"] == {}


# -- what a handler may raise


@pytest.mark.req("V1-FRAME-30", "V2-FRAME-26")
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_unexpected_failure_is_an_internal_error_that_names_it(is_async: bool) -> None:
    def fail(params: Any) -> None:
        raise ZeroDivisionError("division by zero")

    async def fail_later(params: Any) -> None:
        await asyncio.sleep(0)
        fail(params)

    answer = await ask(fail_later if is_async else fail)

    assert answer["error"] == {
        "code": -32603,
        "message": "fs/read_text_file failed: ZeroDivisionError: division by zero",
    }


@pytest.mark.req("V1-FRAME-22", "V1-FRAME-43", "V1-FRAME-44")
@pytest.mark.parametrize(
    "error, code",
    [
        (RequestFailed("no", code=12345, data={"why": [1]}), 12345),
        (NotFound("no", data={"why": [1]}), -32002),
        (AuthRequired("no", data={"why": [1]}), -32000),
    ],
)
async def test_a_handler_says_no_with_the_code_and_data_it_wants(error: Exception, code: int) -> None:
    def handler(params: Any) -> None:
        raise error

    assert (await ask(handler))["error"] == {"code": code, "message": "no", "data": {"why": [1]}}


@pytest.mark.req("V1-CANCEL-18", "V2-CANCEL-17")
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_that_is_cancelled_from_within_answers_cancelled(is_async: bool) -> None:
    def plain(params: Any) -> None:
        raise asyncio.CancelledError

    async def later(params: Any) -> None:
        stopped = asyncio.get_running_loop().create_future()
        stopped.cancel()
        await stopped

    answer = await ask(later if is_async else plain)

    assert answer["error"]["code"] == -32800


# -- what cannot be encoded


@pytest.mark.req("V1-FRAME-25", "V1-FRAME-30")
@pytest.mark.parametrize("result", [object(), {"a": {1, object()}}, {(1, 2): 3}, 1e400j, lambda: None])
async def test_a_result_that_cannot_be_encoded_is_an_internal_error(result: Any) -> None:
    error = (await ask(lambda params: result))["error"]

    assert error["code"] == -32603
    assert error["message"].startswith("fs/read_text_file: the result can't be encoded: ")


async def test_half_a_character_in_a_result_is_replaced() -> None:
    answer = await ask(lambda params: {"a\ud800": ["b\udce9", "\ud83d\ude00"]})

    assert answer["result"] == {"a\ufffd": ["b\ufffd", "\U0001f600"]}


async def test_a_result_that_contains_itself_is_an_internal_error() -> None:
    endless: list[Any] = []
    endless.append(endless)

    assert (await ask(lambda params: endless))["error"]["code"] == -32603


@pytest.mark.parametrize("data", [object(), {(1, 2): 3}])
async def test_error_data_that_cannot_be_encoded_is_left_out(data: Any) -> None:
    def handler(params: Any) -> None:
        raise RequestFailed("no", code=7, data=data)

    assert (await ask(handler))["error"] == {"code": 7, "message": "no"}


async def test_error_data_that_contains_itself_is_left_out() -> None:
    endless: list[Any] = []
    endless.append(endless)

    def handler(params: Any) -> None:
        raise RequestFailed("no", code=7, data=endless)

    assert (await ask(handler))["error"] == {"code": 7, "message": "no"}


async def test_an_error_text_with_invalid_unicode_is_sent_with_replacements() -> None:
    """The names of files that are not UTF-8 have such text."""

    def handler(params: Any) -> None:
        raise FileNotFoundError("no file caf\udce9")

    error = (await ask(handler))["error"]

    assert error == {"code": -32603, "message": "fs/read_text_file failed: FileNotFoundError: no file caf\ufffd"}


async def test_an_error_without_a_usable_text_is_still_a_response() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def handler(params: Any) -> None:
        raise Mute

    assert (await ask(handler))["error"] == {"code": -32603, "message": "fs/read_text_file failed: Mute"}


@pytest.mark.req("V1-FRAME-22")
@pytest.mark.parametrize("code", ["7", 1.5, 2**40, True])
async def test_an_invalid_code_becomes_an_internal_error(code: Any) -> None:
    def handler(params: Any) -> None:
        raise RequestFailed("no", code=code)

    assert (await ask(handler))["error"] == {"code": -32603, "message": "no"}


# -- what follows an answer


async def test_what_follows_an_answer_is_done_once_the_answer_has_left() -> None:
    async def session_new(params: Any) -> Answer:
        return Answer(v1.NewSessionResponse(session_id="s"), lambda: tell("after"))

    def tell(text: str) -> None:
        connection.session_update(
            v1.SessionNotification(
                session_id="s", update=v1.AgentMessageChunk(content=v1.TextContent(text=text), message_id="m")
            )
        )

    async with an_agent(session_new=session_new) as (peer, connection):
        await peer.ask("session/new", {"cwd": "/", "mcpServers": []})
        answer, told = await peer.receive(), await peer.receive()

    assert answer["result"] == {"sessionId": "s"}
    assert told["method"] == "session/update"


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_follows_an_answer_may_fail_without_harm(is_async: bool) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    def plain(params: Any) -> Answer:
        return Answer({"content": ""}, fail)

    async def later(params: Any) -> Answer:
        return plain(params)

    assert (await ask(later if is_async else plain))["result"] == {"content": ""}


# -- many at once


@pytest.mark.req("V1-FRAME-25", "V1-FRAME-20")
async def test_a_thousand_open_requests_are_each_answered_once_in_whatever_order_they_finish() -> None:
    waiting: list[asyncio.Future[Any]] = []

    async def session_prompt(params: Any) -> v1.PromptResponse:
        waiting.append(asyncio.get_running_loop().create_future())
        await waiting[-1]
        return v1.PromptResponse(stop_reason="end_turn")

    ids: list[Any] = [*range(500), *map(str, range(500))]
    async with an_agent(session_prompt=session_prompt) as (peer, _):
        for id in ids:
            await peer.ask("session/prompt", prompt(f"s{id}"), id=id)
        await until(lambda: len(waiting) == len(ids))
        for future in reversed(waiting):
            future.set_result(None)
        await until(lambda: len(peer.received) == 1 + len(ids))

    answers = [json.dumps(message["id"]) for message in peer.received[1:]]
    assert Counter(answers) == Counter(map(json.dumps, ids))


async def test_an_id_may_be_used_again_as_soon_as_it_was_answered() -> None:
    async def handler(params: Any) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"content": params.path}

    async with serve(handler) as (peer, _):
        for path in ("/a", "/b", "/c"):
            await peer.ask("fs/read_text_file", {"sessionId": "s", "path": path}, id="same")
            assert (await peer.answer_to("same"))["result"] == {"content": path}


async def test_a_request_that_is_sent_twice_runs_once_and_both_get_an_answer() -> None:
    finish = asyncio.Event()
    runs = 0

    async def session_prompt(params: Any) -> v1.PromptResponse:
        nonlocal runs
        runs += 1
        await finish.wait()
        return v1.PromptResponse(stop_reason="end_turn")

    async with an_agent(session_prompt=session_prompt) as (peer, _):
        await peer.ask("session/prompt", prompt("s"), id=1)
        await peer.ask("session/prompt", prompt("s"), id=1)
        assert (await peer.answer_to(1))["error"]["code"] == -32600
        finish.set()
        assert (await peer.answer_to(1))["result"] == {"stopReason": "end_turn"}

    assert runs == 1


async def test_their_request_may_carry_the_id_of_one_of_ours() -> None:
    async with a_client(fs_read_text_file=lambda params: {"content": "theirs"}) as (peer, connection):
        ours = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        request = await peer.next_call("session/list")
        await peer.ask("fs/read_text_file", READ, id=request["id"])
        assert (await peer.answer_to(request["id"]))["result"] == {"content": "theirs"}
        await passes()
        assert not ours.done()
        await peer.reply(request, {"sessions": []})
        assert (await asyncio.wait_for(ours, BOUND)).sessions == []


# -- answers to us


@pytest.mark.req("V1-FRAME-33")
@pytest.mark.parametrize(
    "text",
    [
        b'{"jsonrpc":"2.0","id":0}',
        b'{"jsonrpc":"2.0","id":0,"result":7}',
        b'{"jsonrpc":"2.0","id":0,"result":{"sessions":"many","nextCursor":{}}}',
        b'{"jsonrpc":"2.0","id":0,"result":{"sessionId":"\xff"}}',
        b'{"jsonrpc":"2.0","id":0,"result":{"sessionId":1e999}}',
        b'{"jsonrpc":"2.0","id":0,"result":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s',
        b'{"jsonrpc":"2.0","id":0,"result":{"sess Warning: low on memory',
        b'{"jsonrpc":"2.0","id":0,"error":[]}',
        b'{"id":0,"result":{"sessionId":"s"}}',
    ],
)
async def test_an_answer_that_cannot_be_read_fails_that_call_alone(text: bytes) -> None:
    async with a_client() as (peer, connection):
        broken = asyncio.ensure_future(connection.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])))
        whole = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.next_call("session/list")
        await peer.send(text)
        await peer.send({"id": 1, "result": {"sessions": []}})
        assert (await asyncio.wait_for(whole, BOUND)).sessions == []
        await asyncio.wait({broken}, timeout=BOUND)

    assert "session/new" in str(broken.exception())


async def test_a_response_with_half_a_character_is_read() -> None:
    async with an_agent() as (peer, connection):
        reading = asyncio.ensure_future(connection.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a")))
        request = await peer.next_call("fs/read_text_file")
        await peer.send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":"cut \\ud83d"}}' % request["id"])

        assert (await asyncio.wait_for(reading, BOUND)).content == "cut \ufffd"


@pytest.mark.req("V1-FRAME-44", "V2-FRAME-27")
async def test_an_error_answer_is_raised_with_its_code_message_data_and_method() -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.refuse(await peer.next_call("session/list"), 12345, "closed today", {"until": "noon"})
        with pytest.raises(RequestFailed) as caught:
            await asyncio.wait_for(asking, BOUND)

    error = caught.value
    assert (error.code, error.message, error.data, error.method) == (
        12345,
        "closed today",
        {"until": "noon"},
        "session/list",
    )
    assert str(error) == "session/list: closed today (code 12345)"


@pytest.mark.req("V1-FRAME-32")
async def test_unexpected_responses_are_counted_and_reported() -> None:
    async with a_client() as (peer, connection):
        seen: list[Any] = []
        connection.connection.on_problem = seen.append
        await peer.send({"id": 99, "result": {}})
        await peer.send({"id": None, "error": {"code": -32700, "message": "what?"}})
        await peer.quiet()

    assert connection.connection.problems == {"unexpected": 2}
    assert "(id 99)" in seen[0].text
    assert "error -32700: what?" in seen[1].text
