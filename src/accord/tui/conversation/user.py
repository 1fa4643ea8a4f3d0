"""What the user said, as a block."""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip

from accord.model.content import TextContent
from accord.transcript.message import Message
from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.long import MOST_DRAWN
from accord.tui.conversation.named import shown
from accord.tui.plain import plain

_MOST_TYPED = 24_000
_MOST_LINES = 30
"""Lines of the user's own words that are shown unasked."""


class UserBlock(Block):
    """The user's own words, as they were typed."""

    speaker = "You:"

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
        first = rows[:_MOST_LINES] if self._is_cut else rows
        body = look.draw(Text("\n".join(first)[:_MOST_TYPED]), self.width, look.said)
        if self._is_cut:
            body.append(look.line((f"… and {len(rows) - _MOST_LINES} lines more", look.dim)))
        for piece in self.message.pieces:
            if not isinstance(piece, (str, TextContent)):
                body += shown(piece, self)
        style = look.base + look.said
        padded = [line.extend_cell_length(self.width, style) for line in body]
        return [*self.blank(), *self.margin(padded, "▌", look.primary)]

    def text(self) -> str:
        return self.message.text
