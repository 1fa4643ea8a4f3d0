"""Long messages, of which the end is looked at: what there is no time to draw is passed over, and drawn on demand."""

from __future__ import annotations

from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from accord.transcript.message import Message, Piece
from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.passages import Gap, Place, back, between, cut_near, text_of_piece
from accord.tui.plain import one_line, plain

FAR_BEHIND = 8_000
"""Characters that wait; past them, what is before the end is passed over while the end is looked at."""
SHORTLY = 2_500
"""Characters before the end that drawing goes on with then, and that are drawn at a time of what was passed over."""
MOST_DRAWN = 1_000_000
"""Characters of one message that are drawn at all. The whole can be opened in an editor."""


class Hung(NamedTuple):
    """A picture in a message, its first line, and its lines as they were when it was drawn."""

    row: int
    piece: Piece
    lines: list[Strip]


class LongBlock(Block):
    """A message in Markdown that grows, as far as it was drawn."""

    style: Style | None = None
    bar, bar_style = " ", None

    def __init__(self, message: Message, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(setting, is_open)
        self.message = message
        self._begin()

    def _begin(self) -> None:
        self._pieces = self.message.pieces
        self._place: Place = (0, 0)  # pieces that were taken whole, and how much of the next
        self._drawn = 0
        self._kept = 0  # lines that will not change
        self._floor = (0, 0)  # the pieces and lines before the text that is being drawn
        self._prose: Stream | None = None
        self._hung: list[Hung] = []  # the pictures
        self.left_out = None

    def _waits(self, count: int) -> bool:
        """Whether more than so many characters wait to be drawn."""
        waiting = -self._place[1]
        for place in range(self._place[0], len(self._pieces)):
            waiting += len(text_of_piece(self._pieces[place]) or "")
            if waiting > count:
                return True
        return False

    def _feed(self, text: str) -> None:
        if self._prose is None:
            self._prose = Stream(self)
        self._prose.feed(_fit(text))

    def _finish(self) -> list[Strip]:
        """The lines of the text so far, which something else follows."""
        prose, self._prose = self._prose, None
        return self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style) if prose else []

    # -- what is passed over

    def _leap(self, lines: list[Strip]) -> list[Strip]:
        """Passes over what there is no time to draw, and goes on shortly before the end."""
        floor, kept = self._floor
        if any(text_of_piece(piece) is None for piece in self._pieces[self._place[0] :]):
            return lines
        if self.left_out is not None and self.left_out.row < kept:
            return lines
        start, fence = (self.left_out.end, self.left_out.end_fence) if self.left_out is not None else ((floor, 0), "")
        return self._go_on_at(lines, start, fence, -SHORTLY)

    def _go_on_at(self, lines: list[Strip], start: Place, fence: str, at: int) -> list[Strip]:
        """Leaves a gap up to so many characters after a place, or before the end."""
        floor, kept = self._floor
        end = (len(self._pieces), 0)
        text = between(self._pieces, start, end)
        cut, fence = cut_near(text, at if at >= 0 else len(text) + at, fence)
        lines = lines[:kept] if kept else self.blank()
        place = back(self._pieces, end, len(text) - cut)
        self.left_out = Gap(len(lines), (floor, 0), place, "", fence)
        lines += self._gap_line()
        self._place, self._drawn, self._kept = place, 0, len(lines)
        self._prose = Stream(self, fence)
        return lines

    def _gap_line(self) -> list[Strip]:
        note = "⋯ there is more above; scroll up, or e opens all of it in your editor"
        return self.margin([self.look.line((one_line(note, self.width), self.look.dim))], self.bar, self.bar_style)

    def fill(self, *, from_end: bool) -> int:
        gap = self.left_out
        if gap is None or self._drawn >= MOST_DRAWN:
            return 0
        text = between(self._pieces, gap.start, gap.end)
        cut, fence = cut_near(text, len(text) - SHORTLY if from_end else SHORTLY, gap.start_fence)
        place = back(self._pieces, gap.end, len(text) - cut)
        prose = Stream(self, fence if from_end else gap.start_fence)
        prose.feed(_fit(text[cut:] if from_end else text[:cut]))
        new = self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style)
        self._drawn += len(text) - cut if from_end else cut
        if from_end:
            new += [] if gap.end_fence else self.margin([self.look.line(("", None))], self.bar, self.bar_style)
            self._lines[gap.row + 1 : gap.row + 1] = new
            self.left_out = gap._replace(end=place, end_fence=fence)
        else:
            new += [] if fence else self.margin([self.look.line(("", None))], self.bar, self.bar_style)
            self._lines[gap.row : gap.row] = new
            self.left_out = gap._replace(row=gap.row + len(new), start=place, start_fence=fence)
        more = len(new)
        if self.left_out.start >= self.left_out.end:
            del self._lines[self.left_out.row]
            self.left_out = None
            more -= 1
        self._kept += more
        if self._floor[1] > gap.row:
            self._floor = (self._floor[0], self._floor[1] + more)
        self._hung = [each._replace(row=each.row + more) if each.row > gap.row else each for each in self._hung]
        return more

    def begin_at(self, share: float) -> int | None:
        self._begin()
        if not self._waits(FAR_BEHIND) or any(text_of_piece(piece) is None for piece in self._pieces):
            return None
        whole = sum(len(text_of_piece(piece) or "") for piece in self._pieces)
        self._lines = self._go_on_at([], (0, 0), "", max(int(whole * share), 1))
        return len(self._lines)

    def share_at(self, row: int) -> float:
        sizes = [len(text_of_piece(piece) or "") for piece in self._pieces]
        whole = max(sum(sizes), 1)
        reached = sum(sizes[: self._place[0]]) + self._place[1]
        if self.left_out is None:
            return row * reached / max(self.size, 1) / whole
        begin, end = (sum(sizes[:index]) + inside for index, inside in (self.left_out.start, self.left_out.end))
        if row <= self.left_out.row:
            return begin * row / max(self.left_out.row, 1) / whole
        return (end + (reached - end) * (row - self.left_out.row) / max(self.size - self.left_out.row, 1)) / whole


def _fit(text: str) -> str:
    return plain(text.replace("\r", ""))


class Stream:
    """Markdown that grows, and which of its settled lines were taken already."""

    def __init__(self, block: LongBlock, fence: str = "") -> None:
        from accord.tui.conversation.markdown import Prose  # here: Markdown is not needed for the first screen

        self._prose = Prose(block.look, block.width, block.style, fence)
        self._taken = 0

    def feed(self, text: str) -> None:
        self._prose.feed(text)

    @property
    def tail(self) -> list[Strip]:
        return self._prose.tail

    def new_settled(self) -> list[Strip]:
        _ = self._prose.tail  # reading the tail settles what comes before it
        lines = self._prose.settled[self._taken :]
        self._taken = len(self._prose.settled)
        return lines
