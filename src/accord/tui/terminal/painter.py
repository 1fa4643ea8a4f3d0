"""Painting of single widgets, so that typing never waits for a full frame.

Textual collects changes and repaints at most sixty times a second, visiting every widget each time. Here, a changed
widget that nothing covers is painted by itself, and typed text is painted at once. Only lines that differ from what is
on the terminal are written, which matters over a slow connection."""

from __future__ import annotations

from typing import Any, cast

from rich.console import Console, RenderableType
from rich.control import Control
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.terminal.textual_internals import (
    ChopsUpdate,
    CompositorUpdate,
    dirty_widgets,
    has_pending_updates,
    is_batching,
    take_repaint_regions,
    visible_widgets,
)


class PaintingApp(App[int]):
    """Tracks which directly painted lines are on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.on_terminal: dict[tuple[int, int], Strip] = {}
        """The line painted at a row and column, until something is painted over it."""

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Forget lines that Textual paints over."""
        if isinstance(renderable, ChopsUpdate):
            rows = {row for row, _, _ in renderable.spans}
            for place in [each for each in self.on_terminal if each[0] in rows]:
                del self.on_terminal[place]
        elif renderable is not None:
            self.on_terminal.clear()
        super()._display(screen, renderable)

    def paint_lines(self, screen: Screen[Any], column: int, lines: list[tuple[int, Strip]]) -> None:
        """Paint the lines that differ from the terminal's."""
        changed = [(row, strip) for row, strip in lines if self.on_terminal.get((row, column)) != strip]
        if changed:
            update = cast("RenderableType", _Rows(column, changed))  # as Textual does
            super()._display(screen, update)
            self.on_terminal.update({(row, column): strip for row, strip in changed})


class Page(Screen[None]):
    """The screen with the tabs. Modal screens above it are painted by Textual."""

    def paint(self, widget: Widget) -> bool:
        """Paint the changed lines of a widget now. Return whether that was possible without a full repaint."""
        place = visible_widgets(self).get(widget)
        if place is None or not self._is_simple:
            return False
        region, clip = place
        if not clip.contains_region(region) or self._is_covered(widget, region):
            return False
        changed = take_repaint_regions(widget)
        rows = sorted({row for each in changed for row in each.line_range if 0 <= row < region.height})
        if rows:
            first, last = rows[0], rows[-1]
            strips = widget.render_lines(Region(0, first, region.width, last - first + 1))
            app = self.app
            assert isinstance(app, PaintingApp)
            app.paint_lines(self, region.x, [(region.y + row, strips[row - first]) for row in rows])
        return True

    @property
    def _is_simple(self) -> bool:
        """Whether no layout is pending and this screen is on top."""
        is_current = self is self.app.screen and not self.app.is_inline
        return is_current and not has_pending_updates(self) and not is_batching(self.app)

    def _is_covered(self, widget: Widget, region: Region) -> bool:
        for other, (where, clip) in visible_widgets(self).items():  # topmost first
            if other is widget:
                return False
            if where.intersection(clip).overlaps(region):
                return True
        return True

    def _on_timer_update(self) -> None:
        if self._is_simple:
            dirty = dirty_widgets(self)
            downwards = sorted(dirty, key=lambda each: each.region.y)
            dirty -= {each for each in downwards if self.paint(each)}
        super()._on_timer_update()


class _Rows(CompositorUpdate):
    """Lines that start in one column."""

    def __init__(self, column: int, lines: list[tuple[int, Strip]]) -> None:
        self._column = column
        self._lines = lines

    def render_segments(self, console: Console) -> str:
        parts = []
        for row, strip in self._lines:
            parts += [Control.move_to(self._column, row).segment.text, strip.render(console)]
        return "".join(parts)


def paint_at_once(widget: Widget) -> None:
    """Paint typed text without waiting for the next frame."""
    if isinstance(widget.screen, Page):
        widget.screen.paint(widget)
