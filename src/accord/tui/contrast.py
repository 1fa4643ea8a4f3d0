"""Colours of a theme that can be read on its ground: some themes are made for large areas, and not for words."""

from __future__ import annotations

from textual.color import Color

READABLE = 4.5
"""How much brighter, or darker, words must be than what is behind them."""
_STEPS = 10
_ANSI = {"red": "#cd3131", "green": "#0dbc79", "yellow": "#c19c00", "blue": "#3b78ff", "magenta": "#bc3fbc"}
"""What the colours of a terminal look like about, for themes that name those."""


def opaque(colour: str, otherwise: str) -> Color:
    """A colour of a theme, without what some say of its transparency."""
    name = colour.partition(" ")[0]
    if name.startswith("ansi_"):
        name = _ANSI.get(name.removeprefix("ansi_").removeprefix("bright_"), otherwise)
    return Color.parse(otherwise if name.startswith("auto") else name)


def readable(wanted: Color, ground: Color, ink: Color, least: float = READABLE) -> Color:
    """The colour, mixed with as much of the ink as it takes to be read on the ground."""
    for step in range(_STEPS):
        mixed = wanted.blend(ink, step / _STEPS)
        if ratio(mixed, ground) >= least:
            return mixed
    return ink


def ratio(one: Color, other: Color) -> float:
    """How much brighter one colour is than the other, as eyes see it: from 1 to 21."""
    dark, bright = sorted((_light(one), _light(other)))
    return (bright + 0.05) / (dark + 0.05)


def _light(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
