"""Every wait for a machine has a deadline with a name."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, passes, update
from support.loop_clock import LoopClock

from accord import v1
from accord.connection.limits import Deadline
from accord.errors import DeadlineExceeded

LIST = v1.methods.SESSION_LIST


async def test_a_deadline_that_passes_names_the_stage_the_method_the_time_and_the_peer() -> None:
    async with a_client() as (peer, connection):
        with pytest.raises(DeadlineExceeded) as caught:
            await connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 0.01))
        request, cancel = await peer.receive(), await peer.receive()

    assert str(caught.value) == "the in-memory peer didn't respond to session/list within 0.01 s (stage call)"
    assert (caught.value.stage, caught.value.seconds) == ("call", 0.01)
    assert (cancel["method"], cancel["params"]) == ("$/cancel_request", {"requestId": request["id"]})


async def test_a_late_response_is_dropped_and_the_connection_continues() -> None:
    async with a_client() as (peer, connection):
        with pytest.raises(DeadlineExceeded):
            await connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 0.01))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        again = asyncio.ensure_future(connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", BOUND)))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        assert (await again).sessions == []

    assert connection.connection.problems == {}


def _timers_far_off() -> int:
    loop: Any = asyncio.get_running_loop()
    return sum(not timer.cancelled() for timer in loop._scheduled if timer.when() > loop.time() + 3000)


async def test_answers_in_time_leave_one_timer_behind_however_many_they_are_and_the_end_none() -> None:
    async with a_client() as (peer, connection):
        for _ in range(5):
            asking = asyncio.ensure_future(
                connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 3600))
            )
            await peer.reply(await peer.next_call("session/list"), {"sessions": []})
            await asking
        assert _timers_far_off() == 1

    assert _timers_far_off() == 0


async def test_each_request_has_its_own_full_time_though_they_share_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_client() as (peer, connection):
        clock = LoopClock(monkeypatch)
        deadline = Deadline("call", 120)
        first = asyncio.ensure_future(connection.call(LIST, v1.ListSessionsRequest(), deadline=deadline))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await first
        clock.advance(60)
        second = asyncio.ensure_future(connection.call(LIST, v1.ListSessionsRequest(), deadline=deadline))
        await peer.next_call("session/list")
        clock.advance(60)  # the timer fires, which was set for the first request
        await passes(10)
        assert not second.done()

        clock.advance(60)
        with pytest.raises(DeadlineExceeded):
            await second


async def test_requests_with_the_same_deadline_expire_in_order() -> None:
    late: list[int] = []

    async def ask(number: int, connection: Any) -> None:
        with pytest.raises(DeadlineExceeded):
            await connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 0.02))
        late.append(number)

    async with a_client() as (_, connection):
        await asyncio.wait_for(asyncio.gather(*(ask(number, connection) for number in range(3))), BOUND)

    assert late == [0, 1, 2]


async def test_a_short_deadline_does_not_wait_for_a_long_one_that_was_set_before() -> None:
    async with a_client() as (_, connection):
        long = asyncio.ensure_future(connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 3600)))
        short = connection.call(LIST, v1.ListSessionsRequest(), deadline=Deadline("call", 0.01))
        with pytest.raises(DeadlineExceeded):
            await asyncio.wait_for(short, BOUND)
        long.cancel()


async def test_without_a_deadline_nothing_is_timed() -> None:
    async with a_client() as (peer, connection):
        loop: Any = asyncio.get_running_loop()
        before = len(loop._scheduled)
        asking = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        request = await peer.next_call("session/prompt")
        assert len(loop._scheduled) == before + 1  # the wait of `next_call` itself
        await peer.reply(request, {"stopReason": "end_turn"})
        await asking


async def test_a_deadline_counts_the_time_in_its_sessions_lane_too() -> None:
    stuck = asyncio.Event()

    async def session_update(params: Any) -> None:
        await stuck.wait()

    async with a_client(session_update=session_update) as (peer, connection):
        method = v1.methods.SESSION_CLOSE
        asking = asyncio.ensure_future(
            connection.call(method, v1.CloseSessionRequest(session_id="s"), deadline=Deadline("close", 0.05))
        )
        request = await peer.next_call("session/close")
        await peer.tell("session/update", update("s", ""))
        await peer.reply(request, {})
        with pytest.raises(DeadlineExceeded, match="stage close"):
            await asyncio.wait_for(asking, BOUND)
        stuck.set()


async def test_a_deadline_passes_while_a_peer_takes_nothing() -> None:
    async with a_client() as (peer, connection):
        peer.transport.pause()
        prompt = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="x" * 3_000_000)])
        with pytest.raises(DeadlineExceeded, match="stage turn"):
            await connection.call(v1.methods.SESSION_PROMPT, prompt, deadline=Deadline("turn", 0.05))
        peer.transport.resume()


async def test_a_peer_that_takes_it_slowly_but_in_time_is_waited_for() -> None:
    async with a_client() as (peer, connection):
        peer.transport.pause()
        prompt = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="x" * 3_000_000)])
        asking = asyncio.ensure_future(
            connection.call(v1.methods.SESSION_PROMPT, prompt, deadline=Deadline("turn", BOUND))
        )
        await passes()
        peer.transport.resume()
        await peer.reply(await peer.next_call("session/prompt"), {"stopReason": "end_turn"})
        assert (await asking).stop_reason == "end_turn"
