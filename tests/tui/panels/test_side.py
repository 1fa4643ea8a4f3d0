"""The side panel takes room only if it has something to show."""

from __future__ import annotations

from support.tui_driver import Chat, Opened, collect_notifications

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


def is_there(chat: Chat) -> bool:
    return chat.tab.transcript_view.size.width < chat.app.size.width


async def test_the_side_panel_appears_once_it_has_something_to_show(opened: Opened) -> None:
    async def counts(turn: Turn) -> None:
        await turn.usage(150_000, 200_000, cost=0)

    async with opened(ScriptedAgent(["Nothing to tell."], [counts])) as chat:
        await chat.send("go")
        await chat.until("Nothing to tell.")
        assert not is_there(chat) and "untitled" not in chat.text
        await chat.send("go")
        await chat.until("150,000 of 200,000 tokens")
        await chat.until(lambda: is_there(chat))
        assert "USD" not in chat.text


async def test_f2_explains_itself_if_its_effect_is_not_visible(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        told = collect_notifications(chat)
        await chat.press("f2")
        await chat.until(lambda: told)
        await chat.press("f2")
        await chat.until(lambda: len(told) == 2)
        assert told == ["The side panel is off.", "The side panel is on, and appears when it has content."]


async def test_the_side_panel_returns_at_once_when_switched_on_or_given_room(opened: Opened) -> None:
    async def plans(turn: Turn) -> None:
        await turn.plan(["Look around", "Decide"])

    async with opened(ScriptedAgent([plans]), size=(90, 30)) as chat:
        await chat.send("go")
        await chat.until("plan 0/2")
        await chat.until("● ready")
        await chat.pilot.resize_terminal(120, 30)
        await chat.until("○ Look around")
        await chat.press("f2")
        await chat.gone("○ Look around")
        await chat.press("f2")
        await chat.until("○ Look around")
