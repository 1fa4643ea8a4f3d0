"""The last net before the terminal: whatever is drawn, from whomever it came, only what can be seen gets through.

What others say is made fit where it is drawn (see plain.py), so that it can be read; this is for what was forgotten."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter

from accord.tui.plain import one_line

_STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST_LINK = 2_000


class Harmless(LineFilter):
    """Takes out what would steer the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [each if _is_harmless(each) else _mended(each) for each in segments]


def _is_harmless(segment: Segment) -> bool:
    text, style, control = segment
    return bool(control) or (
        _STEERS.search(text) is None and (style is None or style._link is None or is_sound_link(style._link))
    )


def _mended(segment: Segment) -> Segment:
    return Segment(_STEERS.sub("", segment.text), without_link(segment.style) if segment.style is not None else None)


@lru_cache(1024)
def is_sound_link(address: str) -> bool:
    """Whether an address can be handed to a terminal."""
    return len(address) <= _LONGEST_LINK and _STEERS.search(address) is None and address.isascii()


def without_link(style: Style) -> Style:
    """The style with no address that is not sound."""
    return style if style.link is None or is_sound_link(style.link) else style.update_link(None)


def with_sound_links(text: Text) -> Text:
    """A text whose links are sound: one that is not becomes the words alone."""
    if any(isinstance(span.style, Style) and span.style.link is not None for span in text.spans):
        text.spans = [
            span._replace(style=without_link(span.style)) if isinstance(span.style, Style) else span
            for span in text.spans
        ]
    if isinstance(text.style, Style):
        text.style = without_link(text.style)
    return text


def words(text: str, most: int = 300) -> Content:
    """Words of others as the title of a box or a label: on one line, and with brackets that mean nothing."""
    return Content(one_line(text, most))
