"""Forms: every field can be reached, read without colors, and corrected."""

from __future__ import annotations

from typing import Any

import pytest
from support.tui_driver import Chat, Moments, Opened

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


async def open_form(chat: Chat) -> None:
    await chat.send("go")
    await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
    await chat.until("Please tell me all of this.")
    await chat.until("ctrl+s send")


async def test_a_long_form_opens_at_the_top_with_its_message_visible(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.pilot.pause()
        assert "Please tell me all of this." in chat.text
        assert "Field 1 *" in chat.text
        assert sum(each.show_vertical_scrollbar for each in chat.app.screen.query("*")) == 1


async def test_every_focused_field_scrolls_into_view_with_its_label(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        names = [*(f"Field {number}" for number in range(2, 11)), "Ready", "Late", "Days", "Age"]
        for name in names:
            await chat.press("tab")
            await chat.until(name)
        for name in [*reversed(names[:-1]), "Please tell me all of this."]:
            await chat.press("shift+tab")
            await chat.until(name)


async def test_checkboxes_are_readable_without_colors(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 60)) as chat:
        await open_form(chat)
        for words in ("[ ] Ready", "[x] Late", "[ ] Monday", "[x] Tuesday", "[ ] Wednesday"):
            await chat.until(words)
        await chat.press(*["tab"] * 10, "space")
        await chat.until("[x] Ready")
        await chat.press("tab", "space", "tab", "space")
        await chat.until("[ ] Late")
        await chat.until("[x] Monday")
        assert "[x] Tuesday" in chat.text


async def test_an_error_disappears_when_its_field_is_corrected(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.press("ctrl+s")
        await chat.until("Required.")
        await chat.type("x")
        await chat.gone("Required.")
        await chat.press("ctrl+s")
        await chat.until("it was accept: {'field1': 'x', 'ready': False, 'late': True")


@pytest.mark.req("V1-ELIC-25")
async def test_a_form_names_its_agent_and_can_be_edited_before_it_is_sent(opened: Opened) -> None:
    async def name(turn: Turn) -> None:
        reply = await turn.ask("Who are you?", {"type": "object", "properties": {"name": {"type": "string"}}})
        await turn.say(f"it was {reply.action}: {reply.content}")

    async with opened(ScriptedAgent([name]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("ctrl+s send")
        await chat.until("asks")
        await chat.type("Anne")
        await chat.press("backspace", "a", "ctrl+s")
        await chat.until("it was accept: {'name': 'Anna'}")


@pytest.mark.req("V1-ELIC-28")
async def test_addresses_in_a_form_are_not_links(opened: Opened) -> None:
    async def phish(turn: Turn) -> None:
        shape = {"type": "string", "title": "https://a.example", "description": "See [here](https://b.example)"}
        await turn.ask("Go to https://c.example", {"type": "object", "properties": {"name": shape}})

    async with opened(ScriptedAgent([phish]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("ctrl+s send")
        await chat.until("https://c.example")
        strips = chat.app.screen._compositor.render_strips()
        assert [
            style.link
            for strip in strips
            for _, style, _ in strip
            if style and (style.link or style.meta.get("@click"))
        ] == []


async def test_ctrl_x_declines_instead_of_cutting_text(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.type("kept")
        await chat.press("shift+home", "ctrl+x")
        await chat.until("it was decline")
        assert chat.app.clipboard == ""


async def test_the_hints_below_a_form_adapt_to_the_window_width(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(40, 24)) as chat:
        await open_form(chat)
        assert "ctrl+x" not in chat.text
        assert "esc dismiss" in chat.text
        await chat.pilot.resize_terminal(80, 24)
        await chat.until("tab next field · ctrl+s send · ctrl+x decline · esc dismiss")
        await chat.pilot.resize_terminal(40, 24)
        await chat.gone("ctrl+x")


async def test_esc_dismisses_an_untouched_form_at_once(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.press("escape")
        await chat.until("it was cancel")


async def test_a_filled_in_form_is_dismissed_by_a_second_esc(opened: Opened, moments: Moments) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await open_form(chat)
        screen = chat.app.screen
        assert isinstance(screen, FormScreen)
        await chat.type("much")
        moments.last()
        await chat.press("escape", "escape", "escape")  # held down
        await chat.until("esc again discards")
        await chat.type("!")
        await chat.until("ctrl+s send")
        await chat.press("escape")
        await chat.until("esc again discards")
        moments.end()
        await chat.until(lambda: screen._leaving is not None and screen._leaving.is_over)
        assert chat.app.screen is screen
        assert "much!" in chat.text
        await chat.press("escape")
        await chat.until("it was cancel")


async def test_placeholders_describe_the_expected_format(opened: Opened) -> None:
    formats = ("uri", "date", "date-time", "email")
    shapes = {each: {"type": "string", "format": each, "title": each.upper()} for each in formats}

    async def formal(turn: Turn) -> None:
        await turn.ask("Please tell me all of this.", {"type": "object", "properties": shapes})

    async with opened(ScriptedAgent([formal]), size=(80, 24)) as chat:
        await open_form(chat)
        for hint in ("a URL with https://", "a date such as", "a date and time such as", "an e-mail address"):
            await chat.until(hint)
        assert "date-time" not in chat.text


@pytest.mark.req("V1-ELIC-24")
async def test_a_key_opens_the_page_to_visit(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui.terminal import viewer

    async def visit(turn: Turn) -> None:
        reply = await turn.ask("Please look at this.", url="https://example.com/page?a=1")
        await turn.say(f"it was {reply.action}")

    opening: list[list[str]] = []
    monkeypatch.setattr(viewer, "_start", opening.append)
    monkeypatch.setattr(viewer, "viewer", lambda: ["see"])
    async with opened(ScriptedAgent([visit]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("enter done · o open · c copy the URL · n decline · esc dismiss")
        await chat.press("o")
        await chat.until(lambda: opening)
        assert opening == [["see", "https://example.com/page?a=1"]]
        await chat.press("o")  # again: the page was closed, or never came
        await chat.until(lambda: len(opening) == 2)
        await chat.press("enter")
        await chat.until("it was accept")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "--help", "", "httpsx"])
def test_only_web_urls_are_opened(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui.terminal import viewer

    monkeypatch.setattr(viewer, "_start", lambda command: pytest.fail(f"{command} was started"))
    monkeypatch.setattr(viewer, "viewer", lambda: ["see"])
    assert viewer.open_address(url).startswith("Only https:// and http:// URLs")


def test_no_page_is_opened_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    from accord.tui.terminal import viewer

    monkeypatch.setattr(viewer, "viewer", lambda: None)
    assert "no display" in viewer.open_address("https://example.com")


@pytest.mark.req("V1-ELIC-09")
@pytest.mark.parametrize("required", [False, True])
async def test_a_field_of_unknown_type_is_labeled_as_unsupported(opened: Opened, required: bool) -> None:
    shapes = {"speed": {"type": "_slider", "title": "Speed", "enum": [1, 2]}, "name": {"type": "string"}}

    async def ask_unknown(turn: Turn) -> None:
        schema = {"type": "object", "properties": shapes, "required": ["speed"] if required else []}
        reply = await turn.ask("Please tell me all of this.", schema)
        await turn.say(f"it was {reply.action}: {reply.content}")

    async with opened(ScriptedAgent([ask_unknown]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.until("This kind of field can't be filled in here.")
        rows = list(chat.app.screen.query(".row"))
        controls = [[type(each).__name__ for each in row.query("*") if each.focusable] for row in rows]
        assert controls == [[], ["Field"]]
        await chat.type("Ada")
        await chat.press("ctrl+s")
        if required:
            await chat.until("It is required, so the form can't be sent")
            await chat.press("ctrl+x")
            await chat.until("it was decline")
        else:
            await chat.until("it was accept: {'name': 'Ada'}")


@pytest.mark.req("V1-ELIC-10")
async def test_a_pattern_with_exponential_backtracking_does_not_block(opened: Opened) -> None:
    text = "a" * 60 + "!"

    async def trap(turn: Turn) -> None:
        shape = {"type": "string", "pattern": "^(a+)+$"}
        reply = await turn.ask("Please tell me all of this.", {"type": "object", "properties": {"name": shape}})
        await turn.say("it came whole" if reply.content == {"name": text} else "it did not")

    async with opened(ScriptedAgent([trap]), size=(80, 24)) as chat:
        await open_form(chat)
        await chat.type(text)
        await chat.press("ctrl+s")
        await chat.until("it came whole")
