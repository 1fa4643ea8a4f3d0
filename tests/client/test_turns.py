"""A turn as its client sees it: iterated or awaited, left early, cancelled, ended once."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_agent import Played, chunk, tell

from accord import (
    ConnectionClosed,
    InvalidParams,
    LocalProtocolError,
    MessageSet,
    RequestFailed,
    StateChanged,
    Text,
    ToolCall,
    Turn,
)
from accord.testing import ScriptedAgent, wire_agent


async def wait(turn: Turn) -> None:
    await asyncio.Event().wait()


async def test_a_turn_can_be_iterated_for_events_in_wire_order(link: Link) -> None:
    async def work(turn: Turn) -> None:
        await turn.say("a")
        async with turn.tool("T"):
            await turn.say("b")

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        story = []
        async for event in turn:
            match event:
                case Text(text=text):
                    story.append(text)
                case ToolCall(status=status):
                    story.append(status)
                case MessageSet(role="user") as message:
                    story.append(message.text)
                case StateChanged(state=state):
                    story.append(state)

    assert story == ["go", "running", "a", "pending", "in_progress", "b", "completed", "idle"]
    assert (turn.stop_reason, turn.ended) == ("end_turn", True)
    assert session.last_turn is turn


async def test_a_turn_can_be_awaited_for_its_end(link: Link) -> None:
    async with link(script_agent("all ", "of it")) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        same = await turn

    assert (turn.text, same) == ("all of it", turn)


async def test_a_turn_that_was_iterated_can_be_awaited(link: Link) -> None:
    async with link(script_agent("text")) as client:
        turn = (await client.new_session()).prompt("go")
        count = len([event async for event in turn])
        assert (await turn).stop_reason == "end_turn"

    assert count > 0


async def test_a_turn_continues_whether_or_not_its_events_are_read(link: Link) -> None:
    async with link(script_agent("text")) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.ended)
        events = [event async for event in turn if isinstance(event, Text)]

    assert [event.text for event in events] == ["text"]


@pytest.mark.req("V1-CANCEL-01", "V2-CANCEL-01")
async def test_leaving_the_loop_early_cancels_the_turn(link: Link) -> None:
    async with link(ScriptedAgent(["first", wait], ["after"])) as client:
        session = await client.new_session()
        async for event in session.prompt("go"):
            if isinstance(event, Text):
                break
        turn = session.last_turn
        assert turn is not None
        gc.collect()
        await until(lambda: turn.ended)
        after = await session.prompt("again")

    assert turn.stop_reason == "cancelled"
    assert after.text == "after"


async def test_cancelling_the_task_that_awaits_a_turn_cancels_the_turn(link: Link) -> None:
    async with link(ScriptedAgent(["first", wait], ["after"])) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(turn, 0.01)
        await until(lambda: turn.ended)
        after = await session.prompt("again")

    assert turn.stop_reason == "cancelled"
    assert after.text == "after"


async def test_cancelling_the_task_that_iterates_a_turn_cancels_the_turn(link: Link) -> None:
    async with link(ScriptedAgent(["first", wait])) as client:
        session = await client.new_session()
        turn = session.prompt("go")

        async def read() -> None:
            async for _ in turn:
                pass

        reading = asyncio.ensure_future(read())
        await until(lambda: turn.has_output)
        reading.cancel()
        await until(lambda: turn.ended)

    assert turn.stop_reason == "cancelled"


async def test_a_turn_that_fails_raises_at_the_end_of_the_loop(link: Link) -> None:
    async def fail(turn: Turn) -> None:
        await turn.say("so far")
        raise ValueError("and no further")

    async with link(script_agent(fail)) as client:
        turn = (await client.new_session()).prompt("go")
        seen: list[Any] = []
        with pytest.raises(RequestFailed, match="and no further"):
            seen += [event async for event in turn]

    assert turn.text == "so far"
    assert turn.stop_reason in (None, "error")


@pytest.mark.req("V1-PROMPT-02", "V2-PROMPT-02")
async def test_a_prompt_with_nothing_in_it_is_not_sent(link: Link) -> None:
    async with link(script_agent()) as client:
        session = await client.new_session()
        for nothing in ((), ([],)):
            with pytest.raises(InvalidParams):
                session.prompt(*nothing)


async def test_a_closed_session_takes_no_prompts(link: Link) -> None:
    async with link(script_agent()) as client:
        session = await client.new_session()
        await session.close()
        await session.close()
        with pytest.raises(LocalProtocolError, match="closed"):
            session.prompt("hi")
        assert [event async for event in session.events()] == []
        assert client.sessions == {}
    with pytest.raises(ConnectionClosed):
        session.prompt("hi")


async def test_closing_a_session_ends_its_turn(link: Link) -> None:
    async with link(script_agent("first", wait)) as client:
        session = await client.new_session()
        turn, waiting = session.prompt("go"), session.prompt("next")
        await until(lambda: turn.has_output)
        await session.close()
        await turn
        await waiting

    assert (turn.stop_reason, waiting.stop_reason) == ("cancelled", "cancelled")


async def test_closing_the_connection_ends_every_turn_with_the_reason(link: Link) -> None:
    async with link(script_agent("first", wait)) as client:
        session = await client.new_session()
        events = session.events()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
    with pytest.raises(ConnectionClosed, match="closed"):
        await turn
    assert len([event async for event in events]) > 0
    with pytest.raises(ConnectionClosed):
        await client.new_session()


async def test_cancelling_a_turn_leaves_the_calls_of_earlier_turns_as_they_are(version: int) -> None:
    """Some agents never say that a call has ended."""
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        kind = "tool_call" if version == 1 else "tool_call_update"
        first, request = await played.start_turn(session, "write")
        await tell(peer, "s", {"sessionUpdate": kind, "toolCallId": "earlier", "title": "Write", "status": "pending"})
        await played.end(session, request)
        await first
        turn, request = await played.start_turn(session, "run")
        await tell(peer, "s", {"sessionUpdate": kind, "toolCallId": "now", "title": "Run", "status": "pending"})
        await until(lambda: "now" in session.transcript.tool_calls)
        await turn.cancel()
        await played.end(session, request, "cancelled")
        await turn

    statuses = {id: call.status for id, call in session.transcript.tool_calls.items()}
    assert statuses == {"earlier": "pending", "now": "cancelled"}


@pytest.mark.req("V1-CANCEL-02", "V2-CANCEL-09", "V1-CANCEL-08")
async def test_unfinished_calls_are_cancelled_here_at_once_and_still_listened_to(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        kind = "tool_call" if version == 1 else "tool_call_update"
        call = {"sessionUpdate": kind, "toolCallId": "c", "title": "T", "status": "in_progress"}
        await tell(peer, "s", call)
        await until(lambda: session.transcript.tool_calls)
        await turn.cancel()
        at_once = session.transcript.tool_calls["c"].status
        cancel = await peer.next_call("session/cancel")
        await tell(peer, "s", {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
        await played.end(session, request, "cancelled")
        await turn

    assert cancel["params"] == {"sessionId": "s"}
    assert at_once == "cancelled"
    assert session.transcript.tool_calls["c"].status == "completed"
    assert turn.stop_reason == "cancelled"


async def test_a_queued_turn_is_dropped_without_a_message_to_the_agent() -> None:
    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        first, request = await played.start_turn(session, "one")
        second = session.prompt("two")
        await second.cancel()
        await second
        await played.end(session, request)
        await first

    assert (first.stop_reason, second.stop_reason) == ("end_turn", "cancelled")
    assert [m["method"] for m in peer.received] == ["initialize", "session/new", "session/prompt"]


@pytest.mark.req("V2-PROMPT-13")
async def test_in_version_2_a_prompt_that_the_agent_holds_is_withdrawn_alone() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        first, request = await played.start_turn(session, "one")
        second = session.prompt("two")
        held = await peer.next_call("session/prompt")
        await second.cancel()
        withdrawn = await peer.next_call("$/cancel_request")
        await peer.refuse(held, -32800)
        await second
        await played.end(session, request)
        await first

    assert withdrawn["params"] == {"requestId": held["id"]}
    assert (first.stop_reason, second.stop_reason) == ("end_turn", "cancelled")


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_can_be_withdrawn_while_the_agent_holds_it_and_not_after() -> None:
    told: list[str] = []
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        first, request = await played.start_turn(session, "one")
        held, taken = session.prompt("two"), session.prompt("three")
        held.on_inserted = lambda: told.append("two")
        taken.on_inserted = lambda: told.append("three")
        request_held, request_taken = await peer.next_call("session/prompt"), await peer.next_call("session/prompt")
        assert held.withdraw()
        await peer.refuse(request_held, -32800)
        await held
        await peer.reply(request_taken, {"messageId": "m3"})
        await until(lambda: taken.inserted)
        assert not held.withdraw()
        assert not taken.withdraw()
        await played.end(session, request)
        await first

    assert held.stop_reason == "cancelled"
    assert told == ["three"]
    assert [m["method"] for m in peer.received].count("$/cancel_request") == 1


async def test_version_1_cannot_withdraw_a_prompt() -> None:
    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        turn, request = await played.start_turn(session, "one")
        assert not turn.withdraw()
        await played.end(session, request)
        await turn


async def test_text_that_comes_whole_or_is_replaced_is_read_as_it_stands() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        whole = {"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": "Better"}]}
        await tell(peer, "s", chunk("Wrong", "m"), whole, chunk("!", "m"), chunk(" More.", "n"))
        await played.end(session, request)
        await turn

    assert turn.text == "Better! More."


@pytest.mark.req("V1-PROMPT-10", "V1-PROMPT-18")
async def test_only_the_answer_ends_a_turn_of_version_1() -> None:
    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        await tell(peer, "s", chunk("done!", "m"))
        await until(lambda: turn.has_output)
        still = turn.ended
        await played.end(session, request, "refusal")
        await turn

    assert (still, turn.stop_reason) == (False, "refusal")


async def test_an_answer_that_cannot_be_read_ends_the_turn_with_the_fault() -> None:
    from accord import RemoteProtocolError

    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        await peer.reply(request, {"stopReason": 5})
        with pytest.raises(RemoteProtocolError, match="stopReason"):
            await turn
        again, request = await played.start_turn(session, "go")
        await played.end(session, request)
        await again

    assert again.stop_reason == "end_turn"
