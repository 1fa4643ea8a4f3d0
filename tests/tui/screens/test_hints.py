"""Key hints are never truncated, and rows are marked by characters as well as colors."""

from __future__ import annotations

import pytest
from support.plain_app import PlainApp
from support.tui_driver import Opened
from textual.app import App
from textual.widgets import OptionList

from accord.testing import ScriptedAgent
from accord.tui.screens.hints import first_fitting, wrap_hints
from accord.tui.screens.picker import Picker, Row

MANY = {f"f{number}": f"does the thing with the number {number}" for number in range(3, 9)}


def test_lines_break_between_two_hints() -> None:
    assert wrap_hints(["enter chooses", "f3 doctor", "esc"], 25) == ["enter chooses · f3 doctor", "esc"]


def test_a_hint_longer_than_a_line_breaks_inside() -> None:
    assert wrap_hints(["one two three", "esc"], 8) == ["one two", "three", "esc"]


def test_the_longest_variant_that_fits_is_used() -> None:
    ways = ("all of it", "less", "x")
    assert [first_fitting(ways, width) for width in (9, 8, 3, 0)] == ["all of it", "less", "x", "x"]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_every_hint_of_a_long_list_is_readable(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        rows = [Row(str(number), f"row {number}") for number in range(100)]
        chat.app.push_screen(Picker("Which?", rows, about="Choose one of them.", keys=dict(list(MANY.items())[:3])))
        await chat.until("row 0")
        words = " ".join(chat.text.replace("│", " ").split())
        assert "esc back" in words and "does the thing with the number 5" in words


async def test_the_cursor_row_and_the_current_value_are_marked() -> None:
    app = PlainApp()
    async with app.run_test(size=(80, 24)) as pilot:
        picker = Picker("Which?", [Row("a", "apple"), Row("b", "pear", group="More")], chosen="a")
        app.push_screen(picker)
        await pilot.pause()
        assert rows_of(app) == ["❯ ✓ apple", "More", "pear"]
        await pilot.press("down")
        await pilot.pause()
        assert rows_of(app) == ["✓ apple", "More", "❯   pear"]


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_truncated_row_is_shown_in_full_below_the_list(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        about = "the first words of it and then some more of them until the very end"
        chat.app.push_screen(Picker("Which?", [Row("a", "apple", about), Row("b", "pear", "short")]))
        await chat.until("…")
        await chat.until("very end")
        assert "the first words of it" in " ".join(chat.text.split("pear")[1].replace("│", " ").split())
        await chat.press("down")
        await chat.gone("very end")


async def test_page_keys_move_in_a_long_list() -> None:
    app = PlainApp()
    async with app.run_test(size=(80, 24)) as pilot:
        picker = Picker("Which?", [Row(str(number), f"row {number}") for number in range(100)])
        app.push_screen(picker)
        await pilot.pause()
        await pilot.press("pagedown")
        await pilot.pause()
        assert (picker.query_one(OptionList).highlighted or 0) > 5


def rows_of(app: App[None]) -> list[str]:
    lines = [strip.text.strip(" │") for strip in app.screen._compositor.render_strips()]
    return [line for line in lines if any(word in line for word in ("apple", "pear", "More"))]
