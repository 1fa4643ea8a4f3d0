"""Bad input gets its error, with the path of the problem, and the connection continues."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, an_agent, hello_v1, problems, prompt, until, update

from accord import AccordError, v1
from accord.connection.limits import Limits

NEW = {"cwd": "/", "mcpServers": []}


def working_agent(**more: Any) -> Any:
    handlers: dict[str, Any] = {
        "session_new": lambda params: v1.NewSessionResponse(session_id="s"),
        "session_prompt": lambda params: v1.PromptResponse(stop_reason="end_turn"),
        "session_list": lambda params: {"sessions": []},
        "session_cancel": lambda params: None,
    }
    return an_agent(**{**handlers, **more})


async def still_works(peer: Any) -> None:
    assert (await peer.call("session/new", NEW))["result"] == {"sessionId": "s"}


DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.req("V1-FRAME-28")
async def test_a_request_that_is_nested_too_deeply_is_answered_by_its_id() -> None:
    async with working_agent() as (peer, connection):
        await peer.send(b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","_meta":%b}}' % DEEP)
        await peer.send(b'{"jsonrpc":"2.0","id":77,"method":"session/list","params":{"_meta":%b}}' % DEEP)
        answer = await peer.receive()
        await still_works(peer)

    assert (answer["id"], answer["error"]["code"]) == (77, -32600)
    assert connection.connection.problems == {"refused": 2}


async def test_an_answer_that_is_nested_too_deeply_fails_its_call() -> None:
    async with a_client() as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        id = (await peer.next_call("session/list"))["id"]
        await peer.send(b'{"jsonrpc":"2.0","id":%d,"result":{"sessions":[],"_meta":%b}}' % (id, DEEP))
        with pytest.raises(AccordError, match="nested too deeply"):  # newer Pythons find out only in the result
            await asyncio.wait_for(asking, BOUND)


@pytest.mark.parametrize("id", ["1.0", "1e3", "-0.0"])
async def test_a_request_is_answered_with_its_id_as_it_was_written(id: str) -> None:
    seen: list[bytes] = []
    async with working_agent() as (peer, connection):
        connection.watch(lambda direction, line: seen.append(line) if direction == "out" else None)
        await peer.send(f'{{"jsonrpc":"2.0","id":{id},"method":"session/list"}}'.encode())
        await peer.receive()

    assert seen == [f'{{"jsonrpc":"2.0","id":{id},"result":{{"sessions":[]}}}}\n'.encode()]


async def test_a_broken_message_is_not_repeated_in_the_report() -> None:
    reports: list[str] = []
    async with working_agent() as (peer, connection):
        connection.connection.on_problem = lambda trouble: reports.append(trouble.text)
        await peer.send(b'{"jsonrpc":"2.0","method":"authenticate","params":{"key":"s3cret"')
        await peer.receive()

    assert reports == ["Parse error: the line is not JSON"]


@pytest.mark.req("V1-FRAME-27", "V1-FRAME-28", "V1-FRAME-43", "V2-FRAME-13", "V2-FRAME-15")
@pytest.mark.parametrize(
    "line, code, id",
    [
        (b"{oops", -32700, None),
        (b"Traceback (most recent call last):", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"\xff"}}', -32700, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":NaN}}', -32700, 1),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/list"}{}', -32700, None),
        (b"42", -32600, None),
        (b'"text"', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"id":"a","method":"session/list"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":7}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"session/list","params":7}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"session/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"session/list"}', -32600, None),
        (b"[]", -32600, None),
    ],
)
async def test_an_agent_answers_an_invalid_message_with_its_error(line: bytes, code: int, id: Any) -> None:
    async with working_agent() as (peer, _):
        await peer.send(line)
        answer = await peer.receive()
        await still_works(peer)

    assert (answer["error"]["code"], answer["id"]) == (code, id)
    assert len(peer.received) == 3


@pytest.mark.parametrize("line", [b"{oops", b"starting ...", b"42", b"{}", b'{"level":"info"}', b"\xff\xfe", b"null"])
async def test_a_client_skips_counts_and_reports_stray_lines_and_does_not_answer_them(line: bytes) -> None:
    async with a_client() as (peer, connection):
        seen = problems(connection)
        await peer.send(line)
        await peer.quiet()

    assert len(peer.received) == 1
    assert [trouble.kind for trouble in seen] == ["stray"]
    assert connection.connection.problems == {"stray": 1}


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b'"\xff"'])
async def test_a_client_answers_a_request_with_a_value_that_is_not_json(value: bytes) -> None:
    async with a_client() as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"x":%b}}' % value)
        answer = await peer.receive()

    assert (answer["id"], answer["error"]["code"]) == (5, -32700)


async def test_an_update_with_a_value_that_is_not_json_still_arrives() -> None:
    """In version 2 it may be the end of a turn."""
    states: list[str] = []
    update = b'{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","_meta":{"cost":NaN,"by":"\xc3"}}'
    async with a_client(version=2, session_update=lambda params: states.append(params.update.state)) as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%b}}' % update)
        await until(lambda: states)

    assert states == ["idle"]


async def test_a_client_answers_a_broken_request() -> None:
    async with a_client() as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":"?"}')
        assert (await peer.answer_to(5))["error"]["code"] == -32600


@pytest.mark.req("V1-FRAME-26", "V2-FRAME-26", "V1-EXT-08")
@pytest.mark.parametrize("method", ["foo/bar", "_nope", "session/update", "$/x", "", "x" * 10_000])
async def test_an_unknown_method_is_not_found(method: str) -> None:
    async with working_agent() as (peer, _):
        answer = await peer.call(method, {"secret": "hush"})
        await still_works(peer)

    assert answer["error"]["code"] == -32601
    assert "hush" not in str(answer)
    assert len(answer["error"]["message"]) < 200


@pytest.mark.req("V1-FRAME-17", "V1-FRAME-24")
async def test_a_notification_that_is_sent_as_a_request_is_not_found_and_not_carried_out() -> None:
    cancelled: list[Any] = []
    async with working_agent(session_cancel=cancelled.append) as (peer, _):
        answer = await peer.call("session/cancel", {"sessionId": "s"})
        await still_works(peer)

    assert answer["error"]["code"] == -32601
    assert cancelled == []


@pytest.mark.req("V1-FRAME-17", "V1-FRAME-24")
async def test_a_request_that_is_sent_as_a_notification_is_neither_answered_nor_carried_out() -> None:
    made: list[Any] = []
    async with working_agent(session_prompt=made.append) as (peer, connection):
        seen = problems(connection)
        await peer.tell("session/prompt", prompt("s"))
        await peer.send(b'{"jsonrpc":"2.0","method":"session/prompt","params":{}}')
        await still_works(peer)

    assert made == []
    assert [trouble.kind for trouble in seen] == ["dropped", "dropped"]
    assert len(peer.received) == 2


@pytest.mark.req("V1-FRAME-29", "V1-FRAME-43", "V2-FRAME-26")
@pytest.mark.parametrize(
    "method, params, message, path",
    [
        ("session/new", {}, "session/new: cwd is missing", "cwd"),
        ("session/new", {"cwd": 7, "mcpServers": []}, "session/new: cwd is a number: expected str, got int", "cwd"),
        ("session/prompt", {"prompt": []}, "session/prompt: sessionId is missing", "sessionId"),
        (
            "session/prompt",
            {"sessionId": "s", "prompt": [{"text": "x"}]},
            "session/prompt: prompt[0].type is missing; it may be text, image, audio, resource_link or resource",
            "prompt[0].type",
        ),
        (
            "session/prompt",
            {"sessionId": "s", "prompt": [{"type": "text", "text": "x"}, {"type": "text"}]},
            "session/prompt: prompt[1].text is missing",
            "prompt[1].text",
        ),
        ("session/prompt", [], "session/prompt: is a list: expected object, got array", None),
    ],
)
async def test_bad_params_are_rejected_with_the_path_of_the_error(
    method: str, params: Any, message: str, path: str | None
) -> None:
    async with working_agent() as (peer, _):
        error = (await peer.call(method, params))["error"]
        await still_works(peer)

    assert error["code"] == -32602
    assert error["message"] == message
    assert error.get("data") == ({"path": path} if path else None)


async def test_a_refusal_never_repeats_what_was_sent() -> None:
    async with working_agent() as (peer, _):
        answer = await peer.call(
            "session/new", {"cwd": {"token": "sk-very-secret"}, "mcpServers": [{"env": "sk-very-secret"}]}
        )

    assert answer["error"]["code"] == -32602
    assert "secret" not in str(answer)


@pytest.mark.req("V1-FRAME-24", "V2-FRAME-14", "V1-EXT-09")
@pytest.mark.parametrize(
    "method, params",
    [("session/cancel", {}), ("session/cancel", {"sessionId": 7}), ("session/cancel", []), ("_nope", {"a": 1})],
)
async def test_a_bad_or_unknown_notification_is_dropped_and_reported_and_never_answered(
    method: str, params: Any
) -> None:
    async with working_agent() as (peer, connection):
        seen = problems(connection)
        await peer.tell(method, params)
        await still_works(peer)

    assert len(peer.received) == 2
    assert [trouble.kind for trouble in seen] == ["dropped"]
    assert method in seen[0].text


@pytest.mark.req("V1-FRAME-31")
@pytest.mark.parametrize("tail", [b"", b',"params":null', b',"params":{}'])
async def test_params_may_be_absent_or_null_where_all_is_optional(tail: bytes) -> None:
    async with working_agent() as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","id":1,"method":"session/list"' + tail + b"}")

        assert (await peer.answer_to(1))["result"] == {"sessions": []}


@pytest.mark.req("V1-FRAME-37")
async def test_empty_lines_and_carriage_returns_do_not_matter() -> None:
    async with working_agent() as (peer, connection):
        await peer.send(
            b'\r\n\n  \n{"jsonrpc":"2.0","id":1,"method":"session/list"}\r\n\r\n'
            b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\r\n\t\r'
        )
        await peer.answer_to(1)
        await still_works(peer)

    assert connection.connection.problems == {}


async def test_the_order_of_keys_does_not_matter() -> None:
    async with working_agent() as (peer, _):
        await peer.send(b'{"params":{"mcpServers":[],"cwd":"/"},"method":"session/new","id":1,"jsonrpc":"2.0"}')

        assert (await peer.answer_to(1))["result"] == {"sessionId": "s"}


async def test_good_lines_around_a_bad_one_are_read_in_their_order() -> None:
    seen: list[str] = []
    async with a_client(session_update=lambda params: seen.append(params.update.content.text)) as (peer, connection):
        async with asyncio.timeout(300):
            for number in range(3):
                await peer.tell("session/update", update("s", f"{number} before"))
                await peer.send(b"garbage")
                await peer.tell("session/update", update("s", f"{number} after"))
            await peer.quiet()

    assert seen == ["0 before", "0 after", "1 before", "1 after", "2 before", "2 after"]
    assert connection.connection.problems == {"stray": 3}


async def test_an_update_with_half_a_character_arrives() -> None:
    seen: list[str] = []
    async with a_client(session_update=lambda params: seen.append(params.update.content.text)) as (peer, _):
        line = (
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":'
            b'"agent_message_chunk","content":{"type":"text","text":"cut \\ud83d"}}}}'
        )
        await peer.send(line)
        await peer.quiet()

    assert seen == ["cut \ufffd"]


async def test_a_flood_of_trouble_is_counted_in_full_and_logged_in_part(caplog: pytest.LogCaptureFixture) -> None:
    async with a_client() as (peer, connection):
        await peer.send(b"noise\n" * 1000 + b"noise")
        await peer.quiet()

    assert connection.connection.problems == {"stray": 1001}
    assert len(caplog.records) <= 20


# -- batches


def call(id: int, method: str = "session/list") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method}


@pytest.mark.req("V2-FRAME-18", "V2-FRAME-20", "V2-FRAME-21", "V2-FRAME-14")
async def test_a_batch_is_answered_by_one_array_when_all_is_done() -> None:
    finish = asyncio.Event()

    async def session_new(params: Any) -> v1.NewSessionResponse:
        await finish.wait()
        return v1.NewSessionResponse(session_id="s")

    async with working_agent(session_new=session_new) as (peer, _):
        notification = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}
        await peer.send([{**call(1, "session/new"), "params": NEW}, call(2), notification, 7, call(3, "nope")])
        await peer.quiet()
        assert len(peer.received) == 2
        finish.set()
        await until(lambda: len(peer.received) == 3)

    answers = peer.received[-1]
    assert Counter(answer["id"] for answer in answers) == {1: 1, 2: 1, 3: 1, None: 1}
    assert {answer["id"]: answer.get("error", {}).get("code") for answer in answers} == {
        1: None,
        2: None,
        3: -32601,
        None: -32600,
    }


@pytest.mark.req("V2-FRAME-20")
async def test_a_batch_of_notifications_is_carried_out_in_silence() -> None:
    cancelled: list[str] = []
    async with working_agent(session_cancel=lambda params: cancelled.append(params.session_id)) as (peer, _):
        await peer.send(
            [{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": name}} for name in "abc"]
        )
        await still_works(peer)

    assert cancelled == ["a", "b", "c"]
    assert len(peer.received) == 2


@pytest.mark.req("V1-FRAME-39", "V2-FRAME-23")
async def test_where_batches_are_rejected_one_error_answers_all() -> None:
    async with working_agent(limits=Limits(batches="reject")) as (peer, _):
        await peer.send([call(1), call(2)])
        answer = await peer.receive()
        await still_works(peer)

    assert (answer["error"]["code"], answer["id"]) == (-32600, None)
    assert len(peer.received) == 3


@pytest.mark.req("V2-FRAME-24")
async def test_a_handshake_inside_a_batch_is_answered_and_its_neighbors_refused() -> None:
    async with an_agent(said_hello=False, initialize=hello_v1) as (peer, _):
        await peer.send([{**call(1, "initialize"), "params": {"protocolVersion": 1}}, call(2)])
        answers = await peer.receive()

    assert {answer["id"]: answer.get("error", {}).get("code") for answer in answers} == {1: None, 2: -32600}


@pytest.mark.req("V1-FRAME-04")
async def test_no_batch_is_ever_sent_unasked() -> None:
    async with a_client() as (peer, connection):
        calls = [asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest())) for _ in range(5)]
        for _ in calls:
            await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await asyncio.gather(*calls)

    assert all(isinstance(message, dict) for message in peer.received)
