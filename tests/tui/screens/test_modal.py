"""Modal screens: choosing with arrow keys, and dismissing once."""

from __future__ import annotations

from support.plain_app import PlainApp
from textual.widgets import OptionList

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
