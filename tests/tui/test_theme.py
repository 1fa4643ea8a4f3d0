"""Text is readable in every theme."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.color import Color

from accord.tui.theme import MIN_CONTRAST, TextStyles, ratio, readable

THEMES = App[None]().available_themes
MEANINGS = ("dim", "accent", "primary", "good", "warn", "bad", "code")


@pytest.mark.parametrize("name", THEMES)
def test_every_text_style_is_readable_in_every_theme(name: str) -> None:
    text_styles = TextStyles(THEMES[name].to_color_system().generate(), dark=THEMES[name].dark)
    ground = Color.from_rich_color(text_styles.ground)
    assert ratio(Color.from_rich_color(text_styles.base.color), ground) >= MIN_CONTRAST
    for meaning in MEANINGS:
        ink = Color.from_rich_color(getattr(text_styles, meaning).color)
        assert ratio(ink, ground) >= MIN_CONTRAST - 0.1, f"{meaning} is {ink.hex} on {ground.hex}"


@pytest.mark.parametrize("name", ["textual-dark", "textual-light"])
def test_text_is_readable_on_diff_backgrounds_too(name: str) -> None:
    text_styles = TextStyles(THEMES[name].to_color_system().generate(), dark=THEMES[name].dark)
    ink = Color.from_rich_color(text_styles.base.color)
    for ground in (
        text_styles.said,
        text_styles.added,
        text_styles.added_word,
        text_styles.removed,
        text_styles.removed_word,
    ):
        assert ratio(ink, Color.from_rich_color(ground.bgcolor)) >= MIN_CONTRAST


def test_a_colour_that_can_be_read_is_left_alone() -> None:
    black, white = Color.parse("black"), Color.parse("white")
    assert readable(Color.parse("#ffa62b"), black, white) == Color.parse("#ffa62b")
    assert readable(Color.parse("#101010"), black, white) != Color.parse("#101010")


def test_how_much_brighter_a_colour_is() -> None:
    assert round(ratio(Color.parse("black"), Color.parse("white")), 1) == 21.0
    assert ratio(Color.parse("#777777"), Color.parse("#777777")) == 1.0
