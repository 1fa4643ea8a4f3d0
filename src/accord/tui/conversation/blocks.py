"""The blocks of a conversation: made when they are first seen, and kept until too many others were. Of the rest only a
height is known, or guessed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from textual.strip import Strip

from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.heights import Heights
from accord.tui.conversation.items import Key, block_for, key_of

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem

KEPT_BLOCKS = 300
KEPT_LINES = 30_000
"""How much that was drawn is kept, to be shown again without drawing."""
_FEW = 20
_FILLS = 4
"""How often what was passed over is drawn on, for one move."""


class Blocks:
    """The items of a transcript as blocks of lines."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.timeline: list[TimelineItem] = []
        self.heights = Heights()
        self._exact = bytearray()  # for each item, whether its height is known and not guessed
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._opened: dict[Key, bool] = {}

    def _before(self, index: int) -> TimelineItem | None:
        return self.timeline[index - 1] if index else None

    def block(self, index: int) -> Block:
        """The block of an item, made if it is not there."""
        block = self._blocks.get(index)
        if block is None:
            item = self.timeline[index]
            is_open = self._opened.get(key_of(item, index))
            block = self._blocks[index] = block_for(item, self._before(index), self.setting, is_open)
        else:
            self._blocks.move_to_end(index)
        return block

    def lines(self, index: int) -> list[Strip]:
        """The lines of an item; its height is known afterwards."""
        block = self.block(index)
        if not self._exact[index]:
            self._exact[index] = 1
            self.heights.set(index, len(block.lines))
        return block.lines

    def drawn(self, index: int) -> list[Strip] | None:
        """The lines of an item if it was drawn, and is kept."""
        return self._blocks[index].lines if index in self._blocks else None

    def _touch(self, index: int) -> None:
        self._exact[index] = 0
        if index in self._blocks:
            self._blocks[index].touch()

    def is_open(self, index: int) -> bool | None:
        """Whether an item is opened or folded, as the user said; None if they did not."""
        return self._opened.get(key_of(self.timeline[index], index))

    def _set_open(self, index: int, is_open: bool | None) -> None:
        key = key_of(self.timeline[index], index)
        if is_open is None:
            self._opened.pop(key, None)
        else:
            self._opened[key] = is_open
        self._blocks.pop(index, None)
        self._exact[index] = 0

    def _let_go(self, seen: set[int]) -> None:
        """Forgets the blocks that were not looked at for longest, but none that is seen."""
        if len(self._blocks) <= _FEW:
            return
        kept = sum(block.size for block in self._blocks.values())
        while len(self._blocks) > KEPT_BLOCKS or (kept > KEPT_LINES and len(self._blocks) > _FEW):
            index, block = next(iter(self._blocks.items()))
            if index in seen:
                return
            kept -= block.size
            del self._blocks[index]
            self._exact[index] = 0  # its height stays, as a good guess

    # -- messages whose middle is not drawn yet

    def _without_gap(self, index: int, row: int, count: int) -> list[Strip]:
        """The lines of an item, so many of them below one without a gap, if that can be had in a moment."""
        lines, block = self.lines(index), self.block(index)
        for _ in range(_FILLS):
            if block.left_out is None or not row <= block.left_out.row < row + count or not block.fill(from_end=False):
                break
            self.heights.set(index, len(block.lines))
        return lines

    def _row_below_gap(self, index: int, row: int, count: int) -> int:
        """Where a line of an item is, once there are so many without a gap above it."""
        block = self._blocks.get(index)
        for _ in range(_FILLS):
            if block is None or block.left_out is None or not row - count <= block.left_out.row < row:
                break
            more = block.fill(from_end=True)
            if not more:
                break
            row += more
            self.heights.set(index, len(block.lines))
        return row
