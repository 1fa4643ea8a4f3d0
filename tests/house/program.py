"""A user's program that `test_types.py` checks with mypy. It is never run.

An unneeded `type: ignore` is an error in strict mode, so each one proves that mypy finds the mistake on its line."""

from __future__ import annotations

from typing import assert_type

import accord
from accord import Agent, AgentSession, Text, Transport, Turn, v1, v2


class Scribe(Agent):
    async def open_session(self, session: AgentSession) -> None:
        assert_type(session.cwd, str)

    async def prompt(self, turn: Turn) -> None:
        assert_type(turn.text, str)
        await turn.say(turn.text)
        turn.nonsense()  # type: ignore[attr-defined]


async def neutral() -> None:
    async with accord.connect(Scribe()) as agent:
        assert_type(agent, accord.ConnectedAgent)
        session = await agent.new_session("/")
        assert_type(session, accord.Session)
        async for event in session.prompt("hello"):
            if isinstance(event, Text):
                assert_type(event.text, str)
        agent.nonsense()  # type: ignore[attr-defined]


async def first_version(transport: Transport) -> None:
    async with v1.connect(transport, object()) as agent:
        assert_type(agent, v1.AgentConnection)
        session = await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))
        assert_type(session, v1.NewSessionResponse)
        agent.session_nonsense()  # type: ignore[attr-defined]
        await agent.session_new(cwd="/")  # type: ignore[call-arg]
    async with v1.serve(transport, object()) as client:
        assert_type(client, v1.ClientConnection)


async def second_version(transport: Transport) -> None:
    async with v2.connect(transport, object()) as agent:
        assert_type(agent, v2.AgentConnection)
    async with v2.serve(transport, object()) as client:
        assert_type(client, v2.ClientConnection)
    v2.IdleStateUpdate(stop_reason="end_turn")
    v2.RunningStateUpdate(stop_reason="end_turn")  # type: ignore[call-arg]
