"""The conversation as a widget: selecting, opening and copying what is in it, by keys and the mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import SELECT_ALL

from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.canvas import Canvas
from accord.tui.conversation.items import key_of
from accord.tui.conversation.named import images_of

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem

_POINTED = ("tool", "subagent")
"""What says more while it is selected."""


class Conversation(Canvas, can_focus=True):
    """A transcript on the screen, of which items can be selected."""

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
        """The user wants what an item does to stop; none where nothing is selected."""

        def __init__(self, item: TimelineItem | None) -> None:
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
        super().__init__(setting, **options)
        self._cursor: int | None = None
        self._all_open = False
        self._leaving = False
        self._before_click: tuple[int, bool | None, bool, tuple[int, int]] | None = None

    # -- selecting

    @property
    def cursor(self) -> int | None:
        """The selected item."""
        return self._cursor

    @cursor.setter
    def cursor(self, index: int | None) -> None:
        self._cursor = index
        self._point()

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where what is selected begins on the screen: the terminal's cursor tells it to whom no mark can."""
        rows = [row for row, (_, index) in enumerate(self.layout_of.picture) if index == self.cursor]
        return self.content_region.offset + Offset(0, rows[0] if rows else 0)

    def _point(self) -> None:
        """Says to what is drawn which item is selected: some say more then."""
        item = self.selected if self.has_focus else None
        key = key_of(item, 0) if item is not None else None
        before, self.setting.chosen = self.setting.chosen, key
        if before != key:
            self.layout_of.take([each for each in (before, key) if each is not None and each[0] in _POINTED])

    def choose(self, index: int | None) -> None:
        self.cursor = index

    def is_chosen(self, index: int) -> bool:
        return index == self._cursor and self.has_focus

    def select(self, index: int) -> None:
        """Selects an item and brings it into view."""
        count = len(self.layout_of.timeline)
        if count:
            self.cursor = max(0, min(index, count - 1))
            self.layout_of.reveal(self.cursor)
            self.moved()

    def move_cursor(self, by: int) -> None:
        """Selects the next item, or the one before; where what is selected is out of view, the last one in it."""
        is_seen = self.cursor is not None and self.cursor in self.layout_of.visible()
        self.select(self.cursor + by if is_seen and self.cursor is not None else self._last_whole())

    def _last_whole(self) -> int:
        """The last item that is seen whole; or the last one, where none is, or where the end is in view."""
        layout = self.layout_of
        last = max(layout.visible(), default=0)
        rows = sum(index == last for _, index in layout.picture)
        is_cut = not layout.following and rows < len(layout.drawn(last) or ())
        return last - 1 if is_cut and last - 1 in layout.visible() else last

    def let_go(self) -> None:
        """The user comes anew: who follows the agent means what it does now, and not what was selected before."""
        if self.layout_of.following:
            self.cursor = None

    def _select_first(self) -> None:
        self.to_start()
        self.select(0)

    def _select_last(self) -> None:
        """Goes to the end, where the view follows what comes, and selects what is there."""
        self.to_end()
        self.cursor = self._last_whole() if self.layout_of.timeline else None

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
        self.layout_of.open_all(self._all_open, self.cursor if self.has_focus else None)
        self.moved()

    @property
    def selected(self) -> TimelineItem | None:
        timeline = self.layout_of.timeline
        return timeline[self.cursor] if self.cursor is not None and self.cursor < len(timeline) else None

    # -- what the user does

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
        self.tell_following()

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
        if self.layout_of.timeline and self.cursor not in self.layout_of.visible():
            self.cursor = self._last_whole()
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
            "home": self._select_first,
            "ctrl+home": self._select_first,
            "g": self._select_first,
            "end": self._select_last,
            "ctrl+end": self._select_last,
            "G": self._select_last,
            "f": self._select_last,
            "enter": self.toggle,
            "space": self.toggle,
            "o": self.toggle_all,
            "y": self._copy,
            "c": self._copy,
            "e": self._open_outside,
            "x": self._stop,
            "v": lambda: self.view_pictures(images_of(self.selected)),
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
        self.post_message(self.Stopped(self.selected))

    def _open_outside(self) -> None:
        if (item := self.selected) is not None and self.cursor is not None:
            block = self.layout_of.block(self.cursor)
            if images_of(item) and not block.whole().strip():
                self.view_pictures(images_of(item))
            else:
                self.post_message(self.Opened(item, block))

    def _leave(self, key: str = "", character: str = "") -> None:
        self._leaving = key == "type"  # a word has begun: its letters mean nothing else, until the focus is gone
        self.post_message(self.Left(key, character))
