"""Words that can be read in every theme."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.color import Color

from accord.tui.contrast import READABLE, ratio, readable
from accord.tui.look import Look

THEMES = App[None]().available_themes
MEANINGS = ("dim", "accent", "primary", "good", "warn", "bad", "code")


@pytest.mark.parametrize("name", THEMES)
def test_words_of_every_meaning_can_be_read_in_every_theme(name: str) -> None:
    look = Look(THEMES[name].to_color_system().generate(), dark=THEMES[name].dark)
    ground = Color.from_rich_color(look.ground)
    assert ratio(Color.from_rich_color(look.base.color), ground) >= READABLE
    for meaning in MEANINGS:
        ink = Color.from_rich_color(getattr(look, meaning).color)
        assert ratio(ink, ground) >= READABLE - 0.1, f"{meaning} is {ink.hex} on {ground.hex}"


@pytest.mark.parametrize("name", ["textual-dark", "textual-light"])
def test_words_can_be_read_on_the_ground_of_a_change_too(name: str) -> None:
    look = Look(THEMES[name].to_color_system().generate(), dark=THEMES[name].dark)
    ink = Color.from_rich_color(look.base.color)
    for ground in (look.said, look.added, look.added_word, look.removed, look.removed_word):
        assert ratio(ink, Color.from_rich_color(ground.bgcolor)) >= READABLE


def test_a_colour_that_can_be_read_is_left_alone() -> None:
    black, white = Color.parse("black"), Color.parse("white")
    assert readable(Color.parse("#ffa62b"), black, white) == Color.parse("#ffa62b")
    assert readable(Color.parse("#101010"), black, white) != Color.parse("#101010")


def test_how_much_brighter_a_colour_is() -> None:
    assert round(ratio(Color.parse("black"), Color.parse("white")), 1) == 21.0
    assert ratio(Color.parse("#777777"), Color.parse("#777777")) == 1.0
