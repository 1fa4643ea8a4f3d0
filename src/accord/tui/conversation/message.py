"""What the agent said or thought, as a block."""

from __future__ import annotations

import time

from rich.style import Style
from textual.strip import Strip

from accord.model.content import Image
from accord.transcript.message import Message, Piece
from accord.tui.conversation.block import Setting
from accord.tui.conversation.long import FAR_BEHIND, MOST_DRAWN, Hung, LongBlock
from accord.tui.conversation.named import named, picture_of
from accord.tui.conversation.passages import onwards, text_of_piece
from accord.tui.plain import one_line

SLICE = 500
"""Characters that are drawn between two looks at the clock."""
BUDGET, FAR_BUDGET = 0.005, 0.02
"""Seconds that drawing may take in one frame, and when it is behind; the rest follows in the next."""
BEHIND = 4_000
"""Characters that wait when it is behind."""
MOST_PICTURES = 40
"""Pictures of one message that are drawn; the rest are named."""


class AgentBlock(LongBlock):
    """The agent's words, in Markdown, drawn as they come."""

    speaker = "Agent:"

    def drawn(self, before: list[Strip]) -> list[Strip]:
        if self._pieces is not self.message.pieces or self._place[0] > len(self._pieces):
            self._begin()  # the message was replaced
        if not self._hang(before):
            self._begin()
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
                lines += self._picture(self._pieces[index], len(lines))
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

    def _picture(self, piece: Piece, row: int) -> list[Strip]:
        """The lines of a picture, which may be drawn further later on."""
        if not isinstance(piece, Image) or len(self._hung) >= MOST_PICTURES:
            return []
        self._hung.append(Hung(row, piece, picture_of(piece, self)))
        return self.margin(self._hung[-1].lines, self.bar, self.bar_style)

    def _hang(self, lines: list[Strip]) -> bool:
        """Puts what was drawn of the pictures since into the lines. Gives whether it fits there."""
        for place, each in enumerate(self._hung):
            now = picture_of(each.piece, self)
            if len(now) != len(each.lines):
                return False
            if now is not each.lines:
                lines[each.row : each.row + len(now)] = self.margin(now, self.bar, self.bar_style)
                self._hung[place] = each._replace(lines=now)
        return True

    def text(self) -> str:
        return self.message.text


class ThoughtBlock(AgentBlock):
    """A thought: one line, or all of it when it is opened."""

    gap = 1
    bar = "┊"

    def __init__(self, message: Message, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(message, setting, is_open)
        self.style = setting.look.dim + Style(italic=True)
        self.speaker = "Thought:" if is_open else ""  # a folded one says so in its line

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
