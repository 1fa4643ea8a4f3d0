"""Prompts that come while another is being handled."""

from __future__ import annotations

import asyncio

import pytest
from support.link import Link, until
from support.wire_client import ask, begin_session, kinds, states, until_states, wait_for_stop

from accord import Agent, Turn
from accord.testing import ScriptedAgent, wire_client


class OneByOne(Agent):
    """Records when prompts start and end, and waits in between until it may continue."""

    def __init__(self) -> None:
        self.story: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def prompt(self, turn: Turn) -> None:
        self.story.append(f"begin {turn.text}")
        await self.gates.setdefault(turn.text, asyncio.Event()).wait()
        await turn.say(f"did {turn.text}")
        self.story.append(f"end {turn.text}")

    def let(self, *prompts: str) -> None:
        for prompt in prompts:
            self.gates.setdefault(prompt, asyncio.Event()).set()


@pytest.mark.req("V1-PROMPT-17", "V2-PROMPT-12")
async def test_prompts_are_handled_one_at_a_time_in_their_order(link: Link) -> None:
    agent = OneByOne()
    async with link(agent) as client:
        session = await client.new_session()
        turns = [session.prompt(word) for word in ("one", "two", "three")]
        await until(lambda: agent.story == ["begin one"])
        agent.let("two", "three", "one")
        for turn in turns:
            await turn

    assert agent.story == ["begin one", "end one", "begin two", "end two", "begin three", "end three"]
    assert [turn.text for turn in turns] == ["did one", "did two", "did three"]
    assert [turn.stop_reason for turn in turns] == ["end_turn"] * 3


@pytest.mark.req("V1-PROMPT-17")
async def test_in_version_1_a_second_prompt_on_the_wire_waits_its_turn() -> None:
    agent = OneByOne()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        first, second = await ask(peer, session, "one"), await ask(peer, session, "two")
        await peer.quiet()
        before = list(agent.story)
        agent.let("two", "one")
        reasons = [await wait_for_stop(peer, 1, first), await wait_for_stop(peer, 1, second)]

    assert before == ["begin one"]
    assert reasons == ["end_turn", "end_turn"]


@pytest.mark.req("V1-PROMPT-17")
async def test_in_version_1_an_author_may_rather_refuse_it() -> None:
    class Strict(OneByOne):
        reject_while_busy = True

    agent = Strict()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        first, second = await ask(peer, session, "one"), await ask(peer, session, "two")
        refused = await peer.answer_to(second)
        agent.let("one", "three")
        reasons = [await wait_for_stop(peer, 1, first), await wait_for_stop(peer, 1, await ask(peer, session, "three"))]

    assert refused["error"]["code"] == -32600
    assert reasons == ["end_turn", "end_turn"]


@pytest.mark.req("V2-PROMPT-12", "V2-PROMPT-14", "V2-PROMPT-07")
async def test_in_version_2_a_second_prompt_is_answered_when_its_turn_comes() -> None:
    agent = OneByOne()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        first, second = await ask(peer, session, "one"), await ask(peer, session, "two")
        await peer.answer_to(first)
        await peer.quiet()
        held = not any(message.get("id") == second for message in peer.received)
        agent.let("one")
        inserted = await peer.answer_to(second)
        agent.let("two")
        await until_states(peer, "running", "idle", "running", "idle")

    assert held
    messages = [update for update in peer.updates if update["sessionUpdate"] == "user_message"]
    assert messages[1]["messageId"] == inserted["result"]["messageId"]
    order = kinds(peer.updates)
    assert order.index("agent_message_chunk") < order.index("user_message", 1)


async def test_a_turn_that_fails_does_not_hold_up_the_next(link: Link) -> None:
    async def fail(turn: Turn) -> None:
        raise RuntimeError("broken")

    async with link(ScriptedAgent([fail], ["fine"])) as client:
        session = await client.new_session()
        first, second = session.prompt("one"), session.prompt("two")
        with pytest.raises(Exception, match="broken"):
            await first
        await second

    assert second.text == "fine"


async def test_sessions_do_not_wait_for_each_other(link: Link) -> None:
    agent = OneByOne()
    async with link(agent) as client:
        slow, quick = await client.new_session(), await client.new_session()
        waiting = slow.prompt("slow")
        agent.let("quick")
        done = await quick.prompt("quick")
        agent.let("slow")
        await waiting

    assert done.text == "did quick"
    assert agent.story[:1] == ["begin slow"]


async def test_in_version_2_states_of_two_sessions_are_their_own() -> None:
    agent = OneByOne()
    agent.let("a", "b")
    async with wire_client(agent) as peer:
        one = await begin_session(peer, 2)
        await wait_for_stop(peer, 2, await ask(peer, one, "a"))

    assert states(peer.updates) == ["running", "idle"]
