"""The picture for those who have it read to them: words in one column, and nothing that only looks nice or moves.

Lines and blocks that frame something are left out of every line; what they frame keeps its place."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from accord.tui.preferences import Preferences

VARIABLE = "ACCORD_SCREEN_READER"
# Lines, blocks, and the dots that spinners are made of.
_ART = dict.fromkeys([*range(0x2500, 0x25A0), *range(0x2800, 0x2900)], " ")


def is_wanted(preferences: Preferences, env: Mapping[str, str] = os.environ) -> bool:
    """Whether the user has the screen read: by the setting, or by the variable."""
    return preferences.screen_reader or env.get(VARIABLE, "") not in ("", "0")


class Linear(LineFilter):
    """Takes the lines and blocks off every line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.text.isascii() else Segment(segment.text.translate(_ART), segment.style, segment.control)
            for segment in segments
        ]
