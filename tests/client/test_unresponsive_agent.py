"""A turn ends although the agent does not end it: one that is stopped after a cancel, and one that dies."""

from __future__ import annotations

import os
import signal
import sys

import pytest

import accord
from accord.errors import PeerDied
from accord.transcript.events import StateChanged

AGENT = """
import asyncio, os, sys
from accord import Agent, Turn, run

class Stuck(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(str(os.getpid()))
        if turn.text == "die":
            os._exit(3)
        await asyncio.Event().wait()

run(Stuck())
"""


@pytest.mark.parametrize("version", [1, 2])
async def test_a_cancelled_turn_of_a_stopped_agent_ends_by_its_deadline(version: int) -> None:
    command = [sys.executable, "-c", AGENT]
    async with accord.connect(command, cwd="/", versions={version}, deadlines={"cancel": 0.2}) as agent:
        session = await agent.new_session()
        turn = session.prompt("hang")
        events = session.events()
        async for event in events:
            if isinstance(event, accord.Text):
                pid = int(event.text)
                break
        os.kill(pid, signal.SIGSTOP)
        try:
            await turn.cancel()
            await turn
        finally:
            os.kill(pid, signal.SIGKILL)

        assert turn.stop_reason == "cancelled"
        assert session.transcript.state == "idle"
        assert "didn't confirm the cancellation within 0.2 s" in session.transcript.notices[-1].title


@pytest.mark.parametrize("version", [1, 2])
async def test_an_agent_that_dies_in_a_turn_is_reported_with_the_turn_and_events_end(version: int) -> None:
    async with accord.connect([sys.executable, "-c", AGENT], cwd="/", versions={version}) as agent:
        session = await agent.new_session()
        events = session.events()
        with pytest.raises(PeerDied, match="during session/prompt"):
            await session.prompt("die")
        told = [event async for event in events]

    assert [event.state for event in told if isinstance(event, StateChanged)][-1] == "idle"
