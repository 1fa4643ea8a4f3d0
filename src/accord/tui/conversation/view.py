"""The conversation on the screen: a list as long as the session, of which only what is visible is ever drawn.

Where the view stands is an item and one of its lines, not a number of lines from the top: items above it need not be
drawn to know where it is, and nothing moves when they turn out taller than was guessed. At the end the view follows
what is new. Blocks that were drawn are kept until too many others were; of the rest only a height is known."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message as UiMessage
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.conversation.block import GUTTER, Block, Setting
from accord.tui.conversation.heights import Heights
from accord.tui.conversation.items import Key, block_for, guess, key_of
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem
    from accord.transcript.transcript import Transcript
    from accord.tui.look import Look

KEPT_BLOCKS = 300
KEPT_LINES = 30_000
"""How much that was drawn is kept, to be shown again without drawing."""
_WHEEL = 3


class Conversation(Widget, can_focus=True):
    """Shows a transcript. `refresh_items` takes what changed; everything else is scrolling and selecting."""

    DEFAULT_CSS = """
    Conversation { height: 1fr; width: 1fr; background: $background; color: $foreground; }
    """

    class Opened(UiMessage):
        """The user wants to see an item in the editor."""

        def __init__(self, item: TimelineItem, block: Block) -> None:
            super().__init__()
            self.item = item
            self.block = block

    class Copied(UiMessage):
        """The user wants this text in the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, setting: Setting, **options: Any) -> None:
        super().__init__(**options)
        self.setting = setting
        self.following = True
        self.cursor: int | None = None
        """The selected item."""
        self.empty_text: list[str] = []
        """What is shown while nothing was said yet."""
        self._transcript: Transcript | None = None
        self._timeline: list[TimelineItem] = []
        self._heights = Heights()
        self._exact = bytearray()  # for each item, whether its height is known and not guessed
        self._places: dict[Key, int] = {}
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._lines_kept = 0
        self._opened: dict[Key, bool] = {}
        self._at = (0, 0)
        self._picture: list[tuple[Strip, int]] = []  # the lines on the screen, and the item of each

    # -- what is shown

    def show(self, transcript: Transcript) -> None:
        """Shows another transcript from its end."""
        self._transcript = transcript
        self._forget()
        self.following = True
        self.refresh_items(())

    def restyle(self, look: Look) -> None:
        """Takes other colours."""
        self.setting.look = look
        self._forget_drawn()
        self._paint()

    def _forget(self) -> None:
        self._timeline = []
        self._heights = Heights()
        self._exact = bytearray()
        self._places.clear()
        self._at = (0, 0)
        self.cursor = None
        self._forget_drawn()

    def _forget_drawn(self) -> None:
        self._blocks.clear()
        self._lines_kept = 0
        self._exact = bytearray(len(self._exact))

    def refresh_items(self, changed: set[Key] | tuple[()]) -> bool:
        """Draws what is new or has changed. Gives whether there is more to draw than fitted into one frame."""
        transcript = self._transcript
        if transcript is None:
            return False
        if transcript.timeline is not self._timeline:
            self._forget()
            self._timeline = transcript.timeline
        width = max(self.setting.width, 10)
        for index in range(len(self._heights), len(self._timeline)):
            item = self._timeline[index]
            before = self._timeline[index - 1] if index else None
            self._places[key_of(item, index)] = index
            self._heights.append(guess(item, before, width))
            self._exact.append(0)
        for key in changed:
            place = self._places.get(key)
            if place is not None:
                self._exact[place] = 0
                if place in self._blocks:
                    self._blocks[place].touch()
        self._paint()
        return any(index in self._blocks and self._blocks[index].behind for index in self._visible())

    def tick(self) -> None:
        """A second has passed: what shows the time is drawn anew."""
        for index in self._visible():
            block = self._blocks.get(index)
            if block is not None and block.ticks:
                block.touch()
                self._exact[index] = 0
        self._paint()

    def terminal_changed(self) -> None:
        """A command printed something: blocks that show a running one are drawn anew."""
        self.tick()

    # -- drawing

    def _block(self, index: int) -> Block:
        block = self._blocks.get(index)
        if block is None:
            item = self._timeline[index]
            before = self._timeline[index - 1] if index else None
            block = block_for(item, before, self.setting, self._opened.get(key_of(item, index)))
            self._blocks[index] = block
        else:
            self._blocks.move_to_end(index)
        return block

    def _lines(self, index: int) -> list[Strip]:
        """The lines of an item; its height is known afterwards."""
        block = self._block(index)
        if not self._exact[index] or block.behind:
            try:
                lines = block.lines
            except Exception as error:  # one item that cannot be drawn must not take the others with it
                lines = [self.setting.look.line((f"  this cannot be drawn: {error!r}"[:200], self.setting.look.bad))]
                block._lines = lines
            self._exact[index] = 1
            self._heights.set(index, len(lines))
        return block._lines

    def _paint(self) -> None:
        """Lays out what is visible, from where the view stands."""
        height = self.size.height
        if height <= 0 or not self.is_mounted:
            return
        count = len(self._heights)
        if self.following:
            self._at = self._up(count, 0, height)
        index, row = self._at
        picture: list[tuple[Strip, int]] = []
        while index < count and len(picture) < height:
            lines = self._lines(index)
            picture += [(line, index) for line in lines[row : row + height - len(picture)]]
            index, row = index + 1, 0
        if len(picture) < height and not self.following and count:
            self.following = True  # there is less below than fits: the end has been reached
            self._paint()
            return
        self._picture = picture
        self._let_go()
        self.refresh()

    def _let_go(self) -> None:
        """Forgets the blocks that were not looked at for longest."""
        seen = self._visible()
        lines = sum(len(block._lines) for block in self._blocks.values()) if len(self._blocks) > 20 else 0
        while len(self._blocks) > KEPT_BLOCKS or (lines > KEPT_LINES and len(self._blocks) > 20):
            index, block = next(iter(self._blocks.items()))
            if index in seen:
                break
            lines -= len(block._lines)
            del self._blocks[index]
            self._exact[index] = 0  # its height stays, as a good guess

    def _visible(self) -> set[int]:
        return {index for _, index in self._picture}

    def render_line(self, y: int) -> Strip:
        look, width = self.setting.look, self.size.width
        if y >= len(self._picture):
            words = self.empty_text[y] if not self._heights.total and y < len(self.empty_text) else ""
            return look.line((f"  {one_line(words, max(width - 3, 1))}", look.dim)).adjust_cell_length(width, look.base)
        line, index = self._picture[y]
        line = line.adjust_cell_length(width - 1, look.base)
        if index == self.cursor and self.has_focus:
            line = Strip([Segment("▐", look.base + look.accent), *line.crop(1, width - 1)], width - 1)
        return Strip([*line, Segment(self._bar(y), look.base + look.faint)], width)

    def _bar(self, y: int) -> str:
        """The scroll bar, one line of it."""
        total, height = self._heights.total, self.size.height
        if total <= height:
            return " "
        size = max(1, height * height // total)
        top = self._heights.before(self._at[0]) + self._at[1]
        start = 0 if total == height else round((height - size) * min(1.0, top / (total - height)))
        return "█" if start <= y < start + size else "│"

    # -- moving

    def _up(self, index: int, row: int, count: int) -> tuple[int, int]:
        """The place so many lines above another."""
        while count > row:
            if index == 0:
                return 0, 0
            count -= row
            index -= 1
            row = len(self._lines(index))
        return index, row - count

    def _down(self, index: int, row: int, count: int) -> tuple[int, int]:
        while index < len(self._heights):
            left = len(self._lines(index)) - row
            if count < left:
                return index, row + count
            count -= left
            index, row = index + 1, 0
        return max(len(self._heights) - 1, 0), 0

    def scroll_lines(self, count: int) -> None:
        """Moves the view by so many lines, down if positive."""
        if not len(self._heights):
            return
        if count < 0:
            self.following = False
            self._at = self._up(*self._at, -count)
        elif not self.following:
            self._at = self._down(*self._at, count)
        self._paint()

    def scroll_pages(self, count: int) -> None:
        self.scroll_lines(count * max(self.size.height - 2, 1))

    def to_start(self) -> None:
        self.following, self._at = False, (0, 0)
        self._paint()

    def to_end(self) -> None:
        """Goes to the end, and follows what comes."""
        self.following = True
        self._paint()

    # -- selecting

    def select(self, index: int) -> None:
        """Selects an item and brings it into view."""
        if not self._timeline:
            return
        self.cursor = max(0, min(index, len(self._timeline) - 1))
        seen = self._visible()
        if self.cursor not in seen:
            above = not seen or self.cursor < min(seen)
            self.following = False
            lines = len(self._lines(self.cursor))
            self._at = (self.cursor, 0) if above else self._up(self.cursor, lines, self.size.height)
        self._paint()

    def move_cursor(self, by: int) -> None:
        """Selects the next item, or the one before; the first time, the last that can be seen."""
        if self.cursor is None:
            self.select(max(self._visible(), default=0))
        else:
            self.select(self.cursor + by)

    def toggle(self, index: int | None = None) -> None:
        """Opens an item that is folded, or folds it."""
        index = self.cursor if index is None else index
        if index is None or index >= len(self._timeline):
            return
        self._set_open(index, self._block(index).can_open)
        self.following = self.following and index == len(self._timeline) - 1
        self._paint()

    def open_all(self, is_open: bool) -> None:
        """Opens all tool calls and thoughts, or folds them."""
        for index, item in enumerate(self._timeline):
            key = key_of(item, index)
            if key[0] in ("tool", "thought", "compaction"):
                self._set_open(index, is_open)
        self._paint()

    def _set_open(self, index: int, is_open: bool) -> None:
        self._opened[key_of(self._timeline[index], index)] = is_open
        self._blocks.pop(index, None)
        self._exact[index] = 0

    @property
    def selected(self) -> TimelineItem | None:
        return self._timeline[self.cursor] if self.cursor is not None and self.cursor < len(self._timeline) else None

    # -- what the user does

    def on_resize(self, event: events.Resize) -> None:
        width = max(event.size.width - GUTTER - 1, 10)
        if width != self.setting.width:
            self.setting.width = width
            self._forget_drawn()
        self._paint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(_WHEEL)

    def on_click(self, event: events.Click) -> None:
        if event.x == self.size.width - 1:
            total = self._heights.total
            line = total * event.y // max(self.size.height, 1)
            self.following, self._at = False, self._heights.find(line)
            self._paint()
        elif event.y < len(self._picture):
            index = self._picture[event.y][1]
            self.cursor = index
            if key_of(self._timeline[index], index)[0] != "agent":
                self.toggle(index)
            else:
                self._paint()

    def on_focus(self) -> None:
        if self.cursor is None and self._timeline:
            self.cursor = max(self._visible(), default=0)
        self._paint()

    def on_blur(self) -> None:
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        act = {
            "up": lambda: self.move_cursor(-1),
            "k": lambda: self.move_cursor(-1),
            "down": lambda: self.move_cursor(1),
            "j": lambda: self.move_cursor(1),
            "pageup": lambda: self.scroll_pages(-1),
            "pagedown": lambda: self.scroll_pages(1),
            "home": self.to_start,
            "g": self.to_start,
            "end": self.to_end,
            "G": self.to_end,
            "f": self.to_end,
            "enter": self.toggle,
            "space": self.toggle,
            "y": self._copy,
            "c": self._copy,
            "e": self._open_outside,
        }.get(event.key)
        if act is not None:
            event.stop()
            event.prevent_default()
            act()

    def _copy(self) -> None:
        if self.cursor is not None and self.cursor < len(self._timeline):
            self.post_message(self.Copied(self._block(self.cursor).text()))

    def _open_outside(self) -> None:
        item = self.selected
        if item is not None and self.cursor is not None:
            self.post_message(self.Opened(item, self._block(self.cursor)))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height
