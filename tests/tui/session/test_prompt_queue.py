"""Queued prompts, prompts sent into a running turn, and a queue on hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.errors import InvalidParams, RequestCancelled
from accord.schema import v2
from accord.testing import ScriptedAgent


class Busy(ScriptedAgent):
    """An agent that works on its first prompt until released, and holds prompts that arrive meanwhile."""

    def __init__(self) -> None:
        super().__init__([self._work])
        self.go_on = asyncio.Event()

    async def _work(self, turn: Turn) -> None:
        await turn.say("working on it")
        await self.go_on.wait()


async def start_first_turn(chat: Chat) -> None:
    """Let the agent start on a first prompt."""
    await chat.send("first")
    await chat.until("working on it")


async def steer(chat: Chat, text: str) -> None:
    """Type a prompt and send it into the running turn."""
    chat.tab.editor.set_text(text)
    await chat.press("ctrl+s")


async def die(chat: Chat) -> None:
    """End the agent as if its process had died."""
    agent = chat.tab.controller.process.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.tab.controller.state == "gone")


@pytest.mark.req("V2-PROMPT-12")
async def test_a_prompt_is_shown_as_sent_until_the_agent_accepts_it(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("1. and this  (sent, not picked up yet)")
        agent.go_on.set()
        await chat.until("You said: and this")
        await chat.gone("not picked up yet")
        assert not chat.tab.controller.queue.sent


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_that_the_agent_has_not_accepted_can_be_edited(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("not picked up yet")
        await chat.press("alt+up")
        await chat.until(lambda: chat.tab.editor.text == "and this")
        await chat.gone("not picked up yet")
        agent.go_on.set()
        await chat.until("ready")
        assert agent.prompts == ["first"]


@pytest.mark.req("V2-PROMPT-13")
async def test_a_prompt_can_be_removed_until_the_agent_accepts_it(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await steer(chat, "and that")
        await chat.until("2 sent, not picked up yet")
        await chat.press("f6", "delete")
        await chat.until("1 sent, not picked up yet")
        agent.go_on.set()
        await chat.until("You said: and that")
        assert agent.prompts == ["first", "and that"]
        assert chat.tab.editor.text == ""


async def test_prompts_not_accepted_before_the_agent_died_are_queued_in_order(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "second")
        await steer(chat, "third")
        await chat.send("fourth")
        await chat.until("2 sent, not picked up yet · 1 queued")
        await die(chat)
        await chat.until("the 3 queued prompts are kept")
        assert [prompt.text for prompt in chat.tab.controller.queue.waiting] == ["second", "third", "fourth"]
        await chat.press("ctrl+r")
        await chat.until("3 queued, on hold")
        assert agents[-1].prompts == []
        await chat.press("enter")
        await chat.until("You said: fourth")
        assert agents[-1].prompts == ["second", "third", "fourth"]


async def test_a_prompt_that_the_agent_has_not_accepted_is_saved_as_a_draft(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("not picked up yet")
        assert chat.tab.prompt_input.unsent == ["and this"]


@pytest.mark.req("V2-PROMPT-07")
async def test_an_echoed_prompt_counts_as_accepted_before_its_response(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("not picked up yet")
        session = chat.tab.controller.session
        assert session is not None
        for part in ("and ", "this"):
            piece = v2.TextContent(text=part)
            session.receive(v2.UserMessageChunk(message_id="m7", content=piece), 0)
        await chat.gone("not picked up yet")
        assert chat.tab.prompt_input.unsent == []
        await die(chat)
        assert chat.tab.controller.queue.waiting == []


@pytest.mark.req("V2-PROMPT-18")
async def test_a_replayed_message_does_not_accept_a_sent_prompt(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "first")
        await chat.until("not picked up yet")
        session = chat.tab.controller.session
        assert session is not None
        said = next(item for item in session.transcript.timeline if getattr(item, "role", "") == "user")
        again = v2.UserMessage(message_id=said.id, content=[v2.TextContent(text="first")])
        session.receive(again, 0)
        session.receive(v2.AgentMessageChunk(message_id="m9", content=v2.TextContent(text="still at it")), 0)
        await chat.until("still at it")
        assert "1. first  (sent, not picked up yet)" in chat.text


async def test_it_is_too_late_to_withdraw_a_prompt_that_was_accepted_meanwhile(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("not picked up yet")
        chat.tab.controller.queue.sent[0].withdrawal = "edit"  # as if it hadn't reached the agent in time
        agent.go_on.set()
        await chat.until("Too late to withdraw a prompt")
        await chat.until("You said: and this")
        assert chat.tab.editor.text == ""


async def test_a_prompt_that_the_agent_rejects_returns_to_the_editor(opened: Opened) -> None:
    class Strict(ScriptedAgent):
        async def accept_prompt(self, turn: Turn) -> None:
            if "please" not in turn.text:
                raise InvalidParams("say please")

    async with opened(Strict(), versions=(2,)) as chat:
        await chat.send("go")
        await chat.until("say please")
        await chat.until(lambda: chat.tab.editor.text == "go")
        await chat.press("end")
        await chat.type(" please")
        await chat.press("enter")
        await chat.until("You said: go please")


async def test_a_prompt_that_is_accepted_at_once_is_not_shown_as_queued(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.session.prompt_queue.GRACE_SECONDS", 60.0)
    panels: list[object] = []
    monkeypatch.setattr("accord.tui.panels.queue.QueuePanel.update", panels.append)
    async with opened(ScriptedAgent(), versions=(2,)) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        assert panels == []


async def test_a_prompt_that_is_not_accepted_for_a_while_is_shown(opened: Opened) -> None:
    go_on = asyncio.Event()

    class Slow(ScriptedAgent):
        async def accept_prompt(self, turn: Turn) -> None:
            await go_on.wait()

    async with opened(Slow(), versions=(2,)) as chat:
        await chat.send("hello")
        await chat.until("1. hello  (sent, not picked up yet)")
        go_on.set()
        await chat.until("You said: hello")
        await chat.gone("not picked up yet")


class Refusing(Agent):
    """An agent that accepts the first prompt and drops all others."""

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


async def test_a_prompt_that_the_agent_dropped_is_on_hold_until_the_user_sends_it(opened: Opened) -> None:
    agent = Refusing()
    async with opened(agent, versions=(2,)) as chat:
        await chat.send("first")
        await chat.until("at work on first")
        await steer(chat, "second")
        await chat.until("not picked up yet")
        agent.go_on.set()
        await chat.until("1 queued, on hold")
        await chat.until("The agent didn't accept a prompt")
        assert agent.asked == ["first", "second"]
        await chat.press("enter")
        await chat.until("at work on second")
        await chat.gone("1 queued")


async def test_escape_requeues_a_prompt_that_the_agent_had_not_accepted(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await start_first_turn(chat)
        await steer(chat, "and this")
        await chat.until("not picked up yet")
        await chat.press("escape")
        await chat.until("1 queued, on hold")
        assert agent.prompts == ["first"]


# -- a queue on hold


async def test_queued_prompts_are_on_hold_after_the_user_stops_the_turn(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent) as chat:
        await start_first_turn(chat)
        await chat.send("second")
        await chat.until("1 queued")
        await chat.press("escape")
        await chat.until("1 queued, on hold")
        await chat.until("● ready")
        assert agent.prompts == ["first"]
        await chat.press("enter")
        await chat.until(lambda: agent.prompts == ["first", "second"])


async def test_queued_prompts_are_not_sent_to_a_new_session_without_the_history(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await start_first_turn(chat)
        await chat.send("second")
        await chat.send("third")
        await die(chat)
        await chat.press("ctrl+r")
        await chat.until("New session")
        await chat.until("2 queued prompts are on hold")
        await chat.until("2 queued, on hold")
        assert agents[-1].prompts == []
        await chat.send("you have read the plan before")
        await chat.until("You said: third")
        assert agents[-1].prompts == ["you have read the plan before", "second", "third"]


async def test_editing_the_last_held_prompt_releases_the_queue(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(Busy() if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await start_first_turn(chat)
        await chat.send("second")
        await die(chat)
        await chat.press("ctrl+r")
        await chat.until("1 queued, on hold")
        await chat.press("alt+up")
        assert chat.tab.editor.text == "second"
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
