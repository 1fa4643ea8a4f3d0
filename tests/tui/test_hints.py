"""Hints that are never cut, and rows that are marked by signs and not by colours alone."""

from __future__ import annotations

import pytest
from chatting import Opened
from textual.app import App
from textual.widgets import OptionList

from accord.testing import ScriptedAgent
from accord.tui.screens.hints import folded, shortest
from accord.tui.screens.picker import Picker, Row

MANY = {f"f{number}": f"does the thing with the number {number}" for number in range(3, 9)}


def test_hints_are_broken_between_two_of_them() -> None:
    assert folded(["enter chooses", "f3 doctor", "esc"], 25) == ["enter chooses · f3 doctor", "esc"]


def test_a_hint_that_alone_is_too_long_is_broken_within() -> None:
    assert folded(["one two three", "esc"], 8) == ["one two", "three", "esc"]


def test_the_longest_way_to_say_a_thing_that_fits_is_taken() -> None:
    ways = ("all of it", "less", "x")
    assert [shortest(ways, width) for width in (9, 8, 3, 0)] == ["all of it", "less", "x", "x"]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_all_hints_of_a_long_list_can_be_read(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        rows = [Row(str(number), f"row {number}") for number in range(100)]
        chat.app.push_screen(Picker("Which?", rows, about="Choose one of them.", keys=dict(list(MANY.items())[:3])))
        await chat.until("row 0")
        words = " ".join(chat.text.replace("│", " ").split())
        assert "esc goes back" in words and "does the thing with the number 5" in words


async def test_the_row_at_the_cursor_and_the_value_that_holds_have_marks() -> None:
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        picker = Picker("Which?", [Row("a", "apple"), Row("b", "pear", group="More")], chosen="a")
        app.push_screen(picker)
        await pilot.pause()
        assert rows_of(app) == ["❯ ✓ apple", "More", "pear"]
        await pilot.press("down")
        await pilot.pause()
        assert rows_of(app) == ["✓ apple", "More", "❯   pear"]


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_row_that_is_too_long_is_told_as_a_whole_below_the_list(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        about = "the first words of it and then some more of them until the very end"
        chat.app.push_screen(Picker("Which?", [Row("a", "apple", about), Row("b", "pear", "short")]))
        await chat.until("…")
        await chat.until("very end")
        assert "the first words of it" in " ".join(chat.text.split("pear")[1].replace("│", " ").split())
        await chat.press("down")
        await chat.gone("very end")


async def test_page_keys_move_in_a_long_list() -> None:
    app: App[None] = App()
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
