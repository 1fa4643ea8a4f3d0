"""The traceback of an invalid call ends at the author's line, also in a program without pytest's fixtures."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

import accord
from accord import sync, v1
from accord.testing import ScriptedAgent
from accord.transports.memory import pair

NUMBER: Any = 42


def last_line(error: BaseException) -> str | None:
    return traceback.extract_tb(error.__traceback__)[-1].line


async def test_an_invalid_value_is_reported_at_the_call(version: int) -> None:
    async def send_a_number() -> None:
        async with accord.connect(ScriptedAgent(), versions={version}) as agent:
            session = await agent.new_session()
            await session.prompt(NUMBER)

    with pytest.raises(accord.InvalidValue) as caught:
        await send_a_number()

    assert last_line(caught.value) == "await session.prompt(NUMBER)"


async def test_a_missing_capability_is_reported_at_the_call() -> None:
    with pytest.raises(accord.CapabilityError) as caught:
        async with accord.connect(ScriptedAgent()) as agent:
            await agent.load_session("one")

    assert last_line(caught.value) == 'await agent.load_session("one")'


async def test_an_error_of_the_agent_keeps_its_traceback() -> None:
    async def fail(turn: accord.Turn) -> None:
        raise accord.RequestFailed("no model")

    async def send_a_prompt() -> None:
        async with accord.connect(ScriptedAgent([fail])) as agent:
            session = await agent.new_session()
            await session.prompt("hello")

    with pytest.raises(accord.RequestFailed) as caught:
        await send_a_prompt()

    assert "accord" in traceback.extract_tb(caught.value.__traceback__)[-1].filename


def test_an_invalid_value_is_reported_at_the_call_without_await() -> None:
    with pytest.raises(accord.InvalidValue) as caught, sync.connect(ScriptedAgent()) as agent:
        agent.new_session().ask(NUMBER)

    assert last_line(caught.value) == "agent.new_session().ask(NUMBER)"


async def test_an_invalid_call_of_one_versions_connection_is_reported_at_the_call() -> None:
    ours, theirs = pair()
    serving = v1.serve(theirs, v1.AgentHandlers())
    with pytest.raises(accord.LocalProtocolError) as caught:
        async with v1.connect(ours, v1.ClientHandlers()) as agent:
            await agent.session_fork(v1.ForkSessionRequest(session_id="one", cwd="/"))
    await serving.close()

    assert last_line(caught.value) == 'await agent.session_fork(v1.ForkSessionRequest(session_id="one", cwd="/"))'
