"""Nothing that was typed or said is lost: agents that die, clicks, tabs that close, clients side by side."""

from __future__ import annotations

import asyncio

from chatting import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


async def endless(turn: Turn) -> None:
    await turn.say("working on it")
    await asyncio.Event().wait()


async def die(chat: Chat) -> None:
    """Ends the agent, as if its process had died."""
    agent = chat.pane.talk.link.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.pane.talk.state == "gone")


async def test_prompts_that_wait_when_the_agent_dies_are_sent_when_it_is_there_again(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(ScriptedAgent([endless]) if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second")
        await chat.send("third")
        await die(chat)
        await chat.until("the 2 prompts that wait are kept for then")
        assert [prompt.text for prompt in chat.pane.talk.queue] == ["second", "third"]
        assert "could not be sent" not in chat.text
        await chat.press("ctrl+r")
        await chat.until("You said: third")
        assert agents[-1].prompts == ["second", "third"]


async def test_a_prompt_that_waits_for_an_agent_that_is_gone_can_be_taken_back(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second")
        await die(chat)
        await chat.until("1 queued")
        await chat.press("alt+up")
        assert chat.pane.editor.text == "second"
        assert not chat.pane.talk.queue


async def test_a_prompt_that_cannot_be_sent_is_in_the_editor_again(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:

        def refuse(*given: object) -> list[object]:
            raise OSError("there is no such file any more")

        chat.app.outside.content = refuse  # type: ignore[method-assign, assignment]
        await chat.send("look at @this")
        await chat.until("there is no such file any more")
        assert chat.pane.editor.text == "look at @this"
