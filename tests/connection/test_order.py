"""Within a session everything comes in wire order, one at a time; sessions are independent."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, an_agent, prompt, text_of, until, update

from accord import v1

NOTHING = v1.PromptResponse(stop_reason="end_turn")


def make_read_request(path: str, session: str = "s") -> dict[str, Any]:
    return {"sessionId": session, "path": path}


@pytest.mark.req("V1-FRAME-36", "V2-FRAME-33")
async def test_slow_handlers_see_updates_one_at_a_time_in_wire_order() -> None:
    seen: list[str] = []
    inside = 0

    async def session_update(params: Any) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1, "two updates of a session were handled at once"
        # the earlier, the longer: later ones overtake if they can
        for _ in range(20 - int(text_of(params))):
            await asyncio.sleep(0)
        seen.append(text_of(params))
        inside -= 1

    async with a_client(session_update=session_update) as (peer, _):
        for number in range(20):
            await peer.tell("session/update", update("s", str(number)))
        await until(lambda: len(seen) == 20)

    assert seen == [str(number) for number in range(20)]


@pytest.mark.parametrize("plain", [True, False])
async def test_calls_and_answers_that_come_in_one_block_keep_their_order(plain: bool) -> None:
    story: list[str] = []

    def note(params: Any) -> None:
        story.append(text_of(params))

    async def note_async(params: Any) -> None:
        note(params)

    async def ask(number: int, connection: Any) -> None:
        await connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[]))
        story.append(f"answer {number}")

    async with a_client(session_update=note if plain else note_async) as (peer, connection):
        turns = [asyncio.ensure_future(ask(number, connection)) for number in range(2)]
        first, second = [await peer.next_call("session/prompt") for _ in turns]
        lines: list[dict[str, Any]] = []
        for request in (first, second):
            lines += [
                {"jsonrpc": "2.0", "method": "session/update", "params": update("s", f"before {request['id']}")},
                {"jsonrpc": "2.0", "method": "session/update", "params": update("other", "elsewhere")},
                {"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "end_turn"}},
            ]
        lines.append({"jsonrpc": "2.0", "method": "session/update", "params": update("s", "after both")})
        await peer.send(b"\n".join(json.dumps(line).encode() for line in lines))
        await asyncio.wait_for(asyncio.gather(*turns), BOUND)
        await until(lambda: len(story) == 7)

    ours = [said for said in story if said != "elsewhere"]
    assert ours.index(f"before {first['id']}") < ours.index("answer 0")
    assert ours.index(f"before {second['id']}") < ours.index("answer 1")
    assert [said for said in ours if not said.startswith("answer")] == [
        f"before {first['id']}",
        f"before {second['id']}",
        "after both",
    ]
    assert connection.connection.problems == {}


async def test_plain_handlers_are_called_in_place_without_a_task() -> None:
    tasks: list[Any] = []

    def session_update(params: Any) -> None:
        tasks.append(asyncio.current_task())

    async with a_client(session_update=session_update) as (peer, _):
        for number in range(3):
            await peer.tell("session/update", update("s", str(number)))
        await until(lambda: len(tasks) == 3)

    assert tasks == [None, None, None]


async def test_no_task_is_made_for_an_update_that_is_awaited() -> None:
    tasks: set[Any] = set()
    seen = 0

    async def session_update(params: Any) -> None:
        nonlocal seen
        await asyncio.sleep(0)
        tasks.add(asyncio.current_task())
        seen += 1

    async with a_client(session_update=session_update) as (peer, _):
        for number in range(200):
            await peer.tell("session/update", update("s", str(number)))
        await until(lambda: seen == 200)

    assert len(tasks) == 1


async def test_a_response_comes_after_the_updates_that_came_before_it() -> None:
    story: list[str] = []

    async def session_update(params: Any) -> None:
        await asyncio.sleep(0.001)
        story.append(text_of(params))

    async with a_client(session_update=session_update) as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        turn.add_done_callback(lambda _: story.append("answered"))
        request = await peer.next_call("session/prompt")
        for number in range(5):
            await peer.tell("session/update", update("s", str(number)))
        await peer.reply(request, {"stopReason": "end_turn"})
        await peer.tell("session/update", update("s", "late"))
        await asyncio.wait_for(turn, BOUND)
        await until(lambda: "late" in story)

    assert story[:5] == ["0", "1", "2", "3", "4"]
    assert set(story[5:]) == {"answered", "late"}


async def test_a_failed_answer_keeps_its_place_too() -> None:
    story: list[str] = []

    async def session_update(params: Any) -> None:
        await asyncio.sleep(0.001)
        story.append(text_of(params))

    async with a_client(session_update=session_update) as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        turn.add_done_callback(lambda _: story.append("answered"))
        request = await peer.next_call("session/prompt")
        await peer.tell("session/update", update("s", "before"))
        await peer.refuse(request, -32603)
        await asyncio.wait({turn}, timeout=BOUND)

    assert story == ["before", "answered"]
    assert turn.exception() is not None


async def test_what_a_caller_wants_done_with_the_answer_is_done_in_its_place() -> None:
    story: list[str] = []

    def session_update(params: Any) -> None:
        story.append(text_of(params))

    async with a_client(session_update=session_update) as (peer, connection):
        connection.connection.ask(
            v1.methods.SESSION_PROMPT,
            v1.PromptRequest(session_id="s", prompt=[]),
            then=lambda future: story.append(future.result().stop_reason),
        )
        request = await peer.next_call("session/prompt")
        await peer.tell("session/update", update("s", "before"))
        await peer.reply(request, {"stopReason": "end_turn"})
        await peer.tell("session/update", update("s", "after"))
        await until(lambda: len(story) == 3)

    assert story == ["before", "end_turn", "after"]


async def test_what_is_done_with_an_answer_may_fail_without_harm() -> None:
    def fail(future: Any) -> None:
        future.result()
        raise RuntimeError("no")

    async with a_client() as (peer, connection):
        inner = connection.connection
        inner.ask(v1.methods.SESSION_LIST, v1.ListSessionsRequest(), then=fail, long_running=True)
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await peer.quiet()


async def test_the_last_line_end_of_a_block_may_be_missing() -> None:
    seen: list[str] = []
    async with a_client(session_update=lambda params: seen.append(text_of(params))) as (_, connection):
        lines = [
            json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": update("s", text)}) for text in "abc"
        ]
        for count in (1, 2, 3):
            connection.connection.on_lines("\n".join(lines[:count]).encode())

    assert "".join(seen) == "aababc"


async def test_a_plain_handler_that_raises_a_cancellation_harms_nobody() -> None:
    def session_update(params: Any) -> None:
        raise asyncio.CancelledError

    async with a_client(session_update=session_update) as (peer, connection):
        await peer.tell("session/update", update("s", ""))
        await peer.quiet()

    assert connection.connection.problems == {"handler": 1}


async def test_a_handler_may_ask_within_its_own_session_without_deadlock() -> None:
    answers: list[str] = []

    async def session_update(params: Any) -> None:
        answer = await connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id=text_of(params)))
        answers.append(answer.meta["said"])

    async with a_client(session_update=session_update) as (peer, connection):
        await peer.tell("session/update", update("s", "first"))
        await peer.tell("session/update", update("s", "second"))
        for said in ("first", "second"):
            request = await peer.next_call("session/set_mode")
            assert request["params"]["modeId"] == said
            await peer.reply(request, {"_meta": {"said": said}})
        await until(lambda: len(answers) == 2)

    assert answers == ["first", "second"]


async def test_a_caller_outside_waits_while_a_caller_inside_does_not() -> None:
    story: list[str] = []

    def mode(name: str) -> Any:
        return connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id=name))

    async def session_update(params: Any) -> None:
        await mode("inside")
        story.append("inside")

    async with a_client(session_update=session_update) as (peer, connection):
        outside = asyncio.ensure_future(mode("outside"))
        outside.add_done_callback(lambda _: story.append("outside"))
        first = await peer.next_call("session/set_mode")
        await peer.tell("session/update", update("s", "x"))
        second = await peer.next_call("session/set_mode")
        await peer.reply(first, {})  # came after the update, whose handler still waits
        await peer.reply(second, {})
        await asyncio.wait_for(outside, BOUND)

    assert story == ["inside", "outside"]


@pytest.mark.req("V1-FRAME-35", "V2-FRAME-32")
async def test_a_stuck_handler_holds_up_no_other_session() -> None:
    stuck = asyncio.Event()
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        if params.session_id == "stuck":
            await stuck.wait()
        seen.append(params.session_id)

    async with a_client(session_update=session_update, fs_read_text_file=lambda p: {"content": p.path}) as (peer, conn):
        await peer.tell("session/update", update("stuck", ""))
        for number in range(3):
            await peer.tell("session/update", update(f"free {number}", ""))
        assert (await peer.call("fs/read_text_file", make_read_request("/a", "another")))["result"] == {"content": "/a"}
        asking = asyncio.ensure_future(conn.session_close(v1.CloseSessionRequest(session_id="free 0")))
        await peer.reply(await peer.next_call("session/close"), {})
        await asyncio.wait_for(asking, BOUND)
        await until(lambda: len(seen) == 3)
        assert seen == ["free 0", "free 1", "free 2"]
        stuck.set()
        await until(lambda: len(seen) == 4)


async def test_a_request_begins_after_the_updates_of_its_session() -> None:
    story: list[str] = []
    go_on = asyncio.Event()

    async def session_update(params: Any) -> None:
        await go_on.wait()
        story.append("update")

    def fs_read_text_file(params: Any) -> dict[str, str]:
        story.append(f"read in {params.session_id}")
        return {"content": ""}

    async with a_client(session_update=session_update, fs_read_text_file=fs_read_text_file) as (peer, _):
        await peer.tell("session/update", update("s", ""))
        behind = await peer.ask("fs/read_text_file", make_read_request("/a"))
        await peer.call("fs/read_text_file", make_read_request("/a", "other"))
        assert story == ["read in other"]
        go_on.set()
        await peer.answer_to(behind)

    assert story == ["read in other", "update", "read in s"]


async def test_a_long_request_does_not_hold_up_its_own_session() -> None:
    finish = asyncio.Event()
    cancelled = asyncio.Event()

    async def session_prompt(params: Any) -> v1.PromptResponse:
        await finish.wait()
        return NOTHING

    def session_cancel(params: Any) -> None:
        cancelled.set()

    async with an_agent(session_prompt=session_prompt, session_cancel=session_cancel) as (peer, _):
        turn = await peer.ask("session/prompt", prompt("s"))
        await peer.tell("session/cancel", {"sessionId": "s"})
        await asyncio.wait_for(cancelled.wait(), BOUND)
        finish.set()
        assert (await peer.answer_to(turn))["result"] == {"stopReason": "end_turn"}


async def test_a_request_that_began_behind_an_update_gets_its_answers_in_order() -> None:
    """Its handler was started by the lane, but doesn't belong to it."""
    story: list[str] = []
    go_on = asyncio.Event()

    async def session_update(params: Any) -> None:
        await (go_on.wait() if text_of(params) == "1" else asyncio.sleep(0))
        story.append(text_of(params))

    async def fs_read_text_file(params: Any) -> dict[str, str]:
        await connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
        story.append("answered")
        return {"content": ""}

    async with a_client(session_update=session_update, fs_read_text_file=fs_read_text_file) as (peer, connection):
        await peer.tell("session/update", update("s", "0"))
        reads = await peer.ask("fs/read_text_file", make_read_request("/a"))
        await peer.tell("session/update", update("s", "1"))
        await peer.reply(await peer.next_call("session/set_mode"), {})
        await peer.quiet()
        assert story == ["0"]
        go_on.set()
        await peer.answer_to(reads)

    assert story == ["0", "1", "answered"]


async def test_a_handler_that_fails_does_not_end_its_lane() -> None:
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        await asyncio.sleep(0)
        if text_of(params) == "bad":
            raise RuntimeError("no")
        if text_of(params) == "cancelled":
            raise asyncio.CancelledError
        seen.append(text_of(params))

    async with a_client(session_update=session_update) as (peer, connection):
        for text in ("a", "bad", "b", "cancelled", "c"):
            await peer.tell("session/update", update("s", text))
        await until(lambda: seen == ["a", "b", "c"])

    assert connection.connection.problems == {"handler": 1}


@pytest.mark.parametrize("given", [1, "text", [], {"a": 1}])
async def test_what_a_handler_of_a_notification_returns_does_not_matter(given: Any) -> None:
    go_on = asyncio.Event()
    seen: list[str] = []

    def session_update(params: Any) -> Any:
        seen.append(text_of(params))
        return go_on.wait() if text_of(params) == "slow" else given

    async with a_client(session_update=session_update) as (peer, connection):
        for text in ("in place", "slow", "queued"):
            await peer.tell("session/update", update("s", text))
        await peer.quiet()
        go_on.set()
        await until(lambda: len(seen) == 3)
        await peer.quiet()

    assert connection.connection.problems == {}


async def test_an_unreadable_request_is_reported_after_earlier_messages() -> None:
    go_on = asyncio.Event()
    seen: list[Any] = []

    async def session_update(params: Any) -> None:
        await go_on.wait()
        seen.append(text_of(params))

    async with a_client(session_update=session_update, session_request_permission=seen.append) as (peer, client):
        routes = client.connection._incoming._routes
        routes.unreadable = lambda method, params, why: seen.append((method, params, why))
        await peer.tell("session/update", update("s", "first"))
        answer = await peer.call("session/request_permission", {"sessionId": "s", "options": 7})
        assert "error" in answer
        assert seen == []
        go_on.set()
        await until(lambda: len(seen) == 2)

    method, params, why = seen[1]
    assert (seen[0], method, params["options"]) == ("first", "session/request_permission", 7)
    assert why in answer["error"]["message"]
