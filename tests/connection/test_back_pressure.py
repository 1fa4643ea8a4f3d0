"""Too much on either side makes the other wait; nothing is lost or reordered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connection.one_end import BOUND, HELLO, a_client, an_agent, hello_v1, passes, prompt, text_of, until, update

from accord import v1
from accord.connection.limits import Limits
from accord.errors import Overloaded

LIMITS = Limits(max_pending_bytes=10_000, max_waiting_bytes=50_000)
WORD = "x" * 200


class Stuck:
    """A handler of updates that waits until it may continue, and records what it saw."""

    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.seen: list[str] = []

    async def __call__(self, params: Any) -> None:
        await self.may_go_on.wait()
        self.seen.append(text_of(params))


def number_texts(count: int) -> list[str]:
    return [f"{number} {WORD}" for number in range(count)]


async def flood(peer: Any, texts: list[str], session: str = "s") -> None:
    """Sends updates one by one, each in its own loop iteration, so that a pause takes hold at once."""
    for text in texts:
        await peer.tell("session/update", update(session, text))
        await asyncio.sleep(0)


async def test_past_the_limit_reading_pauses_and_resumes_when_half_is_delivered() -> None:
    stuck = Stuck()
    async with a_client(session_update=stuck, limits=LIMITS) as (peer, connection):
        read: list[bytes] = []
        connection.watch(lambda direction, lines: read.append(lines))
        await flood(peer, number_texts(200))
        await passes()
        backlog = connection.connection.backlog
        assert backlog.paused
        assert 10_000 < sum(map(len, read)) < 12_000
        assert len(read) < 50

        stuck.may_go_on.set()
        await until(lambda: len(stuck.seen) == 200)
        await until(lambda: backlog.bytes == 0)
        assert not backlog.paused

    assert stuck.seen == number_texts(200)


async def test_a_pause_holds_up_every_session_and_loses_nothing_of_any() -> None:
    stuck = Stuck()
    free: list[str] = []

    async def session_update(params: Any) -> None:
        if params.session_id == "stuck":
            await stuck(params)
        else:
            free.append(text_of(params))

    async with a_client(session_update=session_update, limits=LIMITS) as (peer, connection):
        await flood(peer, number_texts(100), "stuck")
        await flood(peer, number_texts(100), "free")
        await passes()
        assert connection.connection.backlog.paused
        assert free == []
        stuck.may_go_on.set()
        await until(lambda: len(free) == 100)

    assert stuck.seen == number_texts(100)
    assert free == number_texts(100)


async def test_reading_continues_while_a_handler_awaits_a_response() -> None:
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        if not seen:
            await connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
        seen.append(text_of(params))

    async with a_client(session_update=session_update, limits=LIMITS) as (peer, connection):
        await flood(peer, number_texts(1))
        request = await peer.next_call("session/set_mode")
        await flood(peer, number_texts(100)[1:])  # far more than may wait otherwise
        await passes()
        assert not connection.connection.backlog.paused
        assert connection.connection.backlog.bytes > 10_000
        await peer.reply(request, {})
        await until(lambda: len(seen) == 100)

    assert seen == number_texts(100)


async def test_a_call_that_begins_during_a_pause_gets_its_answer() -> None:
    stuck = Stuck()
    async with a_client(session_update=stuck, limits=LIMITS) as (peer, connection):
        await flood(peer, number_texts(100))
        await passes()
        assert connection.connection.backlog.paused
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        assert (await asyncio.wait_for(asking, BOUND)).sessions == []
        stuck.may_go_on.set()
        await until(lambda: len(stuck.seen) == 100)

    assert stuck.seen == number_texts(100)


async def test_when_the_call_is_over_the_pause_is_back() -> None:
    stuck = Stuck()
    async with a_client(session_update=stuck, limits=LIMITS) as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        request = await peer.next_call("session/list")
        await flood(peer, number_texts(60))
        await passes()
        assert not connection.connection.backlog.paused
        await peer.reply(request, {"sessions": []})
        await asyncio.wait_for(asking, BOUND)
        assert connection.connection.backlog.paused
        stuck.may_go_on.set()
        await until(lambda: len(stuck.seen) == 60)


async def test_a_turn_does_not_keep_reading_going() -> None:
    stuck = Stuck()
    async with a_client(session_update=stuck, limits=LIMITS) as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        request = await peer.next_call("session/prompt")
        await flood(peer, number_texts(100))
        await passes()
        assert connection.connection.backlog.paused
        stuck.may_go_on.set()
        await peer.reply(request, {"stopReason": "end_turn"})
        await asyncio.wait_for(turn, BOUND)

    assert stuck.seen == number_texts(100)


async def test_past_the_hard_limit_the_waiting_calls_fail_and_only_they() -> None:
    failures: list[Exception] = []
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        if not seen:
            try:
                await connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
            except Overloaded as error:
                failures.append(error)
        seen.append(text_of(params))

    async with a_client(session_update=session_update, limits=LIMITS) as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        prompted = await peer.next_call("session/prompt")
        await flood(peer, number_texts(1))
        request = await peer.next_call("session/set_mode")
        await flood(peer, number_texts(500)[1:])
        await until(lambda: len(seen) == 500)
        assert (await peer.next_call("$/cancel_request"))["params"] == {"requestId": request["id"]}
        await peer.reply(request, {})  # too late, and no harm
        await peer.reply(prompted, {"stopReason": "end_turn"})
        assert (await asyncio.wait_for(turn, BOUND)).stop_reason == "end_turn"

    assert seen == number_texts(500)
    assert [str(error) for error in failures] == [
        "session/set_mode: more than 50000 bytes are waiting to be delivered; handle messages faster"
    ]
    assert connection.connection.problems == {}


async def test_asking_again_past_the_hard_limit_fails_at_once_instead_of_hanging() -> None:
    failures: list[str] = []
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        while not seen:
            try:
                await connection.session_set_mode(v1.SetSessionModeRequest(session_id="s", mode_id="m"))
            except Overloaded as error:
                failures.append(str(error))
                if len(failures) == 3:
                    break
        seen.append(text_of(params))

    async with a_client(session_update=session_update, limits=LIMITS) as (peer, connection):
        await flood(peer, number_texts(1))
        await peer.next_call("session/set_mode")
        await flood(peer, number_texts(500)[1:])
        await until(lambda: len(seen) == 500)

    assert len(failures) == 3
    assert seen == number_texts(500)


async def test_past_the_hard_limit_a_new_call_fails_before_it_is_sent() -> None:
    stuck = Stuck()
    async with a_client(session_update=stuck, limits=LIMITS) as (peer, connection):
        waiting = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.next_call("session/list")
        await flood(peer, number_texts(500))
        await asyncio.wait({waiting}, timeout=BOUND)
        assert isinstance(waiting.exception(), Overloaded)
        with pytest.raises(Overloaded, match="session/close"):
            await connection.session_close(v1.CloseSessionRequest(session_id="x"))
        stuck.may_go_on.set()
        await until(lambda: len(stuck.seen) == 500)
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await asyncio.wait_for(asking, BOUND)

    assert [message["method"] for message in peer.received] == ["session/list", "$/cancel_request", "session/list"]


# -- the other way


async def test_a_slow_peer_makes_a_sender_wait_and_gets_everything_in_order() -> None:
    async with an_agent() as (peer, connection):
        peer.transport.pause()
        sent = 0

        async def send() -> None:
            nonlocal sent
            for number in range(300):
                chunk = v1.AgentMessageChunk(content=v1.TextContent(text=f"{number} {'x' * 10_000}"), message_id="m")
                await connection.session_update(v1.SessionNotification(session_id="s", update=chunk))
                sent += 1

        sending = asyncio.ensure_future(send())
        await passes(500)
        assert not sending.done()
        assert 100 <= sent < 120  # about one mebibyte

        peer.transport.resume()
        await asyncio.wait_for(sending, BOUND)
        await until(lambda: len(peer.updates) == 300)

    assert [item["content"]["text"].split()[0] for item in peer.updates] == [str(number) for number in range(300)]


async def test_a_peer_that_asks_without_reading_is_not_read_on() -> None:
    limits = Limits(max_pending_bytes=500_000)
    asked = 0

    def session_prompt(params: Any) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return {"stopReason": "end_turn", "_meta": {"much": "x" * 50_000}}

    async with an_agent(session_prompt=session_prompt, limits=limits) as (peer, connection):
        peer.transport.pause()
        for _ in range(200):
            await peer.ask("session/prompt", prompt("s"))
            await passes(3)
        assert connection.connection.backlog.paused
        assert asked < 40  # the wire takes one mebibyte, then half of one may wait

        peer.transport.resume()
        await until(lambda: asked == 200)
        await until(lambda: len(peer.received) == 201)
        assert connection.connection.backlog.bytes == 0

    assert [message["id"] for message in peer.received[1:]] == list(range(200))


async def test_two_sides_that_flood_each_other_with_questions_both_get_their_answers() -> None:
    from accord.transports.memory import pair

    class Both:
        def initialize(self, params: Any) -> v1.InitializeResponse:
            return hello_v1(params)

        async def session_prompt(self, params: Any) -> v1.PromptResponse:
            return v1.PromptResponse(stop_reason="end_turn", meta={"much": "x" * 20_000})

        async def fs_read_text_file(self, params: Any) -> v1.ReadTextFileResponse:
            return v1.ReadTextFileResponse(content="x" * 20_000)

    ours, theirs = pair(high_water=50_000)
    limits = Limits(max_pending_bytes=50_000)
    async with v1.serve(ours, Both(), limits=limits) as agent, v1.connect(theirs, Both(), limits=limits) as client:
        await client.initialize(v1.InitializeRequest(protocol_version=1))
        reads = [agent.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a")) for _ in range(200)]
        turns = [client.session_prompt(v1.PromptRequest(session_id="s", prompt=[])) for _ in range(200)]
        async with asyncio.timeout(BOUND):
            await asyncio.gather(*reads, *turns)


@pytest.mark.req("V1-INIT-25", "V2-INIT-11")
async def test_what_waits_for_the_handshake_counts_too() -> None:
    may_go_on = asyncio.Event()
    listed = 0

    async def initialize(params: Any) -> v1.InitializeResponse:
        await may_go_on.wait()
        return hello_v1(params)

    def session_list(params: Any) -> dict[str, Any]:
        nonlocal listed
        listed += 1
        return {"sessions": []}

    handlers = {"initialize": initialize, "session_list": session_list}
    async with an_agent(said_hello=False, limits=LIMITS, **handlers) as (peer, connection):
        await peer.ask("initialize", HELLO[1], id="hello")
        for _ in range(200):
            await peer.ask("session/list", {"_meta": {"x": WORD}})
            await asyncio.sleep(0)
        assert connection.connection.backlog.paused
        may_go_on.set()
        await until(lambda: listed == 200)
        await until(lambda: len(peer.received) == 201)
        assert connection.connection.backlog.bytes == 0

    assert [message["id"] for message in peer.received] == ["hello", *range(200)]
