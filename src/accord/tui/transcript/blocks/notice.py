"""Blocks for notices, and for compactions of the context."""

from __future__ import annotations

from rich.text import Text
from textual.strip import Strip

from accord.model.content import text_of
from accord.model.session import NO_MODEL, Compaction, Notice
from accord.terminal_text import one_line, sanitize
from accord.transcript.snapshot import TimelineItem
from accord.tui.transcript.blocks.base import Block, BlockContext

_ICONS = {"info": "•", "warning": "!", "error": "✗"}
_MAX_LENGTH = 4000


def is_hidden(item: TimelineItem) -> bool:
    """Return whether an item isn't shown: the built-in agent says that there is no model, but so does the welcome."""
    return isinstance(item, Notice) and (item.meta or {}).get(NO_MODEL) is True


class NoticeBlock(Block):
    """A notice: its title, and details below it."""

    def __init__(self, notice: Notice, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(context, is_open)
        self.notice = notice
        self.speaker: str = {"warning": "Warning:", "error": "Error:"}.get(notice.severity, "Note:")

    def render(self, before: list[Strip]) -> list[Strip]:
        if is_hidden(self.notice):
            return []
        text_styles, notice = self.text_styles, self.notice
        style = {"warning": text_styles.warn, "error": text_styles.bad}.get(notice.severity, text_styles.strong)
        head = f"{_ICONS.get(notice.severity, '•')} {sanitize(notice.title)[:_MAX_LENGTH]}"
        lines = text_styles.draw(Text(head, style=style), self.width)
        if notice.description:
            lines += text_styles.draw(
                Text(sanitize(notice.description)[:_MAX_LENGTH], style=text_styles.dim), self.width
            )
        is_info = notice.severity not in ("warning", "error")
        return [*self.blank(), *self.margin(lines, "▎", text_styles.dim if is_info else style)]

    def text(self) -> str:
        return "\n".join(filter(None, [self.notice.title, self.notice.description]))


class CompactionBlock(Block):
    """A compaction: one line, and the summary when open."""

    speaker = "Note:"

    def __init__(self, compaction: Compaction, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(context, is_open)
        self.compaction = compaction

    @property
    def can_open(self) -> bool:
        return bool(self.compaction.summary) and not self.is_open

    def render(self, before: list[Strip]) -> list[Strip]:
        text_styles, compaction = self.text_styles, self.compaction
        words = {
            "in_progress": "compacting the context…",
            "completed": "context compacted",
            "failed": f"couldn't compact the context: {one_line(compaction.error or 'no reason given')}",
        }.get(compaction.status, f"compacting the context: {one_line(compaction.status)}")
        style = text_styles.bad if compaction.status == "failed" else text_styles.dim
        lines = [text_styles.line(("• ", text_styles.dim), (one_line(words, self.width), style))]
        if self.is_open:
            lines += text_styles.draw(
                Text(sanitize(text_of(compaction.summary))[:_MAX_LENGTH], style=text_styles.dim), self.width
            )
        return [*self.blank(), *self.margin(lines)]

    def text(self) -> str:
        return text_of(self.compaction.summary)
