"""When a turn of version 2 is over: answer, echo and states may come in any order, and each prompt ends once."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import until
from support.wire_agent import Played, chunk, tell

from accord import RequestFailed
from accord.testing import wire_agent

RUNNING = {"sessionUpdate": "state_update", "state": "running"}
IDLE = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}


def echo(id: str, text: str = "go") -> dict[str, Any]:
    return {"sessionUpdate": "user_message", "messageId": id, "content": [{"type": "text", "text": text}]}


async def played_out(*steps: Any) -> tuple[Any, Any]:
    """A turn whose agent does these steps in order: an update, or an answer to the prompt."""
    async with wire_agent(2) as (peer, client):
        session = await Played(peer, client, 2).begin()
        turn = session.prompt("go")
        request = await peer.next_call("session/prompt")
        for step in steps:
            if step is not None and "sessionUpdate" in step:
                await tell(peer, "s", step)
            else:
                await peer.reply(request, step)
        await turn
    return turn, session


@pytest.mark.req("V2-PROMPT-07", "V2-PROMPT-08", "V2-PROMPT-17", "V2-PROMPT-05")
@pytest.mark.parametrize(
    "order",
    [
        [{"messageId": "m"}, echo("m"), RUNNING, chunk("hi", "a"), IDLE],
        [echo("m"), {"messageId": "m"}, RUNNING, chunk("hi", "a"), IDLE],
        [echo("m"), RUNNING, {"messageId": "m"}, chunk("hi", "a"), IDLE],
        [echo("m"), RUNNING, chunk("hi", "a"), IDLE, {"messageId": "m"}],
        [RUNNING, echo("m"), chunk("hi", "a"), {"messageId": "m"}, IDLE],
        [echo("m"), chunk("hi", "a"), {"messageId": "m"}, IDLE],
        [{"messageId": "m"}, chunk("hi", "a"), IDLE],
    ],
)
async def test_a_turn_ends_with_its_own_idle_in_whatever_order_the_rest_comes(order: list[Any]) -> None:
    turn, session = await played_out(*order)

    assert (turn.stop_reason, turn.text) == ("end_turn", "hi")
    said = [(item.role, item.text) for item in session.transcript.timeline]
    assert said == [("user", "go"), ("agent", "hi")]


@pytest.mark.parametrize(
    "order",
    [
        [{}, echo("m"), RUNNING, chunk("hi", "a"), IDLE],
        [echo("m"), RUNNING, chunk("hi", "a"), IDLE, {}],
        [None, RUNNING, chunk("hi", "a"), IDLE],
        [RUNNING, chunk("hi", "a"), {"stopReason": "end_turn"}],
        [echo("m"), RUNNING, chunk("hi", "a"), IDLE, {"stopReason": "end_turn"}],
    ],
)
async def test_answers_of_older_drafts_are_understood(order: list[Any]) -> None:
    turn, session = await played_out(*order)

    assert (turn.stop_reason, turn.text) == ("end_turn", "hi")
    said = [(item.role, item.text) for item in session.transcript.timeline]
    assert said == [("user", "go"), ("agent", "hi")]


@pytest.mark.req("V2-PROMPT-18", "V2-RESUME-11", "V2-SETUP-04")
async def test_a_repeated_state_ends_nothing() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        first, request = await played.start_turn(session, "one")
        await played.end(session, request)
        await first
        second = session.prompt("two")
        request = await peer.next_call("session/prompt")
        await tell(peer, "s", IDLE, IDLE)
        await peer.reply(request, {"messageId": "n"})
        await tell(peer, "s", IDLE)
        await peer.tell("_accord/nothing")
        await until(lambda: second.inserted)
        still = second.ended
        await tell(peer, "s", echo("n", "two"), RUNNING, chunk("yes", "a"), IDLE)
        await second
        await tell(peer, "s", IDLE)

    assert not still
    assert (second.text, first.text) == ("yes", "")


@pytest.mark.req("V2-PROMPT-12", "V2-PROMPT-17", "V2-PROMPT-18")
async def test_a_prompt_that_is_held_does_not_end_with_the_one_before_it() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        first, _ = await played.start_turn(session, "one")
        second = session.prompt("two")
        held = await peer.next_call("session/prompt")
        blocked = {"sessionUpdate": "state_update", "state": "requires_action"}
        await tell(peer, "s", blocked, RUNNING, chunk("1", "a"), IDLE)
        await first
        await peer.reply(held, {"messageId": "n"})
        await until(lambda: second.inserted)
        between = second.ended
        await tell(peer, "s", echo("n", "two"), RUNNING, chunk("2", "b"), {**IDLE, "stopReason": "refusal"})
        await second

    assert not between
    assert [(t.text, t.stop_reason) for t in (first, second)] == [("1", "end_turn"), ("2", "refusal")]


@pytest.mark.req("V2-PROMPT-17", "V2-PROMPT-12")
async def test_prompts_inserted_into_running_work_end_together() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        first, _ = await played.start_turn(session, "one")
        second = session.prompt("two")
        request = await peer.next_call("session/prompt")
        await peer.reply(request, {"messageId": "n"})
        await tell(peer, "s", echo("n", "two"), chunk("both", "a"), IDLE)
        await first
        await second

    assert (first.stop_reason, second.stop_reason) == ("end_turn", "end_turn")
    assert first.text == "both"


@pytest.mark.req("V2-PROMPT-22", "V2-PROMPT-20")
@pytest.mark.parametrize(("told", "reason"), [(None, "end_turn"), (42, "end_turn"), ("_bored", "_bored")])
async def test_without_a_stop_reason_the_turn_ends_normally(told: Any, reason: str) -> None:
    turn, _ = await played_out({"messageId": "m"}, echo("m"), RUNNING, {**IDLE, "stopReason": told})

    assert turn.stop_reason == reason


@pytest.mark.req("V2-STATE-06", "V2-STATE-04")
async def test_an_unknown_state_does_not_end_a_turn() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        for state in ("_dreaming", "unknown"):
            await tell(peer, "s", {"sessionUpdate": "state_update", "state": state})
            await until(lambda state=state: session.transcript.state == state)
        still = turn.ended
        await played.end(session, request)
        await turn

    assert not still


@pytest.mark.req("V2-PROMPT-21", "V2-PROMPT-10")
async def test_failed_work_raises_the_agents_error() -> None:
    error = {"code": -31000, "message": "no model", "data": {"try": "again"}}
    with pytest.raises(RequestFailed, match="no model") as caught:
        await played_out({"messageId": "m"}, echo("m"), RUNNING, {**IDLE, "stopReason": "error", "error": error})
    with pytest.raises(RequestFailed, match="reported an error"):
        await played_out({"messageId": "m"}, echo("m"), RUNNING, {**IDLE, "stopReason": "error"})

    assert (caught.value.code, caught.value.data) == (-31000, {"try": "again"})


async def test_a_prompt_that_the_agent_does_not_repeat_is_shown_where_it_was_sent() -> None:
    turn, session = await played_out({"messageId": "m"}, RUNNING, chunk("hi", "a"), IDLE)

    assert turn.message_id == "m"
    assert [(item.role, item.text) for item in session.transcript.timeline] == [("user", "go"), ("agent", "hi")]
