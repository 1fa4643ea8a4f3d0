"""Simple paragraphs take a shortcut, and look the same as without it."""

from __future__ import annotations

import random

import pytest
from rich.style import Style
from textual.strip import Strip
from textual.theme import BUILTIN_THEMES

from accord.tui.theme import TextStyles
from accord.tui.transcript.markdown import _parser, _Words, paragraph

LOOK = TextStyles(BUILTIN_THEMES["textual-dark"].to_color_system().generate(), dark=True)
SIMPLE = [
    "one line",
    "words that go on and on until they must be broken somewhere, and then on",
    "*slanted* and **strong** and ***both***, `code` and ~~gone~~",
    "**strong with `code in it` and *more***",
    "two  spaces,\ta tab,  \nand a break\nand another",
    "日本語の文章は幅が広いので 折り返しの 場所が 変わります 👩‍👩‍👧 と絵文字",
    "a-very-long-word-without-any-place-to-break-it-which-is-longer-than-the-line-is-wide-and-still-goes-on",
    "`a long piece of code that is broken somewhere in its middle too`",
    "1 < 2 & 3 > 2 &amp; so on \\*not slanted\\*",
]


def cells(lines: list[Strip]) -> list[list[tuple[str, Style | None]]]:
    """Return every character with its style, without trailing spaces."""
    found = []
    for line in lines:
        row = [(letter, each.style) for each in line for letter in each.text if not each.control]
        while row and row[-1][0] == " ":
            row.pop()
        found.append(row)
    return found


def both_ways(source: str, width: int) -> tuple[list[Strip], list[Strip]]:
    tokens = _parser.parse(source)
    words = paragraph(tokens, LOOK)
    assert words is not None
    return LOOK.wrap(words, width), LOOK.draw(_Words(tokens, LOOK.code_theme), width)


@pytest.mark.parametrize("width", [20, 37, 80])
@pytest.mark.parametrize("source", SIMPLE)
def test_the_shortcut_renders_like_richs_markdown(source: str, width: int) -> None:
    short, long = both_ways(source, width)
    assert cells(short) == cells(long)


def test_any_mixture_of_styles_renders_the_same() -> None:
    chance = random.Random(1)
    for _ in range(200):
        source = " ".join(chance.choice(SIMPLE[:6] + SIMPLE[7:]) for _ in range(chance.randrange(1, 5)))
        width = chance.randrange(12, 100)
        short, long = both_ways(source, width)
        assert cells(short) == cells(long), (source, width)


@pytest.mark.parametrize("source", ["# head", "- item", "> quote", "[a](https://x.org)", "![a](b.png)", "```\nx\n```"])
def test_other_blocks_do_not_use_the_shortcut(source: str) -> None:
    assert paragraph(_parser.parse(source), LOOK) is None
