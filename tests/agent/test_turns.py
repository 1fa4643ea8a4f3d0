"""One turn, from the prompt to its one end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_client import ask, begin_session, kinds, turn, until_states

from accord import Agent, InvalidParams, RequestFailed, Thought, Tokens, Turn
from accord.testing import ScriptedAgent, wire_client


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"You said: {turn.text}")


@pytest.mark.feature("messages", "agent", "client")
@pytest.mark.req("V1-INIT-21", "V1-PROMPT-02", "V1-PROMPT-07", "V1-PROMPT-12", "V2-PROMPT-14")
async def test_what_the_agent_says_arrives_before_the_turn_ends(link: Link) -> None:
    async with link(Echo()) as client:
        session = await client.new_session(cwd="/project")
        turn = await session.prompt("hello")

    assert turn.text == "You said: hello"
    assert turn.stop_reason == "end_turn"


@pytest.mark.req("V1-PROMPT-16")
async def test_a_session_takes_one_prompt_after_another(link: Link) -> None:
    async with link(ScriptedAgent(["one"], ["two"])) as client:
        session = await client.new_session()
        first = await session.prompt("a")
        second = await session.prompt("b")

    assert (first.text, second.text) == ("one", "two")
    assert session.transcript.text == "two"


@pytest.mark.feature("prompts and stop reasons", "agent", "client")
@pytest.mark.req("V1-PROMPT-08", "V1-PROMPT-09", "V2-PROMPT-20")
@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal"])
async def test_the_handler_says_why_it_stopped(link: Link, reason: str) -> None:
    async def stop(turn: Turn) -> str:
        return reason

    async with link(script_agent(stop)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.stop_reason == reason


@pytest.mark.req("V1-PROMPT-08", "V2-PROMPT-20")
async def test_a_reason_of_the_authors_own_is_an_ordinary_end_where_the_version_has_no_such_thing(
    link: Link, version: int
) -> None:
    async def stop(turn: Turn) -> str:
        return "_bored"

    async with link(script_agent(stop)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.stop_reason == {1: "end_turn", 2: "_bored"}[version]


@pytest.mark.req("V1-PROMPT-20", "V2-PROMPT-10", "V2-PROMPT-21")
async def test_a_failing_handler_ends_the_turn_with_its_reason_and_the_session_continues(link: Link) -> None:
    async def fail(turn: Turn) -> None:
        raise ValueError("no such model")

    async with link(ScriptedAgent([fail], ["better"])) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="ValueError: no such model") as caught:
            await session.prompt("go")
        again = await session.prompt("go on")

    assert caught.value.code == -32603
    assert again.text == "better"


@pytest.mark.req("V1-PROMPT-20", "V2-PROMPT-10")
async def test_an_error_that_the_author_chose_reaches_the_client_as_it_is(link: Link) -> None:
    async def fail(turn: Turn) -> None:
        raise RequestFailed("out of credits", code=-31001, data={"left": 0})

    async with link(script_agent(fail)) as client:
        turn = (await client.new_session()).prompt("go")
        with pytest.raises(RequestFailed) as caught:
            await turn

    assert (caught.value.code, caught.value.message, caught.value.data) == (-31001, "out of credits", {"left": 0})
    assert turn.error is caught.value


@pytest.mark.req("V2-PROMPT-03", "V2-PROMPT-09", "V2-PROMPT-11", "V2-PROMPT-01")
async def test_a_prompt_that_the_author_does_not_accept_never_becomes_part_of_the_conversation(version: int) -> None:
    class Picky(Echo):
        async def accept_prompt(self, turn: Turn) -> None:
            if "please" not in turn.text:
                raise InvalidParams("say please")

    async with wire_client(Picky()) as peer:
        session = await begin_session(peer, version)
        refused = await peer.answer_to(await ask(peer, session, "now!"))
        await peer.quiet()
        before = list(peer.updates)
        ended = await turn(peer, version, session, "now, please")

    assert refused["error"]["code"] == -32602
    assert before == []
    assert ended == "end_turn"


@pytest.mark.req("V1-PROMPT-07", "V1-PROMPT-12", "V1-UPD-05")
async def test_in_version_1_the_answer_to_the_prompt_is_the_last_word_of_its_turn() -> None:
    async with wire_client(Echo()) as peer:
        session = await begin_session(peer, 1)
        answer = await peer.answer_to(await ask(peer, session, "hi"))
        await peer.quiet()

    assert answer["result"] == {"stopReason": "end_turn"}
    assert kinds(peer.updates) == ["agent_message_chunk"]
    assert peer.updates[0]["content"] == {"type": "text", "text": "You said: hi"}
    assert peer.received.index(answer) > max(i for i, m in enumerate(peer.received) if "update" in str(m.get("method")))


@pytest.mark.req("V2-PROMPT-05", "V2-PROMPT-06", "V2-PROMPT-07", "V2-PROMPT-14", "V2-PROMPT-15", "V2-STATE-01")
async def test_in_version_2_a_prompt_is_answered_when_it_is_part_of_the_conversation() -> None:
    go_on = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await go_on.wait()

    async with wire_client(script_agent("thinking", wait, "done")) as peer:
        session = await begin_session(peer, 2)
        answer = await peer.answer_to(await ask(peer, session, "hi"))
        await peer.quiet()
        so_far = kinds(peer.updates)
        go_on.set()
        await until_states(peer, "running", "idle")

    assert so_far == ["user_message", "state_update", "agent_message_chunk"]
    echo = peer.updates[0]
    assert (echo["messageId"], echo["content"]) == (answer["result"]["messageId"], [{"type": "text", "text": "hi"}])
    assert peer.updates[-1]["stopReason"] == "end_turn"


@pytest.mark.req("V2-PROMPT-10", "V2-PROMPT-21")
async def test_in_version_2_failed_work_is_reported_by_the_state_and_never_by_the_response() -> None:
    async def fail(turn: Turn) -> None:
        raise RequestFailed("no model", code=-31000)

    async with wire_client(script_agent(fail)) as peer:
        session = await begin_session(peer, 2)
        answer = await peer.answer_to(await ask(peer, session, "hi"))
        await until_states(peer, "running", "idle")

    assert "messageId" in answer["result"]
    last = peer.updates[-1]
    assert (last["stopReason"], last["error"]) == ("error", {"code": -31000, "message": "no model"})


@pytest.mark.feature("token counts", "agent", "client")
@pytest.mark.req("V1-PROMPT-21", "V2-PROMPT-24", "V1-USAGE-02")
async def test_the_tokens_of_a_turn_are_reported_by_unstable_agents(link: Link) -> None:
    async def count(turn: Turn) -> None:
        turn.tokens = Tokens(total=30, input=10, output=20, thought=5)

    class Counting(ScriptedAgent):
        unstable = True

    async with link(Counting([count]), unstable=True) as client:
        counted = await (await client.new_session()).prompt("go")
    async with link(script_agent(count)) as client:
        quiet = await (await client.new_session()).prompt("go")

    assert counted.tokens == Tokens(total=30, input=10, output=20, thought=5)
    assert quiet.tokens is None


@pytest.mark.req("V1-UPD-06", "V1-UPD-07", "V1-UPD-09")
async def test_neighboring_words_are_one_message_and_what_stands_between_begins_a_new_one(link: Link) -> None:
    async def speak(turn: Turn) -> None:
        await turn.say("one ")
        await turn.say("message")
        await turn.think("hm")
        await turn.say("another")
        async with turn.tool("Look"):
            pass
        await turn.say("third")

    async with link(script_agent(speak)) as client:
        session = await client.new_session()
        await session.prompt("go")

    said = [m.text for m in session.transcript.timeline if getattr(m, "role", "") == "agent"]
    assert said == ["one message", "another", "third"]
    ids = [m.id for m in session.transcript.timeline if getattr(m, "role", "") in ("agent", "thought")]
    assert len(set(ids)) == 4


@pytest.mark.feature("whole messages", "agent", "client")
async def test_a_whole_message_can_be_said_at_once(link: Link) -> None:
    async def speak(turn: Turn) -> None:
        turn.session.set_message(["All ", "of it."])

    async with link(script_agent(speak)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.text == "All of it."


async def test_thoughts_are_not_part_of_the_answer(link: Link) -> None:
    async def speak(turn: Turn) -> None:
        await turn.think("hm")
        await turn.say("Yes.")

    async with link(script_agent(speak)) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go")]

    assert session.last_turn is not None and session.last_turn.text == "Yes."
    assert [event.text for event in events if isinstance(event, Thought)] == ["hm"]


@pytest.mark.req("V1-PROMPT-19", "V2-STATE-08", "V2-TOOL-10", "V2-PROMPT-16")
async def test_an_agent_can_send_messages_outside_turns(link: Link) -> None:
    agent = script_agent("first")
    sessions: list[Any] = []

    async def remember(turn: Turn) -> None:
        sessions.append(turn.session)

    agent.turns = [[remember, "first"], ["second"]]
    async with link(agent) as client:
        session = await client.new_session()
        first = await session.prompt("a")
        await sessions[0].say("by the way")
        async with sessions[0].tool("Clean up"):
            pass
        await until(lambda: "by the way" in session.transcript.text)
        await until(lambda: session.transcript.tool_calls)
        second = await session.prompt("b")

    assert (first.text, second.text) == ("first", "second")
    assert session.transcript.state == "idle"


@pytest.mark.req("V1-SETUP-07", "V2-SETUP-09", "V1-SETUP-06")
async def test_two_sessions_work_at_the_same_time(link: Link) -> None:
    meet = asyncio.Barrier(2)

    class Meeting(Agent):
        async def prompt(self, turn: Turn) -> None:
            await meet.wait()
            await turn.say(turn.session.cwd)

    async with link(Meeting()) as client:
        one, two = await client.new_session("/one"), await client.new_session("/two")
        turns = await asyncio.gather(one.prompt("go"), two.prompt("go"))

    assert [turn.text for turn in turns] == ["/one", "/two"]


@pytest.mark.req("V1-EXT-01", "V1-EXT-05", "V2-EXT-01")
async def test_the_metadata_of_a_prompt_is_kept_apart(link: Link) -> None:
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.append((turn.text, turn.meta))

    async with link(script_agent(look)) as client:
        await (await client.new_session()).prompt("hi", meta={"sessionId": "mine", "trace": [1]})

    assert seen == [("hi", {"sessionId": "mine", "trace": [1]})]


async def test_a_store_that_fails_ends_the_turn_with_an_error_and_not_the_agent(link: Link) -> None:
    from accord import MemoryStore, SessionInfo

    class Broken(MemoryStore):
        broken = True

        async def update(self, info: SessionInfo) -> None:
            if self.broken:
                raise OSError("disk full")

    store = Broken()
    agent = ScriptedAgent(["one"], ["two"])
    agent.store = store
    async with link(agent) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="disk full"):
            await session.prompt("a")
        store.broken = False
        assert (await session.prompt("b")).stop_reason == "end_turn"
