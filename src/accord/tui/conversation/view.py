"""The conversation as a widget: paints what the layout says, and turns keys and the mouse into moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import SELECT_ALL
from textual.strip import Strip

from accord.tui.conversation.block import GUTTER, Block, Setting
from accord.tui.conversation.items import Key, key_of
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.marking import painted
from accord.tui.conversation.pictured import Pictured
from accord.tui.conversation.selection import Selecting
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem
    from accord.transcript.transcript import Transcript
    from accord.tui.look import Look

_WHEEL = 3
_NEXT_FRAME = 0.05
_POINTED = ("tool", "subagent")
"""What says more while it is selected."""


class Conversation(Pictured, Selecting, can_focus=True):
    """Shows a transcript. `take` takes what changed; everything else is scrolling, selecting and folding."""

    DEFAULT_CSS = """
    Conversation { height: 1fr; width: 1fr; background: $background; color: $foreground; }
    """

    FOCUS_ON_CLICK = False  # who clicks on something goes on typing in the prompt

    class Opened(Message):
        """The user wants to see an item outside: its place in a file, or all of its text."""

        def __init__(self, item: TimelineItem, block: Block) -> None:
            super().__init__()
            self.item = item
            self.block = block

    class Entered(Message):
        """The user wants to go into an item that is a conversation of its own: a subagent's."""

        def __init__(self, item: TimelineItem) -> None:
            super().__init__()
            self.item = item

    class Stopped(Message):
        """The user wants what an item does to stop."""

        def __init__(self, item: TimelineItem) -> None:
            super().__init__()
            self.item = item

    class Copied(Message):
        """The user wants this text in the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The user wants back to the prompt; `key` is what was typed, if it is to be typed there."""

        def __init__(self, key: str = "", character: str = "") -> None:
            super().__init__()
            self.key = key
            self.character = character

    def __init__(self, setting: Setting, **options: Any) -> None:
        super().__init__(**options)
        self.layout_of = Layout(setting)
        self.hang_pictures()
        self._cursor: int | None = None
        self.empty_text: list[str] = []
        """What is shown while nothing was said yet."""
        self.transcript: Transcript | None = None
        self._all_open = False
        self._going_on = False
        self._leaving = False
        self._before_click: tuple[int, bool | None, bool, tuple[int, int]] | None = None
        self._thumb = (0, 0)
        self._spans: dict[int, tuple[int, int]] = {}
        self._made: dict[tuple[int, str, bool, tuple[int, int] | None], tuple[Strip, Strip]] = {}
        self._made_before = self._made

    @property
    def setting(self) -> Setting:
        return self.layout_of.setting

    @property
    def cursor(self) -> int | None:
        """The selected item."""
        return self._cursor

    @cursor.setter
    def cursor(self, index: int | None) -> None:
        self._cursor = index
        self._point()

    def _point(self) -> None:
        """Says to what is drawn which item is selected: some say more then."""
        item = self.selected if self.has_focus else None
        key = key_of(item, 0) if item is not None else None
        before, self.setting.chosen = self.setting.chosen, key
        if before != key:
            self.layout_of.take([each for each in (before, key) if each is not None and each[0] in _POINTED])

    # -- what is shown

    def show(self, transcript: Transcript) -> None:
        """Shows another transcript from its end."""
        self.transcript = transcript
        self.marked = None
        self.cursor = None
        self.layout_of.show(transcript)
        self.refresh()

    def take(self, changed: Iterable[Key]) -> bool:
        """Draws what is new or has changed. Gives whether there is more to draw than fitted into one frame."""
        more = self.layout_of.take(changed)
        self.refresh()
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
        if self.layout_of.is_behind and not self._going_on:
            self._going_on = True
            self.set_timer(_NEXT_FRAME, self._go_on)

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
        is_chosen = index == self.cursor and self.has_focus
        span = self._spans.get(y)
        key = (id(line), bar, is_chosen, span)
        made = self._made.get(key) or self._made_before.get(key)
        if made is None or made[0] is not line:
            made = (line, self._finished(line, bar, is_chosen, width))
            if span is not None:
                made = (line, painted(made[1], *span, self.mark_style()))
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

    # -- moving and selecting

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

    def select(self, index: int) -> None:
        """Selects an item and brings it into view."""
        count = len(self.layout_of.timeline)
        if count:
            self.cursor = max(0, min(index, count - 1))
            self.layout_of.reveal(self.cursor)
            self.moved()

    def move_cursor(self, by: int) -> None:
        """Selects the next item, or the one before; the first time, the last that can be seen."""
        self.select(max(self.layout_of.visible(), default=0) if self.cursor is None else self.cursor + by)

    def toggle(self) -> None:
        """Opens the selected item if it is folded, or folds it; or goes into it."""
        if (item := self.selected) is not None and self.cursor is not None:
            if key_of(item, 0)[0] == "subagent":
                self.post_message(self.Entered(item))
                return
            self.layout_of.toggle(self.cursor)
            self.moved()

    def toggle_all(self) -> None:
        """Opens all tool calls and thoughts, or folds them."""
        self._all_open = not self._all_open
        self.layout_of.open_all(self._all_open)
        self.moved()

    @property
    def selected(self) -> TimelineItem | None:
        timeline = self.layout_of.timeline
        return timeline[self.cursor] if self.cursor is not None and self.cursor < len(timeline) else None

    # -- what the user does

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

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_click(self, event: events.Click) -> None:
        layout = self.layout_of
        if event.x == self.size.width - 1:
            layout.jump(layout.heights.total * event.y // max(self.size.height, 1))
        elif self.click_marks(event):
            self._click_again(event.chain)
        elif event.y < len(layout.picture):
            self.remember_click(event)
            self.cursor = index = layout.picture[event.y][1]
            self._before_click = (index, layout.is_open(index), layout.following, layout.at)
            kind = key_of(layout.timeline[self.cursor], self.cursor)[0]
            if kind == "subagent":
                self.toggle()
            elif kind != "agent":
                layout.toggle(self.cursor)
        self.refresh()

    def _click_again(self, chain: int) -> None:
        """Marks what was clicked on several times; what the first click opened or folded is as it was before."""
        if chain > 1:
            layout = self.layout_of
            if chain == 2 and self._before_click is not None:
                index, is_open, layout.following, layout.at = self._before_click
                if layout.is_open(index) != is_open:
                    layout.set_open(index, is_open)
            self.mark_clicked(chain)

    def on_focus(self) -> None:
        self._leaving = False
        seen = self.layout_of.visible()
        if self.layout_of.timeline and self.cursor not in seen:
            self.cursor = max(seen, default=0)
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._point()

    def on_key(self, event: events.Key) -> None:
        acts: dict[str, Callable[[], None]] = {
            "up": lambda: self.move_cursor(-1),
            "k": lambda: self.move_cursor(-1),
            "down": lambda: self.move_cursor(1),
            "j": lambda: self.move_cursor(1),
            "shift+up": lambda: self.scroll_rows(-1),
            "shift+down": lambda: self.scroll_rows(1),
            "pageup": lambda: self.scroll_pages(-1),
            "pagedown": lambda: self.scroll_pages(1),
            "home": self.to_start,
            "g": self.to_start,
            "end": self.to_end,
            "G": self.to_end,
            "f": self.to_end,
            "enter": self.toggle,
            "space": self.toggle,
            "o": self.toggle_all,
            "y": self._copy,
            "c": self._copy,
            "e": self._open_outside,
            "x": self._stop,
            "tab": lambda: self._leave(),
            "escape": lambda: self._leave("escape"),
            "i": lambda: self._leave(),
            "slash": lambda: self._leave("type", "/"),
            "question_mark": lambda: self._leave("help"),
        }
        act = acts.get(event.key) if not (self._leaving and event.is_printable) else None
        if act is not None:
            event.stop()
            event.prevent_default()
            act()
        elif event.is_printable and event.character and not event.key.startswith("alt+"):
            event.stop()
            event.prevent_default()
            self._leave("type", event.character)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._leave("paste", event.text)

    def _copy(self) -> None:
        if self.marked is not None and (found := self.get_selection(SELECT_ALL)) is not None:
            self.post_message(self.Copied(found[0]))
            self.unmark()
        elif self.selected is not None and self.cursor is not None:
            self.post_message(self.Copied(self.layout_of.block(self.cursor).text()))

    def _stop(self) -> None:
        if self.selected is not None:
            self.post_message(self.Stopped(self.selected))

    def _open_outside(self) -> None:
        if (item := self.selected) is not None and self.cursor is not None:
            self.post_message(self.Opened(item, self.layout_of.block(self.cursor)))

    def _leave(self, key: str = "", character: str = "") -> None:
        self._leaving = key == "type"  # a word has begun: its letters mean nothing else, until the focus is gone
        self.post_message(self.Left(key, character))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height
