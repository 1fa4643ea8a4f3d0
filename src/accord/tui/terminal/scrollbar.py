"""The scroll bar of all widgets: a thin thumb without a track, as the transcript draws it."""

from __future__ import annotations

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender

THUMB = "▐"
_BACK, _BAR = Color.parse("#000000"), Color.parse("#808080")


class ThinScrollBar(ScrollBarRender):
    """Draws vertical bars as a line of half blocks; horizontal ones as usual."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = _BACK,
        bar_color: Color = _BAR,
    ) -> Segments:
        if not vertical:
            return super().render_bar(
                size, virtual_size, window_size, position, thickness, vertical, back_color, bar_color
            )
        start, length = find_thumb(size, virtual_size, window_size, position)
        pad = " " * (thickness - 1)
        above = Segment(f"{pad} ", Style(bgcolor=back_color, meta={"@mouse.down": "scroll_up"}))
        thumb = Segment(f"{pad}{THUMB}", Style(color=bar_color, bgcolor=back_color, meta={"@mouse.down": "grab"}))
        below = Segment(f"{pad} ", Style(bgcolor=back_color, meta={"@mouse.down": "scroll_down"}))
        rows = [above] * start + [thumb] * length + [below] * (size - start - length)
        return Segments(rows, new_lines=True)


def find_thumb(size: int, whole: float, window: float, position: float) -> tuple[int, int]:
    """Return the first line of the thumb, and its length."""
    if size <= 0 or whole <= window or window <= 0:
        return 0, 0
    length = min(max(round(size * window / whole), 1), size)
    return round((size - length) * min(max(position / (whole - window), 0), 1)), length


def install_scrollbar() -> None:
    """Use it for all widgets."""
    ScrollBar.renderer = ThinScrollBar
