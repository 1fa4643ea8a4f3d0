"""Marking text in the conversation with the mouse, as terminals do: a drag marks characters and scrolls at the edges,
two clicks mark a word, three a paragraph. What is marked stays until the next click, Esc, or until it is copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import ColorType
from rich.style import Style
from textual import events
from textual.selection import SELECT_ALL, Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.conversation.layout import Layout
    from accord.tui.conversation.marking import Marked, Place

_STEP, _FASTER, _FASTEST = 0.04, 8, 8
"""Seconds between two steps of scrolling, after how many steps one is a line longer, and lines of one at most."""


class Selecting(Widget):
    """A widget whose lines can be marked. Textual's own marking is for widgets whose lines do not move."""

    ALLOW_SELECT = False

    app: AccordApp
    layout_of: Layout
    marked: Marked | None = None
    """What is marked."""
    _pressed: Place | None = None
    _begun: Place | None = None  # where the last click was, before anything was opened or folded by it
    _dragging = False
    _dragged = False
    _followed = False
    _pointer = (0, 0)
    _side = 1  # of two columns, in which the drag began
    _scrolling: Timer | None = None
    _steps = 0
    _was_told = False

    def scroll_rows(self, count: int) -> None:
        raise NotImplementedError

    def to_end(self) -> None:
        raise NotImplementedError

    # -- what is marked

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is marked, for whoever copies what is selected on the screen."""
        from accord.tui.conversation import marking

        self.find_marked()
        return (marking.said(self.layout_of, self.marked), "\n") if self.marked is not None else None

    def selection_updated(self, selection: Selection | None) -> None:
        if selection is None:
            self.marked = None
        self.refresh()

    def find_marked(self) -> None:
        """Finds what is marked again, in case its lines have moved."""
        if self.marked is not None:
            from accord.tui.conversation import marking  # as everywhere here: the first screen does without

            self.marked = marking.anchored(self.layout_of, self.marked)
            if self.marked is None:
                self.call_later(self.unmark)

    def unmark(self) -> None:
        """Marks nothing any more."""
        self.marked = None
        self._stop_dragging()
        if not self.is_attached:
            return
        if self in self.screen.selections:
            self.screen.clear_selection()
        self.refresh()

    def marked_cells(self) -> dict[int, tuple[int, int]]:
        """Which cells of which lines of the window are marked."""
        self.find_marked()
        if self.marked is None:
            return {}
        from accord.tui.conversation.marking import spans

        return spans(self.layout_of, self._rows(), self.marked)

    def with_mark(self, line: Strip, span: tuple[int, int]) -> Strip:
        """A line of the window with some cells painted as marked."""
        from accord.tui.conversation.marking import painted

        return painted(line, *span, self.mark_style())

    def mark_style(self) -> Style:
        """How they look."""
        if self.app.no_color or self.app.console.color_system != "truecolor":
            return Style(reverse=True)
        style = self.screen.get_component_rich_style("screen--selection")
        if style.bgcolor is None or style.bgcolor.type is not ColorType.TRUECOLOR:
            return Style(reverse=True)
        return Style(bgcolor=style.bgcolor)  # what is written keeps its own colours

    def _mark(self, marked: Marked) -> None:
        self.marked = marked
        if self not in self.screen.selections:
            self.screen.selections = {self: SELECT_ALL}  # so that what copies or clears selections finds it
        self.refresh()

    def on_hide(self) -> None:
        self.unmark()

    # -- the mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        from accord.tui.conversation.marking import side_at

        self._dragged = False
        picture = self.layout_of.picture
        self._side = side_at(picture[event.y][0], event.x) if event.y < len(picture) else 1
        self._pressed = self._place_at(event.x, event.y) if event.button == 1 else None
        if event.x >= self.size.width - 1:
            self._pressed = None  # the scroll bar

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pressed is None:
            return
        if event.button != 1:  # it was let go where nobody told us
            self._stop_dragging()
            return
        self._pointer = (event.x, event.y)
        if not self._dragging and self._place_at(*self._pointer) != self._pressed:
            self._dragging = self._dragged = True
            self.capture_mouse()
            # What is being marked does not run away.
            self._followed, self.layout_of.following = self.layout_of.following, False
        if self._dragging:
            event.stop()
            self._drag()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging and not self._was_told:
            self._was_told = True
            self.app.notify("ctrl+c copies what is marked.", timeout=3)
        self._stop_dragging()

    def _stop_dragging(self) -> None:
        self._pressed = None
        if self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None
            self._followed = False
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            if self._followed:
                self.to_end()

    def drag_on(self) -> None:
        """What is below the pointer has moved: marks up to there, if it is being dragged."""
        if self._dragging:
            self._followed = False
            self._drag()

    def _drag(self) -> None:
        """Marks up to where the pointer is; beyond the edges it goes on by itself."""
        from accord.tui.conversation import marking

        place = self._place_at(*self._pointer)
        if self._pressed is not None and self._pressed.item >= len(self.layout_of.timeline):
            self.unmark()  # another conversation is shown
        elif place is not None and self._pressed is not None:
            self._mark(marking.between(self.layout_of, self._still(self._pressed), place, self._side))
        beyond = self._beyond()
        if beyond and self._scrolling is None:
            self._steps = 0
            self._scrolling = self.set_interval(_STEP, self._scroll_on)
        elif not beyond and self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None
            self._followed = False

    def _still(self, pressed: Place) -> Place:
        """Where the drag began, which may have moved with what is drawn above it."""
        if self.marked is None:
            return pressed
        ends = (self.marked.first.place, self.marked.last.place)
        self.find_marked()
        if self.marked is not None and pressed in ends:
            pressed = (self.marked.first, self.marked.last)[ends.index(pressed)].place
            self._pressed = pressed
        return pressed

    def _beyond(self) -> int:
        """How far above (negative) or below the window the pointer is. The top of the screen counts as above it."""
        y, height = self._pointer[1], self.size.height
        if y >= height:
            return y - height + 1
        top = 0 if self.region.y > 0 else 1
        return y - top if y < top else 0

    def _scroll_on(self) -> None:
        beyond = self._beyond()
        if beyond:
            self._steps += 1
            rows = min(abs(beyond) + self._steps // _FASTER, _FASTEST)
            self.scroll_rows(rows if beyond > 0 else -rows)
            self._drag()

    def click_marks(self, event: events.Click) -> bool:
        """Whether a click is none that opens or folds: the end of a drag, or a second or third one."""
        if self._dragged:
            self._dragged = False
            return True
        return event.chain > 1

    def mark_clicked(self, chain: int) -> None:
        """Marks the word, or the paragraph, that was clicked on."""
        from accord.tui.conversation import marking

        if self._begun is not None and self._begun.item < len(self.layout_of.timeline):
            what = marking.word_at if chain == 2 else marking.paragraph_at
            self._mark(what(self.layout_of, self._begun, self._side))

    def remember_click(self, event: events.Click) -> None:
        """Remembers where the first of several clicks was."""
        self._begun = self._place_at(event.x, event.y)

    # -- where things are

    def _rows(self) -> list[tuple[int, int]]:
        """The item, and the line of it, of each line in the window."""
        rows: list[tuple[int, int]] = []
        at, row = self.layout_of.at
        for _, index in self.layout_of.picture:
            if rows and rows[-1][0] == index:
                row = rows[-1][1] + 1
            elif rows or index != at:
                row = 0
            rows.append((index, row))
        return rows

    def _place_at(self, x: int, y: int) -> Place | None:
        from accord.tui.conversation import marking

        rows = self._rows()
        if not rows:
            return None
        if y >= len(rows):
            x = self.size.width
        if y < 0:
            x = 0
        y = max(0, min(y, len(rows) - 1))
        index, row = rows[y]
        return marking.Place(index, row, marking.character_at(self.layout_of.picture[y][0], x, self._side))
