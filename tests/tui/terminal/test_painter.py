"""Painting order: keys first, and each changed widget by itself."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from support.tui_driver import Chat, Opened
from textual import events
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.widgets import Static

from accord import Agent, Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.keys import KeysScreen
from accord.tui.terminal.painter import Page


class Silent(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say("done")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The output of each write to the terminal."""
    texts: list[str] = []

    def note(self: App[Any], screen: Any, update: Any) -> None:
        if isinstance(update, CompositorUpdate):
            texts.append(update.render_segments(Console(color_system=None, force_terminal=True)))

    monkeypatch.setattr(App, "_display", note)
    return texts


def page(chat: Chat) -> Page:
    screen = chat.app.screen
    assert isinstance(screen, Page)
    return screen


async def until_simple(chat: Chat) -> None:
    """Wait until single widgets can be painted, and for nothing after that: Textual may paint everything meanwhile."""
    while not page(chat)._is_simple:
        await chat.pilot.pause()


async def test_a_typed_letter_is_painted_without_waiting_for_the_next_frame(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        editor = chat.app.tabs.active.editor
        await until_simple(chat)
        written.clear()
        await editor._on_key(events.Key("ß", "ß"))
        assert any("ß" in text for text in written), "it was painted before anybody else had a turn"
        assert not any("ready" in text for text in written if "ß" in text), "and nothing was painted with it"


async def test_only_the_changed_line_is_painted(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        status = chat.app.tabs.active.status
        await chat.pilot.pause()
        await until_simple(chat)
        chat.app.on_terminal.clear()
        status.refresh()
        written.clear()
        assert page(chat).paint(status)
        assert len(written) == 1
        assert "ready" in written[0]
        assert "╭" not in written[0]


async def test_unchanged_widgets_are_not_painted(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        await chat.pilot.pause()
        await until_simple(chat)
        status = chat.app.tabs.active.status
        page(chat).paint(status)
        written.clear()
        assert page(chat).paint(status)
        assert written == []


async def test_covered_widgets_are_painted_by_textual(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        conversation = chat.app.tabs.active.transcript_view
        await until_simple(chat)
        assert page(chat).paint(conversation)
        note = Static("look here")
        note.styles.overlay = "screen"
        note.styles.width, note.styles.height = 20, 2
        await chat.app.tabs.active.mount(note, before=conversation.parent)
        await chat.until("look here")
        conversation.refresh()
        assert not page(chat).paint(conversation)


async def test_no_widget_is_painted_alone_below_another_screen(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        below = page(chat)
        await chat.app.push_screen(KeysScreen())
        assert not below.paint(chat.app.tabs.active.status)


async def test_an_image_is_painted_from_top_to_bottom(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        await chat.send("go")
        await chat.until(lambda: any("done" in text for text in written))
        tab = chat.app.tabs.active
        await chat.pilot.pause()
        await until_simple(chat)
        chat.app.on_terminal.clear()
        written.clear()
        tab.status.refresh()
        tab.transcript_view.refresh()
        page(chat)._dirty_widgets |= {tab.status, tab.transcript_view}
        page(chat)._on_timer_update()
        assert [("done" in text, "ready" in text) for text in written] == [(True, False), (False, True)]


async def test_lines_already_on_the_terminal_are_not_written_again(opened: Opened, written: list[str]) -> None:
    async with opened(ScriptedAgent(["first\n\nsecond"])) as chat:
        await chat.send("go")
        await chat.until("second")
        await chat.until("ready")
        conversation = chat.app.tabs.active.transcript_view
        await until_simple(chat)
        conversation.refresh()
        assert page(chat).paint(conversation)
        lines = chat.app.on_terminal
        second = next(place for place, strip in lines.items() if "second" in strip.text)
        del lines[second]
        written.clear()
        conversation.refresh()
        assert page(chat).paint(conversation)
        assert ["second" in text for text in written] == [True]
        assert "first" not in written[0]


async def test_lines_that_textual_painted_over_are_painted_again(opened: Opened, written: list[str]) -> None:
    async with opened(Silent()) as chat:
        await chat.pilot.pause()
        status = chat.app.tabs.active.status
        status.refresh()
        page(chat).paint(status)
        await chat.app.push_screen(KeysScreen())
        await chat.app.pop_screen()
        await until_simple(chat)
        status.refresh()
        written.clear()
        assert page(chat).paint(status)
        assert any("ready" in text for text in written)
