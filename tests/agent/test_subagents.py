"""Subagents (unstable): child sessions that are reported, followed and cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import Link, until
from support.wire_client import begin_session, kinds, turn

from accord import AgentSession, CapabilityError, Subagent, Turn
from accord.testing import ScriptedAgent, wire_client


class Delegating(ScriptedAgent):
    unstable = True

    def __init__(self, *, can_cancel: bool = False) -> None:
        self.cancelled: list[str] = []
        self.child: AgentSession | None = None
        self.can_cancel = can_cancel
        super().__init__([self.delegate])

    async def delegate(self, turn: Turn) -> None:
        told = Subagent(session_id="child", title="Search", state="running", can_cancel=self.can_cancel, cwd="/sub")
        self.child = turn.session.child(told)
        await self.child.say("Looking.")
        async with self.child.tool("Grep", kind="search"):
            pass
        await turn.session.subagent(Subagent(session_id="child", state="idle"))
        await turn.say("Delegated.")

    async def cancel_subagent(self, session: AgentSession) -> None:
        self.cancelled.append(session.id)


@pytest.mark.feature("subagents", "agent", "client")
@pytest.mark.req("V1-SUBAG-02", "V1-SUBAG-03", "V2-SUBAG-01", "V2-SUBAG-02", "V2-SUBAG-04")
async def test_a_childs_words_are_heard_in_its_own_session(link: Link) -> None:
    async with link(Delegating(), unstable=True) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        child = client.sessions["child"]
        await until(lambda: child.transcript.tool_calls)

    assert turn.text == "Delegated."
    assert child.parent is session
    assert (child.transcript.text, child.cwd) == ("Looking.", "/sub")
    assert [call.title for call in child.transcript.tool_calls.values()] == ["Grep"]
    told = session.transcript.subagents["child"]
    assert (told.title, told.state) == ("Search", "idle")


@pytest.mark.req("V1-SUBAG-01")
async def test_in_version_1_a_client_without_subagents_receives_none() -> None:
    async with wire_client(Delegating()) as peer:
        session = await begin_session(peer, 1)
        await turn(peer, 1, session, "go")
        silent = list(peer.received)
    async with wire_client(Delegating()) as peer:
        session = await begin_session(peer, 1, {"subagents": {}})
        await turn(peer, 1, session, "go")

    assert not any("child" in str(message) for message in silent)
    assert kinds(peer.updates) == [
        "subagent_update",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "tool_call_update",
        "subagent_update",
        "agent_message_chunk",
    ]
    owners = [m["params"]["sessionId"] for m in peer.received if m.get("method") == "session/update"]
    assert owners == [session, "child", "child", "child", "child", session, session]


async def test_in_version_1_they_are_reported_by_unstable_agents() -> None:
    class Settled(Delegating):
        unstable = False

    async with wire_client(Settled()) as peer:
        session = await begin_session(peer, 1, {"subagents": {}, "plan": {}})
        await turn(peer, 1, session, "go")

    assert not any("child" in str(message) for message in peer.received)


@pytest.mark.req("V2-SUBAG-02")
async def test_in_version_2_they_are_reported_by_unstable_agents() -> None:
    class Settled(Delegating):
        unstable = False

    async with wire_client(Settled()) as peer:
        await turn(peer, 2, await begin_session(peer, 2), "go")

    assert not any("child" in str(message) for message in peer.received)


@pytest.mark.req("V1-SUBAG-04", "V2-SUBAG-03")
async def test_a_child_takes_nothing_but_a_cancel_that_it_offers(link: Link) -> None:
    agent = Delegating(can_cancel=True)
    async with link(agent, unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
        child = client.sessions["child"]
        refused: list[Any] = [lambda: child.prompt("x"), child.close, child.fork, lambda: child.set_option("a", "b")]
        for each in refused:
            with pytest.raises(CapabilityError):
                await each()
        await child.cancel()
        await until(lambda: agent.cancelled)
    async with link(Delegating(), unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
        with pytest.raises(CapabilityError, match="cannot be cancelled"):
            await client.sessions["child"].cancel()

    assert agent.cancelled == ["child"]


async def test_a_child_ends_with_its_parent(link: Link) -> None:
    async with link(Delegating(), unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
        child = client.sessions["child"]
        events = child.events()
        await session.close()
        left = [event async for event in events]

    assert child.closed
    assert left == []
    assert client.sessions == {}


async def test_the_agent_forgets_a_child_when_its_parent_is_closed(link: Link) -> None:
    agent = Delegating()
    async with link(agent, unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
        assert agent.child is not None
        children = agent.child._registry.children
        assert list(children) == ["child"]
        await session.close()
        assert children == {}
