"""Cache of rendered blocks, one per timeline item: rendered on demand, evicted when least recently used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import TYPE_CHECKING

from textual.strip import Strip

from accord.model.tool import ToolCall
from accord.transcript.plan_calls import is_plan_update
from accord.tui.transcript.blocks.base import Block, BlockContext
from accord.tui.transcript.blocks.factory import Key, block_for, guess, key_of
from accord.tui.transcript.heights import Heights

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem

MAX_BLOCKS = 300
MAX_LINES = 30_000
"""Rendered blocks and lines to keep, so that scrolling back doesn't render them again."""
_MIN_BLOCKS = 20
_MAX_FILLS = 4
"""How often the skipped middle of a long message is extended for a single move of the view."""
_MAX_HIDDEN = 8
"""How many items to look back for one that is shown."""
_FOLDABLE = ("tool", "thought", "compaction")


class BlockCache:
    """The items of a timeline as blocks of lines, with the height of each: exact once rendered, estimated before."""

    def __init__(self, context: BlockContext) -> None:
        self.context = context
        self.timeline: list[TimelineItem] = []
        self.heights: Heights = Heights()
        self._is_exact = bytearray()  # per item: whether its height is known rather than estimated
        self._blocks: OrderedDict[int, Block] = OrderedDict()  # least recently used first
        self._opened: dict[Key, bool] = {}
        self._positions: dict[Key, int] = {}

    # -- the timeline

    def reset(self, timeline: list[TimelineItem]) -> None:
        """Show another timeline. What the user folded or opened stays: keys are unique per session."""
        self.timeline = timeline
        self.heights = Heights()
        self._is_exact = bytearray()
        self._positions.clear()
        self._blocks.clear()

    def extend(self) -> None:
        """Add items that were appended to the timeline, with an estimated height."""
        width = max(self.context.width, 10)
        for index in range(len(self.heights), len(self.timeline)):
            item = self.timeline[index]
            self._positions[key_of(item, index)] = index
            self.heights.append(guess(item, self._item_before(index), width))
            self._is_exact.append(0)

    def position(self, key: Key) -> int | None:
        return self._positions.get(key)

    def _item_before(self, index: int) -> TimelineItem | None:
        """Return the item that is shown above another one. Plan updates between them aren't shown."""
        for before in reversed(self.timeline[max(index - _MAX_HIDDEN, 0) : index]):
            is_hidden = isinstance(before, ToolCall) and is_plan_update(before) and not self.context.names_speakers
            if not is_hidden:
                return before
        return None

    # -- blocks

    def get(self, index: int) -> Block:
        """Return the block of an item, created if necessary."""
        block = self._blocks.get(index)
        if block is None:
            item = self.timeline[index]
            is_open = self._opened.get(key_of(item, index))
            block = self._blocks[index] = block_for(item, self._item_before(index), self.context, is_open)
        else:
            self._blocks.move_to_end(index)
        return block

    def peek(self, index: int) -> Block | None:
        """Return the block of an item if it is cached; doesn't count as a use."""
        return self._blocks.get(index)

    def lines(self, index: int) -> list[Strip]:
        """Render an item; its exact height is known afterwards."""
        block = self.get(index)
        if not self._is_exact[index]:
            self._is_exact[index] = 1
            self.heights.set(index, len(block.lines))
        return block.lines

    def cached_lines(self, index: int) -> list[Strip] | None:
        """Return the lines of an item if its block is cached."""
        return self._blocks[index].lines if index in self._blocks else None

    def touch(self, index: int) -> None:
        """Render an item again when it is next shown."""
        self._is_exact[index] = 0
        if index in self._blocks:
            self._blocks[index].touch()

    def touch_blocks(self, blocks: Collection[Block]) -> None:
        for index in [index for index, block in self._blocks.items() if block in blocks]:
            self.touch(index)

    def invalidate(self) -> None:
        """Drop all rendered blocks: the width or the colors changed. Heights stay as estimates."""
        self._blocks.clear()
        self._is_exact = bytearray(len(self._is_exact))

    def evict(self, visible: set[int]) -> None:
        """Drop the least recently used blocks beyond the limits, but none that is visible."""
        if len(self._blocks) <= _MIN_BLOCKS:
            return
        lines = sum(block.size for block in self._blocks.values())
        while len(self._blocks) > MAX_BLOCKS or (lines > MAX_LINES and len(self._blocks) > _MIN_BLOCKS):
            index, block = next(iter(self._blocks.items()))
            if index in visible:
                return
            lines -= block.size
            del self._blocks[index]
            self._is_exact[index] = 0  # its height stays as a good estimate

    # -- folding

    def is_open(self, index: int) -> bool | None:
        """Return whether the user opened or folded an item; None if they did neither."""
        return self._opened.get(key_of(self.timeline[index], index))

    def set_open(self, index: int, is_open: bool | None) -> None:
        key = key_of(self.timeline[index], index)
        if is_open is None:
            self._opened.pop(key, None)
        else:
            self._opened[key] = is_open
        self._blocks.pop(index, None)
        self._is_exact[index] = 0

    def set_all_open(self, is_open: bool | None) -> None:
        """Open or fold all tool calls, thoughts and compactions; None restores their defaults."""
        for index, item in enumerate(self.timeline):
            if key_of(item, index)[0] in _FOLDABLE:
                self.set_open(index, is_open)

    # -- long messages whose middle isn't rendered yet

    def lines_without_gap(self, index: int, row: int, count: int) -> list[Strip]:
        """Return the lines of an item with `count` lines below `row` free of a gap, if a few fills achieve that."""
        lines, block = self.lines(index), self.get(index)
        for _ in range(_MAX_FILLS):
            if (
                block.skipped_part is None
                or not row <= block.skipped_part.row < row + count
                or not block.fill(from_end=False)
            ):
                break
            self.heights.set(index, len(block.lines))
        return lines

    def row_below_gap(self, index: int, row: int, count: int) -> int:
        """Return the position of line `row` of an item once `count` lines above it are free of a gap."""
        block = self._blocks.get(index)
        for _ in range(_MAX_FILLS):
            if block is None or block.skipped_part is None or not row - count <= block.skipped_part.row < row:
                break
            added = block.fill(from_end=True)
            if not added:
                break
            row += added
            self.heights.set(index, len(block.lines))
        return row
