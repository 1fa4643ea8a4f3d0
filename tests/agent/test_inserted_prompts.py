"""Prompts that become part of the turn that is running: version 2 knows that, version 1 does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, until
from support.stored_sessions import Kept, picture
from support.wire_client import ask, begin_session, kinds, states, until_states

from accord import Agent, RequestFailed, Turn, command
from accord.testing import link as link_in
from accord.testing import wire_client


class Steered(Agent):
    """Works in steps, and asks between them what the user has said since."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.steps: asyncio.Queue[str] = asyncio.Queue()

    async def prompt(self, turn: Turn) -> None:
        self.began.append(turn.text)
        heard = [turn.text]
        while await self.steps.get() == "go on":
            heard += [prompt.text for prompt in await turn.take_prompts()]
        await turn.say("heard " + ", ".join(heard))

    @command("help", "Explains")
    async def help(self, turn: Turn) -> None:
        await turn.say("helped")

    def step(self, *words: str) -> None:
        for word in words:
            self.steps.put_nowait(word)


@pytest.mark.feature("prompts that join a turn", "agent", "client", versions=(2,))
@pytest.mark.req("V2-PROMPT-12", "V2-PROMPT-05", "V2-PROMPT-07", "V2-PROMPT-14")
async def test_in_version_2_a_prompt_joins_the_turn_that_asks_for_it() -> None:
    agent = Steered()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        second = await ask(peer, session, "two")
        await peer.quiet()
        held = not any(message.get("id") == second for message in peer.received)
        agent.step("go on")
        inserted = await peer.answer_to(second)
        agent.step("end")
        await until_states(peer, "running", "idle")

    echoes = [update for update in peer.updates if update["sessionUpdate"] == "user_message"]
    assert held
    assert echoes[1]["messageId"] == inserted["result"]["messageId"]
    assert echoes[1]["content"] == [{"type": "text", "text": "two"}]
    assert peer.updates[-2]["content"]["text"] == "heard one, two"
    assert agent.began == ["one"]


@pytest.mark.req("V1-PROMPT-17")
async def test_in_version_1_it_waits_for_its_own_turn(link: Link, version: int) -> None:
    agent = Steered()
    async with link(agent) as client:
        session = await client.new_session()
        first, second = session.prompt("one"), session.prompt("two")
        await until(lambda: agent.began == ["one"])
        agent.step("go on", "end", "end")
        await first
        await second

    assert agent.began == {1: ["one", "two"], 2: ["one"]}[version]
    assert first.text == {1: "heard one", 2: "heard one, two"}[version]
    assert (first.stop_reason, second.stop_reason) == ("end_turn", "end_turn")


@pytest.mark.req("V2-PROMPT-12")
async def test_prompts_join_in_the_order_in_which_they_came_and_each_once() -> None:
    agent = Steered()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        later = [await ask(peer, session, word) for word in ("two", "three")]
        await peer.quiet()
        agent.step("go on", "go on")
        for id in later:
            await peer.answer_to(id)
        fourth = await ask(peer, session, "four")
        await peer.quiet()
        agent.step("go on")
        await peer.answer_to(fourth)
        agent.step("end")
        await until_states(peer, "running", "idle")

    assert peer.updates[-2]["content"]["text"] == "heard one, two, three, four"


async def test_a_slash_command_has_its_own_turn_and_nothing_overtakes_it() -> None:
    agent = Steered()
    async with link_in(agent, version=2) as client:
        session = await client.new_session()
        turns = [session.prompt(words) for words in ("one", "/help", "three")]
        await until(lambda: agent.began == ["one"])
        agent.step("go on", "end", "end")
        for turn in turns:
            await turn

    assert [turn.text for turn in turns] == ["heard one", "helped", "heard three"]


@pytest.mark.req("V2-CANCEL-13", "V2-CANCEL-10")
async def test_a_cancel_ends_the_turn_with_what_joined_it_and_drops_what_did_not() -> None:
    agent = Steered()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        joined = await ask(peer, session, "two")
        await peer.quiet()
        agent.step("go on")
        answer = await peer.answer_to(joined)
        waiting = await ask(peer, session, "three")
        await peer.quiet()
        await peer.tell("session/cancel", {"sessionId": session})
        dropped = await peer.answer_to(waiting)
        await until_states(peer, "running", "idle")

    assert "result" in answer
    assert dropped["error"]["code"] == -32800
    assert peer.updates[-1]["stopReason"] == "cancelled"


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_that_was_withdrawn_joins_nothing() -> None:
    agent = Steered()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        second = await ask(peer, session, "two")
        await peer.tell("$/cancel_request", {"requestId": second})
        withdrawn = await peer.answer_to(second)
        agent.step("go on", "end")
        await until_states(peer, "running", "idle")

    assert withdrawn["error"]["code"] == -32800
    assert kinds(peer.updates).count("user_message") == 1


@pytest.mark.req("V2-PROMPT-11", "V2-PROMPT-09")
async def test_a_prompt_that_the_agent_refuses_does_not_join_and_the_next_does() -> None:
    class Choosy(Steered):
        asked: list[str] = []

        async def accept_prompt(self, turn: Turn) -> None:
            self.asked.append(turn.text)
            if turn.text == "bad":
                raise RequestFailed("not that")

    agent = Choosy()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        bad, good = await ask(peer, session, "bad"), await ask(peer, session, "good")
        await peer.quiet()
        agent.step("go on")
        refused, taken = await peer.answer_to(bad), await peer.answer_to(good)
        agent.step("end")
        await until_states(peer, "running", "idle")

    assert refused["error"]["message"] == "not that"
    assert "result" in taken
    assert peer.updates[-2]["content"]["text"] == "heard one, good"
    assert agent.asked == ["one", "bad", "good"]


@pytest.mark.req("V2-PROMPT-12")
async def test_a_prompt_that_came_too_late_for_a_turn_has_the_next() -> None:
    agent = Steered()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.answer_to(await ask(peer, session, "one"))
        second = await ask(peer, session, "two")
        await peer.quiet()
        agent.step("end", "end")
        await peer.answer_to(second)
        await until_states(peer, "running", "idle", "running", "idle")

    assert agent.began == ["one", "two"]


async def test_a_turn_that_is_over_takes_no_prompts() -> None:
    turns: list[Turn] = []
    late: list[Any] = []
    go_on = asyncio.Event()

    class Hoarder(Agent):
        async def prompt(self, turn: Turn) -> None:
            turns.append(turn)
            if len(turns) == 2:
                await go_on.wait()

    async with wire_client(Hoarder()) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "one")
        await until_states(peer, "running", "idle")
        await ask(peer, session, "two")
        await ask(peer, session, "three")
        await until(lambda: len(turns) == 2)
        late += await turns[0].take_prompts()
        go_on.set()
        await until(lambda: len(turns) == 3)

    assert late == []
    assert states(peer.updates)[:2] == ["running", "idle"]


async def test_an_inserted_prompt_is_replayed_at_its_position() -> None:
    came = asyncio.Event()

    class Noting(Kept):
        async def extension_notification(self, method: str, params: Any) -> None:
            came.set()

    async def steer(turn: Turn) -> None:
        await turn.say("first.")
        await came.wait()
        joined = await turn.take_prompts()
        await turn.say(f"then {joined[0].text}.")

    agent = Noting([steer])
    async with link_in(agent, version=2) as client:
        session = await client.new_session()
        one, two = session.prompt("one"), session.prompt("two")
        await client.notify("_example.org/sent", {})  # after both prompts on the wire
        await one
        await two
    async with link_in(agent, version=1) as client:
        again = await client.load_session(session.id)

    assert picture(again) == [("user", "one"), ("agent", "first."), ("user", "two"), ("agent", "then two.")]
