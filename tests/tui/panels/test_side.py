"""The side panel takes room only if it has something to show."""

from __future__ import annotations

from support.tui_driver import Chat, Opened, collect_notifications

from accord.agent.turn import Turn
from accord.model.session import Choice, Option
from accord.testing import ScriptedAgent


def is_there(chat: Chat) -> bool:
    return chat.tab.transcript_view.size.width < chat.app.size.width


async def test_the_side_panel_appears_once_it_has_something_to_show(opened: Opened) -> None:
    async def counts(turn: Turn) -> None:
        await turn.usage(150_000, 200_000, cost=0)

    async def plans(turn: Turn) -> None:
        await turn.plan(["Look around"])

    async with opened(ScriptedAgent([counts], [plans])) as chat:
        await chat.send("go")
        await chat.until("75% of context")  # on the status line: that alone is no reason to take room
        assert not is_there(chat) and "untitled" not in chat.text
        await chat.send("go")
        await chat.until("○ Look around")
        await chat.until("150,000 of 200,000 tokens")
        assert is_there(chat) and "USD" not in chat.text


async def test_options_alone_leave_the_room_to_the_transcript(opened: Opened) -> None:
    class Choosy(ScriptedAgent):
        options = (Option(id="effort", name="Effort", value="low", choices=[Choice(value="low", name="Low")]),)

    async with opened(Choosy(["Hello."])) as chat:
        await chat.send("go")
        await chat.until("Hello.")
        await chat.until("● ready")
        assert not is_there(chat)


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
