"""The screen that everything is on, painted so that keys do not wait.

Textual paints what changed together, at most sixty times a second, and looks at every widget each time. Here a widget
that changed is painted by itself, where nothing lies above it; and what is typed is painted at once, whatever else
waits to be. Of such a widget only the lines are written that are not on the terminal as they are: over a slow line that
is what counts."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


class PaintingApp(App[int]):
    """Knows which lines of widgets that are painted by themselves are on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.on_terminal: dict[tuple[int, int], Strip] = {}
        """The line that was painted at a row and a column, as long as nobody painted over it."""

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Whatever Textual paints may lie on what was painted here."""
        if isinstance(renderable, ChopsUpdate):
            rows = {row for row, _, _ in renderable.spans}
            for place in [each for each in self.on_terminal if each[0] in rows]:
                del self.on_terminal[place]
        elif renderable is not None:
            self.on_terminal.clear()
        super()._display(screen, renderable)

    def paint_lines(self, screen: Screen[Any], column: int, lines: list[tuple[int, Strip]]) -> None:
        """Paints those lines that are not there yet."""
        changed = [(row, strip) for row, strip in lines if self.on_terminal.get((row, column)) != strip]
        if changed:
            super()._display(screen, _Rows(column, changed))  # type: ignore[arg-type]  # as Textual does
            self.on_terminal.update({(row, column): strip for row, strip in changed})


class Page(Screen[None]):
    """The screen with the tabs. Other screens lie above it for a while, and are painted as Textual does."""

    def paint(self, widget: Widget) -> bool:
        """Paints what changed of a widget, now. Gives whether that could be done by itself."""
        place = self._compositor.visible_widgets.get(widget)
        if place is None or not self._is_simple:
            return False
        region, clip = place
        if not clip.contains_region(region) or self._is_covered(widget, region):
            return False
        changed = widget._exchange_repaint_regions()
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
        """Whether everything is where it was, and is seen."""
        waits = self._layout_required or self._scroll_required or self._repaint_required or self._recompose_required
        return not waits and self is self.app.screen and not self.app._batch_count and not self.app.is_inline

    def _is_covered(self, widget: Widget, region: Region) -> bool:
        for other, (where, clip) in self._compositor.visible_widgets.items():  # what is above comes first
            if other is widget:
                return False
            if where.intersection(clip).overlaps(region):
                return True
        return True

    def _on_timer_update(self) -> None:
        if self._is_simple:
            downwards = sorted(self._dirty_widgets, key=lambda each: each.region.y)
            self._dirty_widgets -= {each for each in downwards if self.paint(each)}
        super()._on_timer_update()


class _Rows(CompositorUpdate):
    """Lines that begin in one column."""

    def __init__(self, column: int, lines: list[tuple[int, Strip]]) -> None:
        self._column = column
        self._lines = lines

    def render_segments(self, console: Console) -> str:
        parts = []
        for row, strip in self._lines:
            parts += [Control.move_to(self._column, row).segment.text, strip.render(console)]
        return "".join(parts)


def paint_at_once(widget: Widget) -> None:
    """Paints what was typed into a widget without waiting for the next picture of everything."""
    if isinstance(widget.screen, Page):
        widget.screen.paint(widget)
