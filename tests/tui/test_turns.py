"""The terminal client: prompts that were sent and not taken, prompts that wait, and a queue that is on hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chatting import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.errors import RequestCancelled
from accord.testing import ScriptedAgent


class Busy(ScriptedAgent):
    """Works on its first prompt until it is told to go on; prompts that come meanwhile it holds."""

    def __init__(self) -> None:
        super().__init__([self._work])
        self.go_on = asyncio.Event()

    async def _work(self, turn: Turn) -> None:
        await turn.say("working on it")
        await self.go_on.wait()


async def begun(chat: Chat) -> None:
    """Has the agent at work on a first prompt."""
    await chat.send("first")
    await chat.until("working on it")


async def steer(chat: Chat, text: str) -> None:
    """Types a prompt and sends it into the running turn."""
    chat.pane.editor.set_text(text)
    await chat.press("ctrl+s")


async def die(chat: Chat) -> None:
    """Ends the agent, as if its process had died."""
    agent = chat.pane.talk.link.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.pane.talk.state == "gone")


@pytest.mark.req("V2-PROMPT-12")
async def test_a_prompt_that_the_agent_has_not_taken_is_shown_until_it_has(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("1. and this  (sent, not taken yet)")
        agent.go_on.set()
        await chat.until("You said: and this")
        await chat.gone("not taken yet")
        assert not chat.pane.talk.sent


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_that_the_agent_has_not_taken_can_be_had_back(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("not taken yet")
        await chat.press("alt+up")
        await chat.until(lambda: chat.pane.editor.text == "and this")
        await chat.gone("not taken yet")
        agent.go_on.set()
        await chat.until("ready")
        assert agent.prompts == ["first"]


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_that_the_agent_has_not_taken_can_be_removed(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await steer(chat, "and that")
        await chat.until("2 sent, not taken yet")
        await chat.press("f6", "delete")
        await chat.until("1 sent, not taken yet")
        agent.go_on.set()
        await chat.until("You said: and that")
        assert agent.prompts == ["first", "and that"]
        assert chat.pane.editor.text == ""


async def test_prompts_that_the_agent_had_not_taken_when_it_died_wait_in_their_order(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "second")
        await steer(chat, "third")
        await chat.send("fourth")
        await chat.until("2 sent, not taken yet · 1 queued")
        await die(chat)
        await chat.until("the 3 prompts that wait are kept for then")
        assert [prompt.text for prompt in chat.pane.talk.queue] == ["second", "third", "fourth"]
        await chat.press("ctrl+r")
        await chat.until("3 queued, on hold")
        assert agents[-1].prompts == []
        await chat.press("enter")
        await chat.until("You said: fourth")
        assert agents[-1].prompts == ["second", "third", "fourth"]


async def test_what_the_agent_has_not_taken_is_kept_as_a_draft(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("not taken yet")
        assert chat.pane.unsent == ["and this"]


class Refusing(Agent):
    """Takes the first prompt, and answers every other that it gave it up."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.asked: list[str] = []

    async def accept_prompt(self, turn: Turn) -> None:
        self.asked.append(turn.text)
        if len(self.asked) == 2:
            raise RequestCancelled("not now")

    async def prompt(self, turn: Turn) -> Any:
        await turn.say(f"at work on {turn.text}")
        if turn.text == "first":
            await self.go_on.wait()


async def test_a_prompt_that_the_agent_gave_up_waits_until_the_user_sends_it(opened: Opened) -> None:
    agent = Refusing()
    async with opened(agent, versions=(2,)) as chat:
        await chat.send("first")
        await chat.until("at work on first")
        await steer(chat, "second")
        await chat.until("not taken yet")
        agent.go_on.set()
        await chat.until("1 queued, on hold")
        await chat.until("The agent did not take a prompt")
        assert agent.asked == ["first", "second"]
        await chat.press("enter")
        await chat.until("at work on second")
        await chat.gone("1 queued")


async def test_escape_gives_back_what_the_agent_had_not_taken(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("not taken yet")
        await chat.press("escape")
        await chat.until("1 queued, on hold")
        assert agent.prompts == ["first"]


# -- a queue on hold


async def test_prompts_that_wait_are_not_sent_into_a_session_that_knows_nothing(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await begun(chat)
        await chat.send("second")
        await chat.send("third")
        await die(chat)
        await chat.press("ctrl+r")
        await chat.until("A new session")
        await chat.until("2 prompts that wait are on hold")
        await chat.until("2 queued, on hold")
        assert agents[-1].prompts == []
        await chat.send("you have read the plan before")
        await chat.until("You said: third")
        assert agents[-1].prompts == ["you have read the plan before", "second", "third"]


async def test_what_is_on_hold_can_be_removed_and_then_nothing_is_on_hold(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await begun(chat)
        await chat.send("second")
        await die(chat)
        await chat.press("ctrl+r")
        await chat.until("1 queued, on hold")
        await chat.press("alt+up")
        assert chat.pane.editor.text == "second"
        await chat.press("enter")
        await chat.until("You said: second")
        assert agents[-1].prompts == ["second"]


async def test_enter_in_an_empty_prompt_sends_nothing_when_nothing_is_on_hold(opened: Opened) -> None:
    agent = ScriptedAgent()
    async with opened(agent) as chat:
        await chat.press("enter")
        await chat.send("hello")
        await chat.until("You said: hello")
        assert agent.prompts == ["hello"]
