"""Forms that agents ask to be filled in: every field can be reached, read without colours, and corrected."""

from __future__ import annotations

from typing import Any

from chatting import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.form import FormScreen

FIELDS: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{f"field{number}": {"type": "string", "title": f"Field {number}"} for number in range(1, 11)},
        "ready": {"type": "boolean", "title": "Ready"},
        "late": {"type": "boolean", "title": "Late", "default": True},
        "days": {
            "type": "array",
            "title": "Days",
            "items": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday"]},
            "default": ["Tuesday"],
        },
        "age": {"type": "integer", "title": "Age"},
    },
    "required": ["field1"],
}


async def ask(turn: Turn) -> None:
    reply = await turn.ask("Please tell me all of this.", FIELDS)
    await turn.say(f"it was {reply.action}: {reply.content}")


async def asked(chat: Chat) -> None:
    await chat.send("go")
    await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
    await chat.until("Please tell me all of this.")
    await chat.until("ctrl+s sends")


async def test_a_long_form_opens_at_its_top_with_the_question_in_sight(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        await chat.pilot.pause()
        assert "Please tell me all of this." in chat.text
        assert "Field 1 *" in chat.text
        assert sum(each.show_vertical_scrollbar for each in chat.app.screen.query("*")) == 1


async def test_every_field_comes_into_view_with_its_name_and_back_again(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        names = [*(f"Field {number}" for number in range(2, 11)), "Ready", "Late", "Days", "Age"]
        for name in names:
            await chat.press("tab")
            await chat.until(name)
        for name in [*reversed(names[:-1]), "Please tell me all of this."]:
            await chat.press("shift+tab")
            await chat.until(name)


async def test_what_is_ticked_can_be_told_without_colours(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 60)) as chat:
        await asked(chat)
        for words in ("[ ] Ready", "[x] Late", "[ ] Monday", "[x] Tuesday", "[ ] Wednesday"):
            await chat.until(words)
        await chat.press(*["tab"] * 10, "space")
        await chat.until("[x] Ready")
        await chat.press("tab", "space", "tab", "space")
        await chat.until("[ ] Late")
        await chat.until("[x] Monday")
        assert "[x] Tuesday" in chat.text


async def test_a_complaint_goes_when_its_field_is_put_right(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        await chat.press("ctrl+s")
        await chat.until("This one is needed.")
        await chat.type("x")
        await chat.gone("This one is needed.")
        await chat.press("ctrl+s")
        await chat.until("it was accept: {'field1': 'x', 'ready': False, 'late': True")
