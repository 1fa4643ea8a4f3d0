"""Cancelling: ordinary asyncio cancellation in the handler, and always the same end on the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, until
from support.wire_client import ask, begin_session, kinds, states, turn, until_states, wait_for_stop

from accord import Turn
from accord.testing import ScriptedAgent, ScriptedClient, wire_client


class Waiting(ScriptedAgent):
    """Says `waiting`, then waits to be cancelled, then runs a given function; the next prompts are echoed."""

    def __init__(self, when_cancelled: Any = None) -> None:
        self.when_cancelled = when_cancelled
        self.cancelled = False
        super().__init__([self.wait])

    async def wait(self, turn: Turn) -> Any:
        await turn.say("waiting")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = turn.cancelled
            if self.when_cancelled is None:
                raise
            return await self.when_cancelled(turn)


async def raises(turn: Turn) -> None:
    raise ConnectionResetError("aborted by the model client")


async def returns(turn: Turn) -> str:
    return "end_turn"


async def speaks(turn: Turn) -> None:
    await turn.say(" stopped")
    raise asyncio.CancelledError


@pytest.mark.feature("cancelling", "agent", "client")
@pytest.mark.req("V1-CANCEL-01", "V1-CANCEL-05", "V2-CANCEL-01", "V2-CANCEL-10", "V2-CANCEL-02", "V1-CANCEL-04")
async def test_a_cancelled_turn_ends_as_cancelled_and_the_session_continues(link: Link) -> None:
    agent = Waiting()
    async with link(agent) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
        await turn.cancel()
        await turn
        after = await session.prompt("still there?")

    assert turn.stop_reason == "cancelled"
    assert agent.cancelled
    assert after.text == "You said: still there?"


@pytest.mark.req("V1-CANCEL-06", "V2-CANCEL-12")
@pytest.mark.parametrize("reaction", [raises, returns, speaks])
async def test_whatever_the_handler_makes_of_it_the_turn_was_cancelled(link: Link, reaction: Any) -> None:
    async with link(Waiting(reaction)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
        await session.cancel()
        await turn

    assert (turn.stop_reason, turn.error) == ("cancelled", None)


@pytest.mark.req("V1-CANCEL-07", "V1-CANCEL-08", "V2-CANCEL-11")
async def test_last_words_come_before_the_end(version: int) -> None:
    async with wire_client(Waiting(speaks)) as peer:
        session = await begin_session(peer, version)
        id = await ask(peer, session, "go")
        while not any("chunk" in kind for kind in kinds(peer.updates)):
            await peer.receive()
        await peer.tell("session/cancel", {"sessionId": session})
        assert await wait_for_stop(peer, version, id) == "cancelled"
        await peer.quiet()

    words = [update["content"]["text"] for update in peer.updates if "chunk" in update["sessionUpdate"]]
    assert words == ["waiting", " stopped"]
    if version == 2:
        assert peer.updates[-1]["sessionUpdate"] == "state_update"


@pytest.mark.req("V1-CANCEL-09", "V1-CANCEL-10", "V2-CANCEL-10", "V2-CANCEL-14")
async def test_cancelling_a_session_that_rests_changes_nothing(version: int) -> None:
    async with wire_client(ScriptedAgent()) as peer:
        session = await begin_session(peer, version)
        await peer.tell("session/cancel", {"sessionId": session})
        assert await turn(peer, version, session, "one") == "end_turn"
        await peer.tell("session/cancel", {"sessionId": session})
        assert await turn(peer, version, session, "two") == "end_turn"

    if version == 2:
        assert states(peer.updates) == ["running", "idle"] * 2


@pytest.mark.req("V1-CANCEL-10", "V2-CANCEL-14")
async def test_a_prompt_sent_after_the_cancel_is_not_cancelled(version: int) -> None:
    async with wire_client(Waiting()) as peer:
        session = await begin_session(peer, version)
        first = await ask(peer, session, "one")
        while not any("chunk" in kind for kind in kinds(peer.updates)):
            await peer.receive()
        await peer.tell("session/cancel", {"sessionId": session})
        second = await ask(peer, session, "two")
        assert await wait_for_stop(peer, version, first) == "cancelled"
        assert await wait_for_stop(peer, version, second) == "end_turn"


@pytest.mark.req("V1-CANCEL-11", "V1-CANCEL-13", "V2-CANCEL-15", "V2-CANCEL-16")
async def test_cancelling_the_request_itself_is_answered_once(version: int) -> None:
    async with wire_client(Waiting()) as peer:
        session = await begin_session(peer, version)
        id = await ask(peer, session, "go")
        if version == 1:
            while not peer.updates:
                await peer.receive()
            await peer.tell("$/cancel_request", {"requestId": id})
            assert (await peer.answer_to(id))["result"] == {"stopReason": "cancelled"}
        else:
            answer = await peer.answer_to(id)
            await peer.tell("$/cancel_request", {"requestId": id})  # too late: it is part of the conversation
            assert "messageId" in answer["result"]
            await peer.quiet()
            assert states(peer.updates) == ["running"]
        await peer.quiet()

    assert len([m for m in peer.received if m.get("id") == id and "method" not in m]) == 1


@pytest.mark.req("V2-PROMPT-13", "V2-CANCEL-16", "V2-PROMPT-09")
async def test_in_version_2_a_prompt_that_waits_can_be_withdrawn() -> None:
    async with wire_client(Waiting()) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "one")
        second = await ask(peer, session, "two")
        await until_states(peer, "running")
        await peer.tell("$/cancel_request", {"requestId": second})
        withdrawn = await peer.answer_to(second)
        await peer.tell("session/cancel", {"sessionId": session})
        await until_states(peer, "running", "idle")

    assert withdrawn["error"]["code"] == -32800
    assert [u["content"][0]["text"] for u in peer.updates if u["sessionUpdate"] == "user_message"] == ["one"]


@pytest.mark.req("V1-CANCEL-05", "V2-CANCEL-13", "V2-CANCEL-01")
async def test_prompts_that_wait_are_cancelled_with_the_running_one(version: int) -> None:
    async with wire_client(Waiting()) as peer:
        session = await begin_session(peer, version)
        ids = [await ask(peer, session, word) for word in ("one", "two", "three")]
        while not any("chunk" in kind for kind in kinds(peer.updates)):
            await peer.receive()
        await peer.tell("session/cancel", {"sessionId": session})
        answers: dict[int, Any] = {}
        while len(answers) < 3:
            answers = {m["id"]: m for m in [*peer.received, await peer.receive()] if m.get("id") in ids}
        if version == 2:
            await until_states(peer, "running", "idle")
        assert await turn(peer, version, session, "four") == "end_turn"

    if version == 1:
        assert [answers[id]["result"]["stopReason"] for id in ids] == ["cancelled"] * 3
    else:
        assert "messageId" in answers[ids[0]]["result"]
        assert [answers[id]["error"]["code"] for id in ids[1:]] == [-32800, -32800]


@pytest.mark.req("V1-CANCEL-12", "V1-CANCEL-19", "V1-TERM-13")
async def test_what_the_turn_waits_for_is_cancelled_with_it_and_what_it_holds_is_released() -> None:
    from accord.testing import link

    script = ScriptedClient(commands={"sleep": ("", None)})

    async def run(turn: Turn) -> None:
        await turn.say("running")
        await turn.terminals.run("sleep")

    async with link(ScriptedAgent([run]), script, version=1) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: script.started)
        await turn.cancel()
        await turn
        await until(lambda: script.released)

    assert turn.stop_reason == "cancelled"
    assert script.released == ["terminal-1"]


async def test_a_second_cancel_does_not_disturb_the_tidying_up(link: Link) -> None:
    tidied: list[str] = []
    go_on = asyncio.Event()

    async def tidy(turn: Turn) -> None:
        await go_on.wait()
        tidied.append("tidied")

    async with link(Waiting(tidy)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
        await session.cancel()
        await session.cancel()
        go_on.set()
        await turn

    assert tidied == ["tidied"]
    assert turn.stop_reason == "cancelled"


async def test_when_the_client_goes_away_its_turns_are_cancelled(version: int) -> None:
    agent = Waiting()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await ask(peer, session, "go")
        while not any("chunk" in kind for kind in kinds(peer.updates)):
            await peer.receive()

    assert agent.cancelled


async def test_an_open_tool_call_does_not_keep_a_turn_from_ending_when_the_client_goes_away(version: int) -> None:
    ended: list[str] = []

    async def work(turn: Turn) -> None:
        await turn.tool("Left open").start()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async with wire_client(ScriptedAgent([work])) as peer:
        session = await begin_session(peer, version)
        await ask(peer, session, "go")
        while not any("tool_call" in kind for kind in kinds(peer.updates)):
            await peer.receive()

    assert ended == ["work"]
