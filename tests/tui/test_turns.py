"""The terminal client: prompts that were sent and not taken, prompts that wait, and a queue that is on hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chatting import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.errors import InvalidParams, RequestCancelled
from accord.schema import v2
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


@pytest.mark.req("V2-PROMPT-07")
async def test_a_prompt_that_the_agent_repeats_is_taken_though_it_was_not_answered_yet(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("not taken yet")
        session = chat.pane.talk.session
        assert session is not None
        for part in ("and ", "this"):
            piece = v2.TextContent(text=part)
            session.receive(v2.UserMessageChunk(message_id="m7", content=piece), 0)
        await chat.gone("not taken yet")
        assert chat.pane.unsent == []
        await die(chat)
        assert chat.pane.talk.queue == []


@pytest.mark.req("V2-PROMPT-18")
async def test_what_was_said_before_and_is_told_again_takes_no_prompt(opened: Opened) -> None:
    async with opened(Busy(), versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "first")
        await chat.until("not taken yet")
        session = chat.pane.talk.session
        assert session is not None
        said = next(item for item in session.transcript.timeline if getattr(item, "role", "") == "user")
        again = v2.UserMessage(message_id=said.id, content=[v2.TextContent(text="first")])
        session.receive(again, 0)
        session.receive(v2.AgentMessageChunk(message_id="m9", content=v2.TextContent(text="still at it")), 0)
        await chat.until("still at it")
        assert "1. first  (sent, not taken yet)" in chat.text


async def test_a_prompt_that_was_taken_meanwhile_cannot_be_had_back_and_that_is_said(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent, versions=(2,)) as chat:
        await begun(chat)
        await steer(chat, "and this")
        await chat.until("not taken yet")
        chat.pane.talk.sent[0].wanted = "back"  # as if the agent had not heard of it in time
        agent.go_on.set()
        await chat.until("It was too late to take a prompt back")
        await chat.until("You said: and this")
        assert chat.pane.editor.text == ""


async def test_a_prompt_that_the_agent_finds_fault_with_is_in_the_editor_again(opened: Opened) -> None:
    class Strict(ScriptedAgent):
        async def accept_prompt(self, turn: Turn) -> None:
            if "please" not in turn.text:
                raise InvalidParams("say please")

    async with opened(Strict(), versions=(2,)) as chat:
        await chat.send("go")
        await chat.until("say please")
        await chat.until(lambda: chat.pane.editor.text == "go")
        await chat.press("end")
        await chat.type(" please")
        await chat.press("enter")
        await chat.until("You said: go please")


async def test_an_ordinary_prompt_that_is_taken_at_once_does_not_flash_by(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.pending.GRACE", 60.0)
    panels: list[object] = []
    monkeypatch.setattr("accord.tui.panels.queue.QueuePanel.update", panels.append)
    async with opened(ScriptedAgent(), versions=(2,)) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        assert panels == []


async def test_an_ordinary_prompt_that_is_not_taken_for_a_while_is_shown(opened: Opened) -> None:
    go_on = asyncio.Event()

    class Slow(ScriptedAgent):
        async def accept_prompt(self, turn: Turn) -> None:
            await go_on.wait()

    async with opened(Slow(), versions=(2,)) as chat:
        await chat.send("hello")
        await chat.until("1. hello  (sent, not taken yet)")
        go_on.set()
        await chat.until("You said: hello")
        await chat.gone("not taken yet")


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


async def test_what_waits_is_on_hold_when_the_user_stops_the_turn(opened: Opened) -> None:
    agent = Busy()
    async with opened(agent) as chat:
        await begun(chat)
        await chat.send("second")
        await chat.until("1 queued")
        await chat.press("escape")
        await chat.until("1 queued, on hold")
        await chat.until("● ready")
        assert agent.prompts == ["first"]
        await chat.press("enter")
        await chat.until(lambda: agent.prompts == ["first", "second"])


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
