"""Layout of the transcript: which lines are in the window. However long the session, only visible items are rendered.

The scroll position is an item and one of its lines, not a distance from the top: items above it needn't be rendered to
know where it is, and nothing moves when they turn out taller than estimated. At the end, the view follows new output.
Independent of widgets."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from textual.strip import Strip

from accord.tui.transcript.block_cache import BlockCache
from accord.tui.transcript.blocks.base import Block, BlockContext
from accord.tui.transcript.blocks.factory import Key

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem
    from accord.transcript.transcript import Transcript
    from accord.tui.transcript.heights import Heights


class Layout:
    """A transcript laid out for a window of `rows` lines."""

    def __init__(self, context: BlockContext) -> None:
        self.context = context
        self.blocks: BlockCache = BlockCache(context)
        self.rows = 0
        """Lines in the window."""
        self.following: bool = True
        """Whether the view stays at the end and follows new output."""
        self.visible_lines: list[tuple[Strip, int]] = []
        """The lines in the window, each with the index of its item."""
        self.top: tuple[int, int] = (0, 0)
        """The item at the top of the window, and which of its lines comes first."""
        self._transcript: Transcript | None = None

    @property
    def timeline(self) -> list[TimelineItem]:
        return self.blocks.timeline

    @property
    def heights(self) -> Heights:
        return self.blocks.heights

    # -- content

    def show(self, transcript: Transcript) -> None:
        """Show another transcript, from its end."""
        self._transcript = transcript
        self._reset([])
        self.following = True
        self.update(())

    def _reset(self, timeline: list[TimelineItem]) -> None:
        self.blocks.reset(timeline)
        self.top = (0, 0)

    def invalidate(self) -> None:
        """Render everything again when it is next shown: the width or the colors changed."""
        index, row = self.top
        old = self.blocks.peek(index)
        self.blocks.invalidate()
        if old is not None and not self.following and old.size > self.rows:
            # Stay at about the same place inside a block taller than the window, whose line numbers change.
            start = self.blocks.get(index).begin_at(old.share_at(row))
            self.top = (index, row if start is None else start)

    def update(self, changed: Iterable[Key]) -> bool:
        """Lay out new and changed items. Return whether there is more to render than fits into one frame."""
        transcript = self._transcript
        if transcript is None:
            return False
        if transcript.timeline is not self.timeline:
            self._reset(transcript.timeline)
        self.blocks.extend()
        for index in [self.blocks.position(key) for key in changed] + self._items_behind():
            if index is not None:
                self.blocks.touch(index)
        self.compose()
        return self.is_behind

    def tick(self) -> bool:
        """Render visible blocks that show elapsed time again. Return whether there were any."""
        ticking = [index for index in self.visible_items() if (block := self.blocks.peek(index)) and block.ticks]
        for index in ticking:
            self.blocks.touch(index)
        if ticking:
            self.compose()
        return bool(ticking)

    @property
    def is_behind(self) -> bool:
        """Whether there is more to render than fitted into one frame."""
        return bool(self._items_behind())

    def _items_behind(self) -> list[int]:
        """Return the visible items that haven't been rendered to their end yet."""
        return [index for index in self.visible_items() if (block := self.blocks.peek(index)) and block.behind]

    def redraw(self, blocks: Collection[Block]) -> None:
        """Render some blocks again, because something they show arrived later."""
        self.blocks.touch_blocks(blocks)
        self.compose()

    # -- rendering

    def compose(self) -> None:
        """Fill `visible_lines` from the scroll position on."""
        if self.rows <= 0:
            return
        count = len(self.heights)
        self.context.at_end = self.following
        if self.following:
            self.top = self._up(count, 0, self.rows)
        index, row = self.top
        visible: list[tuple[Strip, int]] = []
        while index < count and len(visible) < self.rows:
            lines = self.blocks.lines_without_gap(index, row, self.rows - len(visible))
            visible += [(line, index) for line in lines[row : row + self.rows - len(visible)]]
            index, row = index + 1, 0
        is_behind = any(self.blocks.get(place).behind for place in {each for _, each in visible})
        if len(visible) < self.rows and not self.following and count and not is_behind:
            self.following = True  # less below than fits: the end has been reached
            self.compose()
            return
        self.visible_lines = visible
        self.blocks.evict(self.visible_items())

    def visible_items(self) -> set[int]:
        """Return the indices of the items in the window."""
        return {index for _, index in self.visible_lines}

    def scrollbar(self) -> tuple[int, int]:
        """First row and length of the scroll bar's thumb; (0, 0) when everything fits."""
        total = self.heights.total
        if total <= self.rows:
            return 0, 0
        size = max(1, self.rows * self.rows // total)
        above = self.heights.before(self.top[0]) + self.top[1]
        return round((self.rows - size) * min(1.0, above / (total - self.rows))), size

    # -- scrolling

    def _up(self, index: int, row: int, count: int) -> tuple[int, int]:
        """Return the position `count` lines above another."""
        row = self.blocks.row_below_gap(index, row, count)
        while count > row:
            if index == 0:
                return 0, 0
            count -= row
            index -= 1
            row = self.blocks.row_below_gap(index, len(self.blocks.lines(index)), count)
        return index, row - count

    def _down(self, index: int, row: int, count: int) -> tuple[int, int]:
        """Return the position `count` lines below another."""
        while index < len(self.heights):
            left = len(self.blocks.lines_without_gap(index, row, count + 1)) - row
            if count < left:
                return index, row + count
            count -= left
            index, row = index + 1, 0
        return max(len(self.heights) - 1, 0), 0

    def scroll(self, count: int) -> None:
        """Move the view by `count` lines, down if positive."""
        if count < 0 and len(self.heights):
            self.following = False
            self.top = self._up(*self.top, -count)
        elif not self.following:
            self.top = self._down(*self.top, count)
        self.compose()

    def jump(self, line: int | None) -> None:
        """Go to a line counted from the top; None is the end, where the view follows new output."""
        self.following = line is None
        if line is not None:
            self.top = self.heights.find(line)
        self.compose()

    def reveal(self, index: int) -> None:
        """Scroll an item into view."""
        visible = self.visible_items()
        if index not in visible:
            self.following = False
            is_below = bool(visible) and index > max(visible)
            self.top = self._up(index, len(self.blocks.lines(index)), self.rows) if is_below else (index, 0)
        self.compose()

    # -- folding

    def toggle(self, index: int) -> None:
        """Open or fold an item. The view moves only as far as needed to see it."""
        block = self.blocks.get(index)
        is_open, is_running = block.can_open, block.ticks
        self.blocks.set_open(index, is_open)
        self.following = self.following and index == len(self.timeline) - 1
        if not (self.following and is_running):  # of a running call, the user wants to see the end
            self._show_whole(index)
        self.compose()

    def set_all_open(self, is_open: bool | None, keep: int | None = None) -> None:
        """Open or fold all tool calls and thoughts; None restores their defaults. The item `keep` stays in its row
        if it is visible; otherwise the item at the top of the window does."""
        if keep not in self.visible_items():
            keep = None if self.following else self.top[0]
        row = next((row for row, (_, index) in enumerate(self.visible_lines) if index == keep), 0)
        self.blocks.set_all_open(is_open)
        if keep is not None:
            self.following = False
            self.top = self._up(keep, 0, row)
            self._show_whole(keep)
        self.compose()

    def set_open(self, index: int, is_open: bool | None) -> None:
        """Open or fold an item; None restores its default."""
        self.blocks.set_open(index, is_open)
        self.compose()

    def _show_whole(self, index: int) -> None:
        """Scroll so that an item is visible as a whole, or its start if it is taller than the window."""
        height = len(self.blocks.lines(index))
        if self.following and height <= self.rows:
            return
        self.following = False
        highest, lowest = self._up(index, height, self.rows), (index, 0)
        self.top = min(max(self.top, min(highest, lowest)), lowest)
