"""The conversation on the screen: paints what the layout says, line by line, and moves over it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from accord.tui.conversation.block import GUTTER, Setting
from accord.tui.conversation.items import Key
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.pictured import Pictured
from accord.tui.conversation.selection import Selecting
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.look import Look

_WHEEL = 3
_NEXT_FRAME = 0.05


class Canvas(Pictured, Selecting):
    """Shows a transcript. `take` takes what changed; the rest is scrolling. What is done with it is in view.py."""

    class Following(Message):
        """The view follows what comes, or does not any more."""

    def __init__(self, setting: Setting, **options: Any) -> None:
        super().__init__(**options)
        self._told_following = True
        self.layout_of = Layout(setting)
        self.hang_pictures()
        self.empty_text: list[str] = []
        """What is shown while nothing was said yet."""
        self.transcript: Transcript | None = None
        self._going_on = False
        self._thumb = (0, 0)
        self._spans: dict[int, tuple[int, int]] = {}
        self._made: dict[tuple[int, str, bool, tuple[int, int] | None], tuple[Strip, Strip]] = {}
        self._made_before = self._made

    @property
    def setting(self) -> Setting:
        return self.layout_of.setting

    def choose(self, index: int | None) -> None:
        """Selects an item, or none."""

    def is_chosen(self, index: int) -> bool:
        """Whether an item is shown as selected."""
        return False

    # -- what is shown

    def show(self, transcript: Transcript) -> None:
        """Shows another transcript from its end."""
        self.transcript = transcript
        self.unmark()
        self.choose(None)
        self.layout_of.show(transcript)
        self.refresh()

    def take(self, changed: Iterable[Key]) -> bool:
        """Draws what is new or has changed. Gives whether there is more to draw than fitted into one frame."""
        more = self.layout_of.take(changed)
        self.refresh()
        self.tell_following()
        return more

    def tick(self) -> None:
        """Time has passed: what shows it is drawn anew."""
        if self.layout_of.tick():
            self.refresh()

    def restyle(self, look: Look) -> None:
        """Takes other colours."""
        self.setting.look = look
        self.redraw()

    def redraw(self) -> None:
        """Draws everything anew."""
        self.layout_of.forget_drawn()
        self._made.clear()
        self._compose_again()

    def _compose_again(self) -> None:
        self.layout_of.compose()
        self.moved()

    def moved(self) -> None:
        """Paints another part of the conversation; what of it did not fit into this frame follows in the next."""
        self.refresh()
        self.tell_following()
        if self.layout_of.is_behind and not self._going_on:
            self._going_on = True
            self.set_timer(_NEXT_FRAME, self._go_on)

    def tell_following(self) -> None:
        """Says whether the view follows what comes, if that has changed."""
        if self._told_following != self.layout_of.following:
            self._told_following = self.layout_of.following
            self.post_message(self.Following())

    def _go_on(self) -> None:
        self._going_on = False
        self.layout_of.take(())
        self.moved()

    def render_line(self, y: int) -> Strip:
        look, width, picture = self.setting.look, self.size.width, self.layout_of.picture
        if y >= len(picture):
            words = self.empty_text[y] if not picture and y < len(self.empty_text) else ""
            return look.line((f"  {one_line(words, max(width - 3, 1))}", look.dim)).adjust_cell_length(width, look.base)
        line, index = picture[y]
        start, size = self._thumb
        bar = " " if not size else "█" if start <= y < start + size else "│"
        is_chosen = self.is_chosen(index)
        span = self._spans.get(y)
        key = (id(line), bar, is_chosen, span)
        made = self._made.get(key) or self._made_before.get(key)
        if made is None or made[0] is not line:
            made = (line, self._finished(line, bar, is_chosen, width))
            if span is not None:
                made = (line, self.with_mark(made[1], span))
        self._made[key] = made
        return made[1]

    def _finished(self, line: Strip, bar: str, is_chosen: bool, width: int) -> Strip:
        """A line with the scroll bar, and the mark of what is selected."""
        look = self.setting.look
        line = line.adjust_cell_length(width - 1, look.base)
        if is_chosen:
            line = Strip([Segment("▐", look.base + look.accent), *line.crop(1, width - 1)], width - 1)
        return Strip([*line, Segment(bar, look.base + look.faint)], width)

    def render_lines(self, crop: Region) -> list[Strip]:
        # Lines that are drawn again are the same objects as before: then Textual knows already how they are written.
        # They have their colours and fill the width, so nothing of what Textual adds to lines is needed here.
        self._made_before, self._made = self._made, {}
        self._thumb = self.layout_of.bar()
        self._spans = self.marked_cells()
        lines = [self.render_line(row) for row in crop.line_range]
        for each in self.get_line_filters():
            lines = [line.apply_filter(each, self.styles.background) for line in lines]
        return lines if crop.width == self.size.width else [line.crop(crop.x, crop.right) for line in lines]

    # -- moving

    def scroll_rows(self, count: int) -> None:
        """Moves the view by so many lines, down if positive."""
        self.layout_of.move(count)
        self.moved()

    def scroll_pages(self, count: int) -> None:
        self.scroll_rows(count * max(self.size.height - 2, 1))

    def to_start(self) -> None:
        self.layout_of.jump(0)
        self.moved()

    def to_end(self) -> None:
        """Goes to the end, and follows what comes."""
        self.layout_of.jump(None)
        self.moved()

    def on_resize(self, event: events.Resize) -> None:
        self._made.clear()
        width = max(event.size.width - GUTTER - 1, 10)
        self.layout_of.rows = event.size.height
        if width != self.setting.width:
            self.setting.width = width
            self.layout_of.forget_drawn()
        self._made.clear()
        self._compose_again()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-_WHEEL)
        self.drag_on()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(_WHEEL)
        self.drag_on()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height
