"""What the agent, or this client, wants the user to know; and the shortening of the context."""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip

from accord.model.content import text_of
from accord.model.session import Compaction, Notice
from accord.tui.conversation.block import Block, Setting
from accord.tui.plain import one_line, plain

_ICONS = {"info": "i", "warning": "!", "error": "✗"}
_MOST = 4000


class NoticeBlock(Block):
    """A notice: its title, and below it what more there is to say."""

    def __init__(self, notice: Notice, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(setting, is_open)
        self.notice = notice
        self.speaker = {"warning": "Warning:", "error": "Error:"}.get(notice.severity, "Note:")

    def drawn(self, before: list[Strip]) -> list[Strip]:
        look, notice = self.look, self.notice
        style = {"warning": look.warn, "error": look.bad}.get(notice.severity, look.primary)
        head = f"{_ICONS.get(notice.severity, 'i')} {plain(notice.title)[:_MOST]}"
        lines = look.draw(Text(head, style=style), self.width)
        if notice.description:
            lines += look.draw(Text(plain(notice.description)[:_MOST], style=look.dim), self.width)
        return [*self.blank(), *self.margin(lines, "▎", style)]

    def text(self) -> str:
        return "\n".join(filter(None, [self.notice.title, self.notice.description]))


class CompactionBlock(Block):
    """The context was shortened: one line, and the summary when it is opened."""

    speaker = "Note:"

    def __init__(self, compaction: Compaction, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(setting, is_open)
        self.compaction = compaction

    @property
    def can_open(self) -> bool:
        return bool(self.compaction.summary) and not self.is_open

    def drawn(self, before: list[Strip]) -> list[Strip]:
        look, compaction = self.look, self.compaction
        words = {
            "in_progress": "the context is being shortened …",
            "completed": "the context was shortened",
            "failed": f"the context could not be shortened: {one_line(compaction.error or 'no reason given')}",
        }.get(compaction.status, f"shortening the context: {one_line(compaction.status)}")
        style = look.bad if compaction.status == "failed" else look.dim
        lines = [look.line(("⇲ ", look.accent), (one_line(words, self.width), style))]
        if self.is_open:
            lines += look.draw(Text(plain(text_of(compaction.summary))[:_MOST], style=look.dim), self.width)
        return [*self.blank(), *self.margin(lines)]

    def text(self) -> str:
        return text_of(self.compaction.summary)
