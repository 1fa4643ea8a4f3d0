"""Forms that agents ask to be filled in: every field can be reached, read without colours, and corrected."""

from __future__ import annotations

from typing import Any

import pytest
from chatting import Chat, Moments, Opened

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


async def test_ctrl_x_declines_and_does_not_cut_what_a_field_holds(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        await chat.type("kept")
        await chat.press("shift+home", "ctrl+x")
        await chat.until("it was decline")
        assert chat.app.clipboard == ""


async def test_the_hints_below_a_form_are_as_long_as_the_window_allows(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(40, 24)) as chat:
        await asked(chat)
        assert "ctrl+x" not in chat.text
        assert "esc leaves it" in chat.text
        await chat.pilot.resize_terminal(80, 24)
        await chat.until("tab next field · ctrl+s sends · ctrl+x declines · esc leaves it")
        await chat.pilot.resize_terminal(40, 24)
        await chat.gone("ctrl+x")


async def test_a_form_in_which_nothing_was_filled_in_is_left_at_once(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        await chat.press("escape")
        await chat.until("it was cancel")


async def test_a_form_in_which_something_was_filled_in_is_left_by_a_second_esc(
    opened: Opened, moments: Moments
) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await asked(chat)
        screen = chat.app.screen
        assert isinstance(screen, FormScreen)
        await chat.type("much")
        moments.last()
        await chat.press("escape", "escape", "escape")  # held down
        await chat.until("esc again leaves it")
        await chat.type("!")
        await chat.until("ctrl+s sends")
        await chat.press("escape")
        await chat.until("esc again leaves it")
        moments.end()
        await chat.until(lambda: screen._leaving is not None and screen._leaving.is_over)
        assert chat.app.screen is screen
        assert "much!" in chat.text
        await chat.press("escape")
        await chat.until("it was cancel")


async def test_what_belongs_into_a_field_is_said_in_words(opened: Opened) -> None:
    formats = ("uri", "date", "date-time", "email")
    shapes = {each: {"type": "string", "format": each, "title": each.upper()} for each in formats}

    async def formal(turn: Turn) -> None:
        await turn.ask("Please tell me all of this.", {"type": "object", "properties": shapes})

    async with opened(ScriptedAgent([formal]), size=(80, 24)) as chat:
        await asked(chat)
        for hint in ("an address, with https://", "a date such as", "a date and time such as", "an e-mail address"):
            await chat.until(hint)
        assert "date-time" not in chat.text


async def test_the_page_to_visit_is_opened_by_a_key(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui import viewing

    async def visit(turn: Turn) -> None:
        reply = await turn.ask("Please look at this.", url="https://example.com/page?a=1")
        await turn.say(f"it was {reply.action}")

    opening: list[list[str]] = []
    monkeypatch.setattr(viewing, "_start", opening.append)
    monkeypatch.setattr(viewing, "viewer", lambda: ["see"])
    async with opened(ScriptedAgent([visit]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("enter done · o opens it · c copies it · n no · esc leaves it")
        await chat.press("o")
        await chat.until(lambda: opening)
        assert opening == [["see", "https://example.com/page?a=1"]]
        await chat.press("enter")
        await chat.until("it was accept")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "--help", "", "httpsx"])
def test_what_is_no_page_is_not_opened(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui import viewing

    monkeypatch.setattr(viewing, "_start", lambda command: pytest.fail(f"{command} was started"))
    monkeypatch.setattr(viewing, "viewer", lambda: ["see"])
    assert viewing.open_address(url).startswith("Only addresses with https://")


def test_without_a_screen_no_page_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui import viewing

    monkeypatch.setattr(viewing, "viewer", lambda: None)
    assert "no screen" in viewing.open_address("https://example.com")
