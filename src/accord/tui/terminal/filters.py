"""Line filters, applied to every line just before it is written: sanitizing, `NO_COLOR`, and screen readers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from accord.tui.preferences import Preferences
from accord.tui.terminal.textual_internals import get_link
from accord.tui.text import CONTROLS, is_safe_link, without_unsafe_link

SCREEN_READER_VARIABLE = "ACCORD_SCREEN_READER"
# Box drawing, block elements, and the braille dots that spinners are made of.
_DRAWING = dict.fromkeys([*range(0x2500, 0x25A0), *range(0x2800, 0x2900)], " ")
_MIN_HIGHLIGHT = 0.2
_MAX_PALE = 0.45
"""Differences of brightness: from which on a background counts as a highlight, and up to which text counts as dim."""


class SanitizingFilter(LineFilter):
    """Removes control characters and unsafe links: a safety net for text that wasn't sanitized when rendered."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [each if _is_safe(each) else _sanitize(each) for each in segments]


def _is_safe(segment: Segment) -> bool:
    text, style, control = segment
    return bool(control) or (
        CONTROLS.search(text) is None and (style is None or (link := get_link(style)) is None or is_safe_link(link))
    )


def _sanitize(segment: Segment) -> Segment:
    style = without_unsafe_link(segment.style) if segment.style is not None else None
    return Segment(CONTROLS.sub("", segment.text), style)


class NoColorFilter(LineFilter):
    """Removes all colors, for `NO_COLOR`. Highlighted backgrounds become reverse video, pale text becomes dim."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _without_color(style, background.brightness), control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _without_color(style: Style, ground: float) -> Style:
    behind = ground if style.bgcolor is None else Color.from_rich_color(style.bgcolor).brightness
    ink = None if style.color is None else Color.from_rich_color(style.color).brightness
    is_highlighted = abs(behind - ground) > _MIN_HIGHLIGHT
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=bool(style.reverse) != is_highlighted,
        dim=style.dim or (ink is not None and not is_highlighted and abs(ink - ground) < _MAX_PALE),
        link=style.link,
        meta=style.meta,
    )


def wants_screen_reader(preferences: Preferences, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether the screen reader mode is on, by the setting or the environment variable."""
    return preferences.screen_reader or env.get(SCREEN_READER_VARIABLE, "") not in ("", "0")


class ScreenReaderFilter(LineFilter):
    """Replaces lines, blocks and spinners by spaces, so that only words are read aloud."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(_DRAWING), segment.style, segment.control)
            for segment in segments
        ]
