"""Blocks for messages: the agent's, its thoughts, and the user's."""

from __future__ import annotations

import time
from typing import NamedTuple

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from accord.model.content import Image, TextContent
from accord.terminal_text import one_line, sanitize
from accord.transcript.message import Message, Piece
from accord.tui.transcript.blocks.attachment import render_attachment, render_image, render_name
from accord.tui.transcript.blocks.base import Block, BlockContext
from accord.tui.transcript.blocks.long_text import (
    MAX_DRAWN,
    Position,
    SkippedPart,
    back,
    between,
    cut_near,
    onwards,
    text_of_piece,
)

SLICE = 500
"""Characters to render between two checks of the clock."""
BUDGET, FAR_BUDGET = 0.005, 0.02
"""Seconds that rendering may take per frame, normally and when it is behind; the rest follows in the next frame."""
BEHIND = 4_000
"""Pending characters from which on rendering counts as behind."""
MAX_IMAGES = 40
"""Images to render per message; for the rest, only the name is shown."""
FAR_BEHIND = 8_000
"""Pending characters from which on the middle is skipped while the end is in view."""
CHUNK = 2_500
"""Characters before the end at which rendering resumes, and characters of a gap to fill at a time."""


class PlacedImage(NamedTuple):
    """An image in a message: its first line, and its lines when it was rendered."""

    row: int
    piece: Piece
    lines: list[Strip]


class AgentBlock(Block):
    """A message of the agent: Markdown, rendered while it streams.

    While the end of a long message is in view, its middle is skipped, and rendered when the user scrolls there."""

    speaker = "Agent:"
    style: Style | None = None
    bar: str = " "
    bar_style: Style | None = None

    def __init__(self, message: Message, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(context, is_open)
        self.message = message
        self._begin()

    def _begin(self) -> None:
        self._pieces = self.message.pieces
        self._place: Position = (0, 0)  # pieces rendered completely, and characters of the next
        self._drawn = 0
        self._kept = 0  # lines that won't change
        self._floor = (0, 0)  # the pieces and lines before the text being rendered
        self._prose: Stream | None = None
        self._images: list[PlacedImage] = []  # images
        self.skipped_part = None

    def text(self) -> str:
        return self.message.text

    def render(self, before: list[Strip]) -> list[Strip]:
        if self._pieces is not self.message.pieces or self._place[0] > len(self._pieces):
            self._begin()  # the message was replaced
        if not self._update_images(before):
            self._begin()
        lines = before[: self._kept] if self._kept else self.blank()
        self._kept = len(lines)
        if self.context.at_end and self._has_pending(FAR_BEHIND):
            lines = self._skip_to_end(lines)
        end = time.perf_counter() + (FAR_BUDGET if self._has_pending(BEHIND) else BUDGET)
        room = SLICE
        while self._place[0] < len(self._pieces) and self._drawn < MAX_DRAWN:
            if room <= 0:
                if time.perf_counter() > end:
                    break
                room = SLICE
            index = self._place[0]
            if text_of_piece(self._pieces[index]) is None:
                lines += self._finish()
                lines += self.margin([render_name(self._pieces[index], self)], self.bar, self.bar_style)
                lines += self._add_image(self._pieces[index], len(lines))
                self._kept = len(lines)
                self._place = (index + 1, 0)
                self._floor = (index + 1, len(lines))
                continue
            some, self._place = onwards(self._pieces, self._place, room)
            self._feed(some)
            room -= len(some)
            if room <= 0 and self._prose is not None:
                _ = self._prose.tail  # renders now, so that the clock includes it
            self._drawn += len(some)
        self.behind = self._drawn < MAX_DRAWN and self._place[0] < len(self._pieces)
        if self._prose is not None:
            lines += self.margin(self._prose.new_settled(), self.bar, self.bar_style)
            self._kept = len(lines)
            lines += self.margin(self._prose.tail, self.bar, self.bar_style)
        if self._drawn >= MAX_DRAWN and self._place[0] < len(self._pieces):
            lines += self.margin(
                [self.text_styles.line(("… more: press e to open it in your editor", self.text_styles.warn))]
            )
        return lines

    def _add_image(self, piece: Piece, row: int) -> list[Strip]:
        """Add an image and return its lines, which may change once it is decoded."""
        if not isinstance(piece, Image) or len(self._images) >= MAX_IMAGES:
            return []
        self._images.append(PlacedImage(row, piece, render_image(piece, self)))
        return self.margin(self._images[-1].lines, self.bar, self.bar_style)

    def _update_images(self, lines: list[Strip]) -> bool:
        """Replace the lines of images that were decoded since. Return whether they fit the same place."""
        for place, each in enumerate(self._images):
            now = render_image(each.piece, self)
            if len(now) != len(each.lines):
                return False
            if now is not each.lines:
                lines[each.row : each.row + len(now)] = self.margin(now, self.bar, self.bar_style)
                self._images[place] = each._replace(lines=now)
        return True

    def _has_pending(self, count: int) -> bool:
        """Return whether more than `count` characters are pending."""
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
        """End the current text, because something else follows; return its lines."""
        prose, self._prose = self._prose, None
        return self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style) if prose else []

    # -- the skipped part

    def _skip_to_end(self, lines: list[Strip]) -> list[Strip]:
        """Skip to shortly before the end."""
        floor, kept = self._floor
        if any(text_of_piece(piece) is None for piece in self._pieces[self._place[0] :]):
            return lines
        if self.skipped_part is not None and self.skipped_part.row < kept:
            return lines
        start, fence = (
            (self.skipped_part.end, self.skipped_part.end_fence) if self.skipped_part is not None else ((floor, 0), "")
        )
        return self._resume_at(lines, start, fence, -CHUNK)

    def _resume_at(self, lines: list[Strip], start: Position, fence: str, at: int) -> list[Strip]:
        """Leave a gap up to `at` characters after a place, or before the end if negative."""
        floor, kept = self._floor
        end = (len(self._pieces), 0)
        text = between(self._pieces, start, end)
        cut, fence = cut_near(text, at if at >= 0 else len(text) + at, fence)
        lines = lines[:kept] if kept else self.blank()
        place = back(self._pieces, end, len(text) - cut)
        self.skipped_part = SkippedPart(len(lines), (floor, 0), place, "", fence)
        lines += self._gap_line()
        self._place, self._drawn, self._kept = place, 0, len(lines)
        self._prose = Stream(self, fence)
        return lines

    def _gap_line(self) -> list[Strip]:
        note = "⋯ more above: scroll up, or press e to open it in your editor"
        return self.margin(
            [self.text_styles.line((one_line(note, self.width), self.text_styles.dim))], self.bar, self.bar_style
        )

    def fill(self, *, from_end: bool) -> int:
        gap = self.skipped_part
        if gap is None or self._drawn >= MAX_DRAWN:
            return 0
        text = between(self._pieces, gap.start, gap.end)
        cut, fence = cut_near(text, len(text) - CHUNK if from_end else CHUNK, gap.start_fence)
        place = back(self._pieces, gap.end, len(text) - cut)
        prose = Stream(self, fence if from_end else gap.start_fence)
        prose.feed(_fit(text[cut:] if from_end else text[:cut]))
        new = self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style)
        self._drawn += len(text) - cut if from_end else cut
        if from_end:
            new += [] if gap.end_fence else self.margin([self.text_styles.line(("", None))], self.bar, self.bar_style)
            self._lines[gap.row + 1 : gap.row + 1] = new
            self.skipped_part = gap._replace(end=place, end_fence=fence)
        else:
            new += [] if fence else self.margin([self.text_styles.line(("", None))], self.bar, self.bar_style)
            self._lines[gap.row : gap.row] = new
            self.skipped_part = gap._replace(row=gap.row + len(new), start=place, start_fence=fence)
        more = len(new)
        if self.skipped_part.start >= self.skipped_part.end:
            del self._lines[self.skipped_part.row]
            self.skipped_part = None
            more -= 1
        self._kept += more
        if self._floor[1] > gap.row:
            self._floor = (self._floor[0], self._floor[1] + more)
        self._images = [each._replace(row=each.row + more) if each.row > gap.row else each for each in self._images]
        return more

    def begin_at(self, share: float) -> int | None:
        self._begin()
        if not self._has_pending(FAR_BEHIND) or any(text_of_piece(piece) is None for piece in self._pieces):
            return None
        whole = sum(len(text_of_piece(piece) or "") for piece in self._pieces)
        self._lines = self._resume_at([], (0, 0), "", max(int(whole * share), 1))
        return len(self._lines)

    def share_at(self, row: int) -> float:
        sizes = [len(text_of_piece(piece) or "") for piece in self._pieces]
        whole = max(sum(sizes), 1)
        reached = sum(sizes[: self._place[0]]) + self._place[1]
        if self.skipped_part is None:
            return row * reached / max(self.size, 1) / whole
        begin, end = (sum(sizes[:index]) + inside for index, inside in (self.skipped_part.start, self.skipped_part.end))
        if row <= self.skipped_part.row:
            return begin * row / max(self.skipped_part.row, 1) / whole
        return (
            end + (reached - end) * (row - self.skipped_part.row) / max(self.size - self.skipped_part.row, 1)
        ) / whole


def _fit(text: str) -> str:
    return sanitize(text.replace("\r", ""))


class Stream:
    """Streamed Markdown, with a count of the settled lines already taken."""

    def __init__(self, block: AgentBlock, fence: str = "") -> None:
        from accord.tui.transcript.markdown import Prose  # deferred: the first frame needs no Markdown

        self._prose = Prose(block.text_styles, block.width, block.style, fence)
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


class ThoughtBlock(AgentBlock):
    """A thought: one line, or the whole text when open."""

    gap = 1
    bar = "┊"

    def __init__(self, message: Message, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(message, context, is_open)
        self.style = context.text_styles.dim + Style(italic=True)
        self.speaker = "Thought:" if is_open else ""  # when folded, its line starts with that

    @property
    def can_open(self) -> bool:
        return not self.is_open

    def render(self, before: list[Strip]) -> list[Strip]:
        if self.is_open:
            return super().render(before)
        text = self.message.text
        lines = text.count("\n") + 1
        more = f" ({lines} lines)" if lines > 1 else ""
        from accord.tui.transcript.markdown import first_line

        room = max(self.width - len(more) - 14, 10)
        first = first_line(one_line(text.strip().partition("\n")[0], 4 * room), self.text_styles)
        first.truncate(room, overflow="ellipsis")
        words = self.text_styles.draw(first, room, self.style)[:1]
        head = self.text_styles.line(("▸ ", self.text_styles.faint), ("Thought: ", self.text_styles.dim))
        line = Strip.join([head, *words, self.text_styles.line((more, self.style))])
        return [*self.blank(), *self.margin([line])]


_MAX_TYPED = 24_000
_MAX_LINES = 30
"""Lines of the user's message shown while it is folded."""


class UserBlock(Block):
    """A message of the user, as typed."""

    speaker = "You:"

    def __init__(self, message: Message, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(context, is_open)
        self.message = message
        self._is_cut = False

    @property
    def can_open(self) -> bool:
        return self._is_cut

    def render(self, before: list[Strip]) -> list[Strip]:
        text_styles = self.text_styles
        text = sanitize(self.message.text[:MAX_DRAWN]).strip("\n")
        rows = text.split("\n")
        self._is_cut = len(rows) > _MAX_LINES and not self.is_open
        first = rows[:_MAX_LINES] if self._is_cut else rows
        body = text_styles.draw(Text("\n".join(first)[:_MAX_TYPED]), self.width, text_styles.said)
        if self._is_cut:
            body.append(text_styles.line((f"… and {len(rows) - _MAX_LINES} more lines", text_styles.dim)))
        for piece in self.message.pieces:
            if not isinstance(piece, (str, TextContent)):
                body += render_attachment(piece, self)
        style = text_styles.base + text_styles.said
        padded = [line.extend_cell_length(self.width, style) for line in body]
        return [*self.blank(), *self.margin(padded, "▌", text_styles.dim)]

    def text(self) -> str:
        return self.message.text
