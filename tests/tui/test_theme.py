"""Text is readable in every theme."""

from __future__ import annotations

from typing import Any

import pytest
from rich.color import ColorSystem
from rich.syntax import Syntax
from textual.app import App
from textual.color import Color
from textual.theme import Theme

from accord.tui import theme as themes
from accord.tui.theme import MIN_CONTRAST, TextStyles, ratio, readable, themes_for

OURS = {theme.name: theme for theme in themes.THEMES}
THEMES = App[None]().available_themes | OURS
MEANINGS = ("dim", "accent", "good", "warn", "bad")
CODE = '''
import os  # a comment
@cached
class Greeting(Base):
    """Says hello."""
    count: int = 12
    def greet(self) -> str:
        return f"Hello {self.name}" if not None else "nobody"
'''


def variables_of(name: str) -> dict[str, str]:
    return THEMES[name].to_color_system().generate() | THEMES[name].variables


def styles_of(name: str) -> TextStyles:
    return TextStyles(variables_of(name), dark=THEMES[name].dark)


def grounds_of(text_styles: TextStyles, *names: str) -> list[Color]:
    return [Color.from_rich_color(getattr(text_styles, name).bgcolor) for name in names]


@pytest.mark.parametrize("name", THEMES)
def test_every_text_style_is_readable_in_every_theme(name: str) -> None:
    text_styles = styles_of(name)
    ground = Color.from_rich_color(text_styles.ground)
    assert ratio(Color.from_rich_color(text_styles.base.color), ground) >= MIN_CONTRAST
    for meaning in MEANINGS:
        ink = Color.from_rich_color(getattr(text_styles, meaning).color)
        assert ratio(ink, ground) >= MIN_CONTRAST - 0.1, f"{meaning} is {ink.hex} on {ground.hex}"


@pytest.mark.parametrize("theme", themes_for("standard"), ids=lambda theme: str(theme.name))
def test_each_meaning_has_another_color_among_16(theme: Theme) -> None:
    text_styles = TextStyles(theme.to_color_system().generate() | theme.variables, dark=theme.dark, depth="standard")
    grays = {0, 7, 8, 15}
    for styles in (
        [getattr(text_styles, meaning) for meaning in ("accent", "good", "warn", "bad")],
        [text_styles.added, text_styles.removed],
    ):
        numbers = [style.color.downgrade(ColorSystem.STANDARD).number for style in styles]
        assert len(set(numbers)) == len(numbers) and not grays & set(numbers), numbers
    assert text_styles.added.bgcolor is text_styles.removed.bgcolor is None, "code has colors that need a dark ground"


def test_our_themes_keep_their_colors_on_other_terminals() -> None:
    assert themes_for("truecolor") == themes_for("256") == list(themes.THEMES)


@pytest.mark.parametrize("name", OURS)
def test_the_colors_of_our_themes_are_used_unchanged(name: str) -> None:
    text_styles, theme = styles_of(name), OURS[name]
    used = [text_styles.accent, text_styles.good, text_styles.warn, text_styles.bad]
    wanted = [theme.primary, theme.success, theme.warning, theme.error]
    for style, color in zip(used, wanted, strict=True):
        pairs = zip(Color.from_rich_color(style.color).rgb, Color.parse(color or "").rgb, strict=True)
        assert all(abs(one - other) <= 1 for one, other in pairs)  # Textual rounds them


@pytest.mark.parametrize("name", OURS)
def test_text_is_readable_on_tinted_backgrounds_too(name: str) -> None:
    text_styles = styles_of(name)
    ink = Color.from_rich_color(text_styles.base.color)
    for ground in grounds_of(text_styles, "said", "code", "added", "added_word", "removed", "removed_word"):
        assert ratio(ink, ground) >= MIN_CONTRAST


def inks_of_code(text_styles: TextStyles) -> set[Color]:
    syntax: Any = Syntax("", "python", theme=text_styles.code_theme)
    styles = [span.style for span in syntax.highlight(CODE).spans]
    assert all(style.bgcolor is None for style in styles)
    return {Color.from_rich_color(style.color) for style in styles if style.color is not None}


@pytest.mark.parametrize("name", THEMES)
def test_source_code_is_readable_and_colorful_in_every_theme(name: str) -> None:
    text_styles = styles_of(name)
    inks = inks_of_code(text_styles)
    assert len(inks) >= 4
    assert all(ratio(ink, Color.from_rich_color(text_styles.ground)) >= MIN_CONTRAST - 0.1 for ink in inks)


@pytest.mark.parametrize("name", OURS)
def test_source_code_is_readable_in_diffs(name: str) -> None:
    text_styles = styles_of(name)
    for ground in grounds_of(text_styles, "added", "removed"):
        for ink in inks_of_code(text_styles):
            assert ratio(ink, ground) >= MIN_CONTRAST - 0.1, f"{ink.hex} on {ground.hex}"


@pytest.mark.parametrize("name", OURS)
def test_widgets_of_textual_are_readable_in_our_themes(name: str) -> None:
    variables = variables_of(name)
    variables |= TextStyles(variables, dark=THEMES[name].dark).css_variables
    pairs = [("muted", "background"), ("foreground", "surface"), ("foreground", "panel")]
    for ink, ground in [*pairs, ("block-cursor-foreground", "block-cursor-background")]:
        assert ratio(Color.parse(variables[ink]), Color.parse(variables[ground])) >= MIN_CONTRAST, (ink, ground)


def test_inline_code_stands_out_by_its_background_alone() -> None:
    for name in OURS:
        assert styles_of(name).code.color is None and styles_of(name).code.bgcolor is not None


def test_a_readable_color_is_unchanged() -> None:
    black, white = Color.parse("black"), Color.parse("white")
    assert readable(Color.parse("#ffa62b"), black, white) == Color.parse("#ffa62b")
    assert readable(Color.parse("#101010"), black, white) != Color.parse("#101010")


def test_the_contrast_ratio_follows_wcag() -> None:
    assert round(ratio(Color.parse("black"), Color.parse("white")), 1) == 21.0
    assert ratio(Color.parse("#777777"), Color.parse("#777777")) == 1.0
