"""Which lines are on the screen: a list as long as the session, of which only what is visible is ever drawn.

Where the view stands is an item and one of its lines, not a number of lines from the top: items above it need not be
drawn to know where it is, and nothing moves when they turn out taller than was guessed. At the end the view follows
what is new. Nothing here knows of widgets."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from textual.strip import Strip

from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.blocks import Blocks
from accord.tui.conversation.heights import Heights
from accord.tui.conversation.items import Key, guess, key_of

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

_FOLDING = ("tool", "thought", "compaction")


class Layout(Blocks):
    """A transcript laid out for a window of some size."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.rows = 0
        """How many lines the window has."""
        self.following = True
        self.picture: list[tuple[Strip, int]] = []
        """The lines in the window, and the item of each."""
        self.at = (0, 0)
        """The item and the line of it that the window begins with."""
        self._transcript: Transcript | None = None
        self._places: dict[Key, int] = {}

    # -- what is shown

    def show(self, transcript: Transcript) -> None:
        """Takes another transcript, from its end."""
        self._transcript = transcript
        self._forget()
        self.following = True
        self.take(())

    def _forget(self) -> None:
        self.timeline = []
        self.heights = Heights()
        self._exact = bytearray()
        self._places.clear()
        self.at = (0, 0)
        self._blocks.clear()

    def forget_drawn(self) -> None:
        """Draws everything anew when it is next seen: the width or the colours changed."""
        index, row = self.at
        old = self._blocks.get(index)
        self._blocks.clear()
        self._exact = bytearray(len(self._exact))
        if old is not None and not self.following and old.size > self.rows:
            there = self.block(index).begin_at(old.share_at(row))
            self.at = (index, row if there is None else there)

    def take(self, changed: Iterable[Key]) -> bool:
        """Takes in what is new or changed. Gives whether there is more to draw than fitted into one frame."""
        transcript = self._transcript
        if transcript is None:
            return False
        if transcript.timeline is not self.timeline:
            self._forget()
            self.timeline = transcript.timeline
        width = max(self.setting.width, 10)
        for index in range(len(self.heights), len(self.timeline)):
            item = self.timeline[index]
            self._places[key_of(item, index)] = index
            self.heights.append(guess(item, self._before(index), width))
            self._exact.append(0)
        for place in [self._places.get(key) for key in changed] + self._behind():
            if place is not None:
                self._touch(place)
        self.compose()
        return self.is_behind

    def tick(self) -> bool:
        """Time has passed: what shows it is drawn anew. Gives whether there was anything of the kind."""
        ticking = [index for index in self.visible() if index in self._blocks and self._blocks[index].ticks]
        for index in ticking:
            self._touch(index)
        if ticking:
            self.compose()
        return bool(ticking)

    @property
    def is_behind(self) -> bool:
        """Whether there is more to draw than fitted into one frame."""
        return bool(self._behind())

    def _behind(self) -> list[int]:
        """The items in the window that were not drawn to their end yet."""
        return [index for index in self.visible() if index in self._blocks and self._blocks[index].behind]

    def redraw(self, blocks: Collection[Block]) -> None:
        """Draws some blocks anew: what they show came later than they."""
        for index in [index for index, block in self._blocks.items() if block in blocks]:
            self._touch(index)
        self.compose()

    # -- drawing

    def compose(self) -> None:
        """Lays out what is visible, from where the view stands."""
        if self.rows <= 0:
            return
        count = len(self.heights)
        self.setting.at_end = self.following
        if self.following:
            self.at = self._up(count, 0, self.rows)
        index, row = self.at
        picture: list[tuple[Strip, int]] = []
        while index < count and len(picture) < self.rows:
            lines = self._without_gap(index, row, self.rows - len(picture))
            picture += [(line, index) for line in lines[row : row + self.rows - len(picture)]]
            index, row = index + 1, 0
        is_behind = any(self._blocks[place].behind for place in {each for _, each in picture})
        if len(picture) < self.rows and not self.following and count and not is_behind:
            self.following = True  # there is less below than fits: the end has been reached
            self.compose()
            return
        self.picture = picture
        self._let_go(self.visible())

    def visible(self) -> set[int]:
        """The items in the window."""
        return {index for _, index in self.picture}

    def bar(self) -> tuple[int, int]:
        """Where the thumb of the scroll bar begins, and how long it is; nothing when all fits."""
        total = self.heights.total
        if total <= self.rows:
            return 0, 0
        size = max(1, self.rows * self.rows // total)
        top = self.heights.before(self.at[0]) + self.at[1]
        return round((self.rows - size) * min(1.0, top / (total - self.rows))), size

    # -- moving

    def _up(self, index: int, row: int, count: int) -> tuple[int, int]:
        """The place so many lines above another."""
        row = self._row_below_gap(index, row, count)
        while count > row:
            if index == 0:
                return 0, 0
            count -= row
            index -= 1
            row = self._row_below_gap(index, len(self.lines(index)), count)
        return index, row - count

    def _down(self, index: int, row: int, count: int) -> tuple[int, int]:
        while index < len(self.heights):
            left = len(self._without_gap(index, row, count + 1)) - row
            if count < left:
                return index, row + count
            count -= left
            index, row = index + 1, 0
        return max(len(self.heights) - 1, 0), 0

    def move(self, count: int) -> None:
        """Moves the view by so many lines, down if positive."""
        if count < 0 and len(self.heights):
            self.following = False
            self.at = self._up(*self.at, -count)
        elif not self.following:
            self.at = self._down(*self.at, count)
        self.compose()

    def jump(self, line: int | None) -> None:
        """Goes to a line, counted from the top; None is the end, where the view follows what comes."""
        self.following = line is None
        if line is not None:
            self.at = self.heights.find(line)
        self.compose()

    def reveal(self, index: int) -> None:
        """Brings an item into view."""
        seen = self.visible()
        if index not in seen:
            self.following = False
            below = bool(seen) and index > max(seen)
            self.at = self._up(index, len(self.lines(index)), self.rows) if below else (index, 0)
        self.compose()

    # -- folding

    def toggle(self, index: int) -> None:
        """Opens an item that is folded, or folds it. The window moves only as far as is needed to see it."""
        block = self.block(index)
        is_open, goes_on = block.can_open, block.ticks
        self._set_open(index, is_open)
        self.following = self.following and index == len(self.timeline) - 1
        if not (self.following and goes_on):  # of what runs, the end is wanted
            self._show_whole(index)
        self.compose()

    def open_all(self, is_open: bool, keep: int | None = None) -> None:
        """Opens all tool calls and thoughts, or folds them. One item stays where it is on the screen, if it is there;
        else what the window begins with."""
        if keep not in self.visible():
            keep = None if self.following else self.at[0]
        place = next((row for row, (_, index) in enumerate(self.picture) if index == keep), 0)
        for index, item in enumerate(self.timeline):
            if key_of(item, index)[0] in _FOLDING:
                self._set_open(index, is_open)
        if keep is not None:
            self.following = False
            self.at = self._up(keep, 0, place)
            self._show_whole(keep)
        self.compose()

    def _show_whole(self, index: int) -> None:
        """Moves the view so that all of an item is seen; its beginning, where it is taller than the window."""
        height = len(self.lines(index))
        if self.following and height <= self.rows:
            return
        self.following = False
        highest, lowest = self._up(index, height, self.rows), (index, 0)
        self.at = min(max(self.at, min(highest, lowest)), lowest)

    def set_open(self, index: int, is_open: bool | None) -> None:
        """Opens or folds an item, or leaves it as it comes."""
        self._set_open(index, is_open)
        self.compose()
