"""Boxes to tick that look different ticked and not, whatever the colours are."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Checkbox, SelectionList

TICKED, NOT_TICKED = "[x]", "[ ]"


class Tick(Checkbox):
    """A box with a label."""

    @property
    def _button(self) -> Content:
        return Content(TICKED if self.value else NOT_TICKED)


class Ticks(SelectionList[int]):
    """A list of boxes."""

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= self.option_count:
            return line
        box = TICKED if self.get_option_at_index(place).value in self.selected else NOT_TICKED
        words = line.crop(len(box))  # the box of the list itself is as wide
        style = next((segment.style for segment in words), None)
        return Strip([Segment(box, style), *words])
