"""The side panel takes room where it has something to say."""

from __future__ import annotations

from chatting import Chat, Opened, noted

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


def is_there(chat: Chat) -> bool:
    return chat.pane.conversation.size.width < chat.app.size.width


async def test_the_side_panel_comes_with_the_first_thing_that_is_worth_knowing(opened: Opened) -> None:
    async def counts(turn: Turn) -> None:
        await turn.usage(150_000, 200_000, cost=0)

    async with opened(ScriptedAgent(["Nothing to tell."], [counts])) as chat:
        await chat.send("go")
        await chat.until("Nothing to tell.")
        assert not is_there(chat) and "without a title" not in chat.text
        await chat.send("go")
        await chat.until("150,000 of 200,000 tokens")
        await chat.until(lambda: is_there(chat))
        assert "USD" not in chat.text


async def test_f2_says_what_it_does_where_nothing_is_seen_of_it(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        told = noted(chat)
        await chat.press("f2")
        await chat.until(lambda: told)
        await chat.press("f2")
        await chat.until(lambda: len(told) == 2)
        assert told == ["The side panel is off.", "The side panel comes when there is something in it."]
