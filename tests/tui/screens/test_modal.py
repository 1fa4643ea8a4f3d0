"""Modal screens: choosing with arrow keys, and dismissing once."""

from __future__ import annotations

from pathlib import Path

from support.plain_app import PlainApp
from support.tui_driver import TIMEOUT_SECONDS, Chat, Memory
from textual.widgets import OptionList

from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp
from accord.tui.screens.keys import KeysScreen
from accord.tui.screens.picker import Picker, Row


async def test_arrow_keys_move_in_the_list_while_the_field_has_the_focus() -> None:
    app = PlainApp()
    async with app.run_test() as pilot:
        picker = Picker("Which?", [Row("a", "a"), Row("b", "b"), Row("c", "c")])
        app.push_screen(picker)
        await pilot.pause()
        first = picker.query_one(OptionList).highlighted or 0
        await pilot.press("down", "down", "up")
        assert picker.query_one(OptionList).highlighted == first + 1


async def test_pressing_escape_twice_dismisses_one_screen() -> None:
    app = PlainApp()
    async with app.run_test() as pilot:
        screen = KeysScreen()
        app.push_screen(screen)
        await pilot.pause()
        screen.dismiss(None)
        screen.dismiss(None)
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_notifications_stay_above_the_box_and_the_newest_are_shown(folders: Path) -> None:
    app = AccordApp(Memory(folders, ScriptedAgent([]), frozenset([1])))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        app.push_screen(Picker("Which one?", [Row(str(number), f"Answer {number}") for number in range(4)]))
        for number in range(5):
            app.notify(f"notification {number}", timeout=TIMEOUT_SECONDS)
        await chat.until("notification 4")
        await chat.until(lambda: "notification 0" not in chat.text)
        lines = chat.lines
        title = next(place for place, line in enumerate(lines) if "Which one?" in line)
        assert all(place < title for place, line in enumerate(lines) if "notification" in line)
        for number in range(4):
            assert f"Answer {number}" in chat.text
