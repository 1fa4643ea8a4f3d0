"""The picture without colours, for those who set NO_COLOR: on the terminal's own ground, in its own ink.

What stands out by its ground alone, like a cursor or a chosen line, is turned around instead; what is pale is dim."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_STANDS_OUT = 0.2
_PALE = 0.45


class Colourless(LineFilter):
    """Takes the colours off every line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _bare(style, background.brightness), control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _bare(style: Style, ground: float) -> Style:
    behind = ground if style.bgcolor is None else Color.from_rich_color(style.bgcolor).brightness
    ink = None if style.color is None else Color.from_rich_color(style.color).brightness
    stands_out = abs(behind - ground) > _STANDS_OUT
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=bool(style.reverse) != stands_out,
        dim=style.dim or (ink is not None and not stands_out and abs(ink - ground) < _PALE),
        link=style.link,
        meta=style.meta,
    )
