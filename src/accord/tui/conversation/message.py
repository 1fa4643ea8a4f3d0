"""What somebody said or thought, as a block."""

from __future__ import annotations

import re
import time

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from accord.model.content import Audio, Image, Link, Resource, TextContent
from accord.transcript.message import Message, Piece
from accord.tui.conversation.block import Block, Setting
from accord.tui.plain import one_line, plain, size_of

SLICE = 500
"""Characters that are drawn between two looks at the clock."""
BUDGET, FAR_BUDGET = 0.005, 0.02
"""Seconds that drawing may take in one frame, and when it is far behind; the rest follows in the next."""
FAR_BEHIND = 30_000
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
        self._place = 0  # pieces that were taken whole
        self._inside = 0  # and how much of the next
        self._drawn = 0
        self._kept = 0  # lines that will not change
        self._prose: _Stream | None = None

    style: Style | None = None
    bar, bar_style = " ", None

    def drawn(self, before: list[Strip]) -> list[Strip]:
        if self._pieces is not self.message.pieces or self._place > len(self._pieces):
            self._begin()  # the message was replaced
        lines = before[: self._kept] if self._kept else self.blank()
        self._kept = len(lines)
        end = time.perf_counter() + (FAR_BUDGET if self._is_far_behind() else BUDGET)
        room = SLICE
        while self._place < len(self._pieces) and self._drawn < MOST_DRAWN:
            if room <= 0:
                if time.perf_counter() > end:
                    break
                room = SLICE
            piece = self._pieces[self._place]
            if not isinstance(piece, (str, TextContent)):
                lines += self._finish()
                lines += self.margin([named(piece, self)], self.bar, self.bar_style)
                self._kept = len(lines)
                self._place += 1
                continue
            text = piece if isinstance(piece, str) else piece.text
            some = text[self._inside : self._inside + room]
            self._feed(some)
            room -= len(some)
            if room <= 0 and self._prose is not None:
                _ = self._prose.tail  # so that the clock knows what it took
            self._inside += len(some)
            self._drawn += len(some)
            if self._inside >= len(text):
                self._place, self._inside = self._place + 1, 0
        self.behind = self._drawn < MOST_DRAWN and self._place < len(self._pieces)
        if self._prose is not None:
            lines += self.margin(self._prose.new_settled(), self.bar, self.bar_style)
            self._kept = len(lines)
            lines += self.margin(self._prose.tail, self.bar, self.bar_style)
        if self._drawn >= MOST_DRAWN:
            rest = sum(len(piece) for piece in self._pieces if isinstance(piece, str)) - self._drawn
            note = f"… and {size_of(max(rest, 0))} more; e opens all of it in your editor"
            lines += self.margin([self.look.line((note, self.look.warn))])
        return lines

    def _is_far_behind(self) -> bool:
        waiting = 0
        for place in range(self._place, len(self._pieces)):
            piece = self._pieces[place]
            waiting += len(piece) if isinstance(piece, str) else 0
            if waiting > FAR_BEHIND:
                return True
        return False

    def _feed(self, text: str) -> None:
        if self._prose is None:
            self._prose = _Stream(self)
        self._prose.feed(plain(text.replace("\r", "")))

    def _finish(self) -> list[Strip]:
        """The lines of the text so far, which something else follows."""
        prose, self._prose = self._prose, None
        return self.margin([*prose.new_settled(), *prose.tail], self.bar, self.bar_style) if prose else []

    def text(self) -> str:
        return self.message.text


class _Stream:
    """Markdown that grows, and which of its settled lines were taken already."""

    def __init__(self, block: AgentBlock) -> None:
        from accord.tui.conversation.markdown import Prose  # here: Markdown is not needed for the first screen

        self._prose = Prose(block.look, block.width, block.style)
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
            return "↗", piece.title or piece.name, ", ".join(filter(None, [one_line(piece.uri, 120), size]))
        case Resource():
            held = piece.resource
            length = len(held.text) if held.text is not None else len(held.blob or "") * 3 / 4
            return "▤", _last_part(held.uri) or held.uri, ", ".join(filter(None, [held.mime_type, size_of(length)]))
        case _:
            return "?", f"content of a kind that is not known here ({getattr(piece, 'type', '?')})", ""


def _last_part(uri: str | None) -> str:
    return re.split(r"[/\\]", uri.rstrip("/"))[-1] if uri else ""
