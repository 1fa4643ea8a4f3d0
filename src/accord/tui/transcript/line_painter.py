"""Paints the visible lines of a transcript view, with its scroll bar and the mark of the selected item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from accord.terminal_text import one_line
from accord.tui.greeting import FAILED
from accord.tui.terminal.scrollbar import THUMB

if TYPE_CHECKING:
    from accord.tui.transcript.view import TranscriptView


class LinePainter:
    """Completes the lines of the layout, and keeps those of the frame before for reuse."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self._thumb = (0, 0)
        self._selected_cells: dict[int, tuple[int, int]] = {}
        # Lines as painted in this frame and the one before; see paint().
        self._painted: dict[tuple[int, str, bool, tuple[int, int] | None], tuple[Strip, Strip]] = {}
        self._painted_before = self._painted

    def forget(self) -> None:
        """Paint every line again."""
        self._painted.clear()

    def paint(self, crop: Region) -> list[Strip]:
        """Paint a frame."""
        # Unchanged lines must be the same Strip objects as in the frame before: Textual then reuses their escape
        # sequences. They have their colors and fill the width, so Textual's own line styling is skipped.
        view = self._view
        self._painted_before, self._painted = self._painted, {}
        self._thumb = view.timeline_layout.scrollbar()
        self._selected_cells = view.mouse_selection.cells()
        lines = [self.paint_line(row) for row in crop.line_range]
        for each in view.get_line_filters():
            lines = [line.apply_filter(each, view.styles.background) for line in lines]
        return lines if crop.width == view.size.width else [line.crop(crop.x, crop.right) for line in lines]

    def paint_line(self, y: int) -> Strip:
        view, visible = self._view, self._view.timeline_layout.visible_lines
        if not visible:
            return self._paint_empty_text(y)
        if y >= len(visible):
            return Strip.blank(view.size.width, view.context.text_styles.base)
        line, index = visible[y]
        start, size = self._thumb
        bar = THUMB if start <= y < start + size else " "
        is_selected = index == view.cursor and view.has_focus
        span = self._selected_cells.get(y)
        key = (id(line), bar, is_selected, span)
        painted = self._painted.get(key) or self._painted_before.get(key)
        if painted is None or painted[0] is not line:  # an id may be reused by another object
            finished = self._finish(line, bar, is_selected)
            painted = (line, finished if span is None else view.mouse_selection.highlight(finished, span))
        self._painted[key] = painted
        return painted[1]

    def _paint_empty_text(self, y: int) -> Strip:
        view, width = self._view, self._view.size.width
        text_styles = view.context.text_styles
        text = view.empty_text[y] if y < len(view.empty_text) else ""
        has_failed = any(each.startswith(FAILED) for each in view.empty_text)
        style = text_styles.bad if text.startswith(FAILED) else None if has_failed else text_styles.dim
        line = text_styles.line((f"  {one_line(text, max(width - 3, 1))}", style))
        return line.adjust_cell_length(width, text_styles.base)

    def _finish(self, line: Strip, bar: str, is_selected: bool) -> Strip:
        """Add the scroll bar and, for the selected item, the cursor."""
        text_styles, width = self._view.context.text_styles, self._view.size.width
        line = line.adjust_cell_length(width - 1, text_styles.base)
        if is_selected:
            line = Strip([Segment("▐", text_styles.base + text_styles.accent), *line.crop(1, width - 1)], width - 1)
        return Strip([*line, Segment(bar, text_styles.base + text_styles.faint)], width)
