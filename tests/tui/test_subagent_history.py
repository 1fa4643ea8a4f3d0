"""Subagents in a session whose history is replayed."""

from __future__ import annotations

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Subagent


class Historian(Agent):
    """An agent whose session history has subagents."""

    unstable = True

    async def load_session(self, session: Session) -> None:
        await session.user_said("find it")
        await session.say("I let others look.")
        session.child(Subagent(session_id="child", title="A search", state="running"))
        await session.user_said("and?")
        await session.subagent(Subagent(session_id="child", title="A search", state="idle"))
        await session.say("They found it.")

    async def prompt(self, turn: Turn) -> None:
        await turn.session.subagent(Subagent(session_id="child", title="A search", state="running"))
        await turn.say("They look again.")


def read_transcript(chat: Chat) -> list[str]:
    below_header = chat.lines[1:]
    lines = [line.partition("│")[0].strip(" ▌") for line in below_header]
    return [line for line in lines if line][: lines.count("They found it.") * 5]


@pytest.mark.parametrize("version", [1, 2])
async def test_the_subagents_of_a_loaded_session_are_in_its_history(opened: Opened, version: int) -> None:
    async with opened(Historian(), first=("old", "load"), versions=[version]) as chat:
        await chat.until("They found it.")
        history = ["find it", "I let others look.", "✓ ↳ A search  subagent, done", "and?", "They found it."]
        assert read_transcript(chat) == history
        await chat.send("again")
        await chat.until("They look again.")
        await chat.until("◐ ↳ A search  subagent, running")
        assert sum("↳ A search" in line for line in chat.lines) == 1
