"""What somebody said or thought, as a block."""

from __future__ import annotations

import re
import time
from urllib.parse import unquote

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from accord.model.content import Audio, Image, Link, Resource, TextContent
from accord.transcript.message import Message, Piece
from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.passages import Gap, Place, back, between, cut_near, onwards, text_of_piece
from accord.tui.plain import one_line, plain, size_of

SLICE = 500
"""Characters that are drawn between two looks at the clock."""
BUDGET, FAR_BUDGET = 0.005, 0.02
"""Seconds that drawing may take in one frame, and when it is behind; the rest follows in the next."""
BEHIND, FAR_BEHIND = 2_000, 8_000
"""Characters that wait; past the second, what is before the end is passed over while the end is looked at."""
SHORTLY = 2_500
"""Characters before the end that drawing goes on with then, and that are drawn at a time of what was passed over."""
MOST_DRAWN = 1_000_000
"""Characters of one message that are drawn at all. The whole can be opened in an editor."""
_MOST_TYPED = 24_000
_MOST_LINES = 30
"""Lines of the user's own words that are shown unasked."""


class AgentBlock(Block):
    """The agent's words, in Markdown, drawn as they come."""

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
        self._prose: _Stream | None = None
        self.left_out = None

    style: Style | None = None
    bar, bar_style = " ", None

    def drawn(self, before: list[Strip]) -> list[Strip]:
        if self._pieces is not self.message.pieces or self._place[0] > len(self._pieces):
            self._begin()  # the message was replaced
        lines = before[: self._kept] if self._kept else self.blank()
        self._kept = len(lines)
        if self.setting.at_end and self._waits(FAR_BEHIND):
            lines = self._leap(lines)
        end = time.perf_counter() + (FAR_BUDGET if self._waits(BEHIND) else BUDGET)
        room = SLICE
        while self._place[0] < len(self._pieces) and self._drawn < MOST_DRAWN:
            if room <= 0:
                if time.perf_counter() > end:
                    break
                room = SLICE
            index = self._place[0]
            if text_of_piece(self._pieces[index]) is None:
                lines += self._finish()
                lines += self.margin([named(self._pieces[index], self)], self.bar, self.bar_style)
                self._kept = len(lines)
                self._place = (index + 1, 0)
                self._floor = (index + 1, len(lines))
                continue
            some, self._place = onwards(self._pieces, self._place, room)
            self._feed(some)
            room -= len(some)
            if room <= 0 and self._prose is not None:
                _ = self._prose.tail  # so that the clock knows what it took
            self._drawn += len(some)
        self.behind = self._drawn < MOST_DRAWN and self._place[0] < len(self._pieces)
        if self._prose is not None:
            lines += self.margin(self._prose.new_settled(), self.bar, self.bar_style)
            self._kept = len(lines)
            lines += self.margin(self._prose.tail, self.bar, self.bar_style)
        if self._drawn >= MOST_DRAWN and self._place[0] < len(self._pieces):
            lines += self.margin([self.look.line(("… and more; e opens all of it in your editor", self.look.warn))])
        return lines

    def _waits(self, count: int) -> bool:
        """Whether more than so many characters wait to be drawn."""
        waiting = -self._place[1]
        for place in range(self._place[0], len(self._pieces)):
            waiting += len(text_of_piece(self._pieces[place]) or "")
            if waiting > count:
                return True
        return False

    # -- long messages, of which the end is looked at

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
        self._prose = _Stream(self, fence)
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
        prose = _Stream(self, fence if from_end else gap.start_fence)
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

    def _feed(self, text: str) -> None:
        if self._prose is None:
            self._prose = _Stream(self)
        self._prose.feed(_fit(text))

    def _finish(self) -> list[Strip]:
        """The lines of the text so far, which something else follows."""
        prose, self._prose = self._prose, None
        return self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style) if prose else []

    def text(self) -> str:
        return self.message.text


def _fit(text: str) -> str:
    return plain(text.replace("\r", ""))


class _Stream:
    """Markdown that grows, and which of its settled lines were taken already."""

    def __init__(self, block: AgentBlock, fence: str = "") -> None:
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


class ThoughtBlock(AgentBlock):
    """A thought: one line, or all of it when it is opened."""

    gap = 1
    bar = "┊"

    def __init__(self, message: Message, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(message, setting, is_open)
        self.style = setting.look.dim + Style(italic=True)

    @property
    def can_open(self) -> bool:
        return not self.is_open

    def drawn(self, before: list[Strip]) -> list[Strip]:
        if self.is_open:
            return super().drawn(before)
        text = self.message.text
        lines = text.count("\n") + 1
        more = f" ({lines} lines)" if lines > 1 else ""
        first = one_line(text, max(self.width - len(more) - 14, 10))
        line = self.look.line(("▸ ", self.look.faint), ("Thought: ", self.look.dim), (first + more, self.style))
        return [*self.blank(), *self.margin([line])]


class UserBlock(Block):
    """The user's own words, as they were typed."""

    def __init__(self, message: Message, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(setting, is_open)
        self.message = message
        self._is_cut = False

    @property
    def can_open(self) -> bool:
        return self._is_cut

    def drawn(self, before: list[Strip]) -> list[Strip]:
        look = self.look
        text = plain(self.message.text[:MOST_DRAWN]).strip("\n")
        rows = text.split("\n")
        self._is_cut = len(rows) > _MOST_LINES and not self.is_open
        shown = rows[:_MOST_LINES] if self._is_cut else rows
        body = look.draw(Text("\n".join(shown)[:_MOST_TYPED]), self.width, look.said)
        if self._is_cut:
            body.append(look.line((f"… and {len(rows) - _MOST_LINES} lines more", look.dim)))
        for piece in self.message.pieces:
            if not isinstance(piece, (str, TextContent)):
                body.append(named(piece, self))
        style = look.base + look.said
        padded = [line.extend_cell_length(self.width, style) for line in body]
        return [*self.blank(), *self.margin(padded, "▌", look.primary)]

    def text(self) -> str:
        return self.message.text


def named(piece: Piece, block: Block) -> Strip:
    """A picture, a sound or a file, by its name."""
    look = block.look
    icon, name, about = _about(piece)
    parts = [(f"{icon} ", look.accent), (one_line(name, max(block.width - 30, 20)), look.strong)]
    return look.line(*parts, (f"  {about}" if about else "", look.dim))


def _about(piece: Piece) -> tuple[str, str, str]:
    match piece:
        case Image():
            return "▣", _last_part(piece.uri) or "image", f"{piece.mime_type}, {size_of(len(piece.data) * 3 / 4)}"
        case Audio():
            return "♪", "sound", f"{piece.mime_type}, {size_of(len(piece.data) * 3 / 4)}"
        case Link():
            size = "" if piece.size is None else size_of(piece.size)
            return "↗", piece.title or piece.name, ", ".join(filter(None, [one_line(unquote(piece.uri), 120), size]))
        case Resource():
            held = piece.resource
            length = len(held.text) if held.text is not None else len(held.blob or "") * 3 / 4
            return "▤", _last_part(held.uri) or held.uri, ", ".join(filter(None, [held.mime_type, size_of(length)]))
        case _:
            return "?", f"content of a kind that is not known here ({getattr(piece, 'type', '?')})", ""


def _last_part(uri: str | None) -> str:
    return unquote(re.split(r"[/\\]", uri.rstrip("/"))[-1]) if uri else ""
