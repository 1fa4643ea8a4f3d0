"""Selecting text with the mouse, as terminals do: dragging selects characters and scrolls at the edges, a double click
selects a word, a triple click a paragraph. The selection stays until the next click, Esc, or until it is copied.

Textual's own text selection is for widgets whose lines don't move, so the view has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import ColorType
from rich.style import Style
from textual import events
from textual.selection import SELECT_ALL
from textual.strip import Strip
from textual.timer import Timer

if TYPE_CHECKING:
    from accord.tui.transcript.text_selection import Position, TextSelection
    from accord.tui.transcript.view import TranscriptView

_STEP_SECONDS, _STEPS_PER_LINE, _MAX_LINES = 0.04, 8, 8
"""Auto-scrolling: the time between two steps, after how many steps a step grows by a line, and the longest step."""

# `text_selection` is imported in functions: it isn't needed for the first frame.


class MouseSelection:
    """The text selection of a transcript view, and the mouse gestures that change it."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self.current: TextSelection | None = None
        self._pressed: Position | None = None
        self._clicked: Position | None = None  # the last click, before it opened or folded anything
        self._is_dragging = False
        self._was_dragged = False
        self._was_following = False
        self._pointer = (0, 0)
        self._side = 1  # the column of a side-by-side diff in which the drag began
        self._scroll_timer: Timer | None = None
        self._steps = 0
        self._was_hinted = False

    # -- the selection

    def text(self) -> str | None:
        """Return the selected text; None when nothing is selected."""
        from accord.tui.transcript.text_selection import selected_text

        self.relocate()
        return selected_text(self._view.timeline_layout, self.current) if self.current is not None else None

    def relocate(self) -> None:
        """Find the selection again in case its lines have moved."""
        if self.current is not None:
            from accord.tui.transcript.text_selection import reanchor

            self.current = reanchor(self._view.timeline_layout, self.current)
            if self.current is None:
                self._view.call_later(self.clear)

    def clear(self) -> None:
        view = self._view
        self.current = None
        self._stop_dragging()
        if not view.is_attached:
            return
        if view in view.screen.selections:
            view.screen.clear_selection()
        view.refresh()

    def cells(self) -> dict[int, tuple[int, int]]:
        """Return the selected range of cells for each row of the window."""
        self.relocate()
        if self.current is None:
            return {}
        from accord.tui.transcript.text_selection import selected_cells

        return selected_cells(self._view.timeline_layout, self._rows(), self.current)

    def highlight(self, line: Strip, span: tuple[int, int]) -> Strip:
        """Return a line of the window with a range of cells shown as selected."""
        from accord.tui.transcript.text_selection import highlight

        return highlight(line, *span, self.highlight_style())

    def highlight_style(self) -> Style:
        app = self._view.app
        if app.no_color or app.console.color_system != "truecolor":
            return Style(reverse=True)
        style = self._view.screen.get_component_rich_style("screen--selection")
        if style.bgcolor is None or style.bgcolor.type is not ColorType.TRUECOLOR:
            return Style(reverse=True)
        return Style(bgcolor=style.bgcolor)  # the text keeps its own colors

    def _select(self, selection: TextSelection) -> None:
        view = self._view
        self.current = selection
        if view not in view.screen.selections:
            view.screen.selections = {view: SELECT_ALL}  # so that Textual's copy and clear actions find it
        view.refresh()

    # -- the mouse

    def press(self, event: events.MouseDown) -> None:
        from accord.tui.transcript.text_selection import find_side

        self._was_dragged = False
        lines = self._view.timeline_layout.visible_lines
        self._side = find_side(lines[event.y][0], event.x) if event.y < len(lines) else 1
        is_scrollbar = event.x >= self._view.size.width - 1
        self._pressed = self._position_at(event.x, event.y) if event.button == 1 and not is_scrollbar else None

    def move(self, event: events.MouseMove) -> None:
        if self._pressed is None:
            return
        if event.button != 1:  # released outside the window, where no event was sent
            self._stop_dragging()
            return
        self._pointer = (event.x, event.y)
        if not self._is_dragging and self._position_at(*self._pointer) != self._pressed:
            self._is_dragging = self._was_dragged = True
            self._view.capture_mouse()
            # Text must not scroll away while it is being selected.
            layout = self._view.timeline_layout
            self._was_following, layout.following = layout.following, False
        if self._is_dragging:
            event.stop()
            self._drag()

    def release(self) -> None:
        if self._is_dragging and not self._was_hinted:
            self._was_hinted = True
            self._view.app.notify("ctrl+c copies the selection.", timeout=3)
        self._stop_dragging()

    def _stop_dragging(self) -> None:
        self._pressed = None
        self._stop_scrolling()
        if self._is_dragging:
            self._is_dragging = False
            self._view.release_mouse()
            if self._was_following:
                self._view.to_end()

    def _stop_scrolling(self) -> None:
        if self._scroll_timer is not None:
            self._scroll_timer.stop()
            self._scroll_timer = None
            self._was_following = False

    def on_scrolled(self) -> None:
        """Extend the selection to the pointer during a drag, because the lines below it have moved."""
        if self._is_dragging:
            self._was_following = False
            self._drag()

    def _drag(self) -> None:
        """Select up to the pointer; beyond the edges of the window, scrolling continues by itself."""
        from accord.tui.transcript.text_selection import select_range

        layout = self._view.timeline_layout
        position = self._position_at(*self._pointer)
        if self._pressed is not None and self._pressed.item >= len(layout.timeline):
            self.clear()  # another transcript is shown
        elif position is not None and self._pressed is not None:
            self._select(select_range(layout, self._relocate_start(self._pressed), position, self._side))
        beyond = self._distance_beyond()
        if beyond and self._scroll_timer is None:
            self._steps = 0
            self._scroll_timer = self._view.set_interval(_STEP_SECONDS, self._scroll_on)
        elif not beyond:
            self._stop_scrolling()

    def _relocate_start(self, pressed: Position) -> Position:
        """Return the start of the drag, which moves when items above it are rendered again."""
        if self.current is None:
            return pressed
        ends = (self.current.first.place, self.current.last.place)
        self.relocate()
        if self.current is not None and pressed in ends:
            pressed = (self.current.first, self.current.last)[ends.index(pressed)].place
            self._pressed = pressed
        return pressed

    def _distance_beyond(self) -> int:
        """Return how far the pointer is above (negative) or below the window; the top screen row counts as above."""
        y, height = self._pointer[1], self._view.size.height
        if y >= height:
            return y - height + 1
        top = 0 if self._view.region.y > 0 else 1
        return y - top if y < top else 0

    def _scroll_on(self) -> None:
        beyond = self._distance_beyond()
        if beyond:
            self._steps += 1
            rows = min(abs(beyond) + self._steps // _STEPS_PER_LINE, _MAX_LINES)
            self._view.scroll_rows(rows if beyond > 0 else -rows)
            self._drag()

    def takes_click(self, event: events.Click) -> bool:
        """Return whether a click belongs to a selection: it ends a drag, or is the second or third in a row."""
        if self._was_dragged:
            self._was_dragged = False
            return True
        return event.chain > 1

    def remember_click(self, event: events.Click) -> None:
        """Remember the position of the first of several clicks."""
        self._clicked = self._position_at(event.x, event.y)

    def select_clicked(self, chain: int) -> None:
        """Select the word or the paragraph that was clicked."""
        from accord.tui.transcript.text_selection import select_paragraph, select_word

        layout = self._view.timeline_layout
        if self._clicked is not None and self._clicked.item < len(layout.timeline):
            select = select_word if chain == 2 else select_paragraph
            self._select(select(layout, self._clicked, self._side))

    # -- positions

    def _rows(self) -> list[tuple[int, int]]:
        """Return the item and line shown in each row of the window."""
        rows: list[tuple[int, int]] = []
        top, row = self._view.timeline_layout.top
        for _, index in self._view.timeline_layout.visible_lines:
            if rows and rows[-1][0] == index:
                row = rows[-1][1] + 1
            elif rows or index != top:
                row = 0
            rows.append((index, row))
        return rows

    def _position_at(self, x: int, y: int) -> Position | None:
        from accord.tui.transcript.text_selection import Position, find_character

        rows = self._rows()
        if not rows:
            return None
        if y >= len(rows):
            x = self._view.size.width
        if y < 0:
            x = 0
        y = max(0, min(y, len(rows) - 1))
        index, row = rows[y]
        return Position(index, row, find_character(self._view.timeline_layout.visible_lines[y][0], x, self._side))
