"""Which block draws which item, and how tall an item will be about, before it is drawn."""

from __future__ import annotations

from accord.model.session import Compaction, Notice
from accord.model.tool import ToolCall
from accord.transcript.message import Message
from accord.transcript.snapshot import TimelineItem
from accord.tui.conversation.block import Block, Setting
from accord.tui.conversation.long import MOST_DRAWN
from accord.tui.conversation.message import AgentBlock, ThoughtBlock
from accord.tui.conversation.notice import CompactionBlock, NoticeBlock
from accord.tui.conversation.subagent import Delegated, SubagentBlock
from accord.tui.conversation.tool import ToolBlock
from accord.tui.conversation.user import UserBlock

Key = tuple[str, str]
"""Names an item of a timeline, as long as the session lasts."""


def key_of(item: TimelineItem, index: int) -> Key:
    """The name of an item. Notices have none of their own and never change: their place will do."""
    if isinstance(item, Message):
        return item.role, item.id
    if isinstance(item, ToolCall):
        return "tool", item.id
    if isinstance(item, Compaction):
        return "compaction", item.id
    if isinstance(item, Delegated):
        return "subagent", item.child.session_id
    return "notice", str(index)


def block_for(item: TimelineItem, before: TimelineItem | None, setting: Setting, is_open: bool | None) -> Block:
    """The block that draws an item; `before` is the item above it."""
    if isinstance(item, Message):
        kind = {"user": UserBlock, "thought": ThoughtBlock}.get(item.role, AgentBlock)
        return kind(item, setting, is_open)
    if isinstance(item, ToolCall):
        return ToolBlock(item, setting, is_open, gap=0 if isinstance(before, ToolCall) else 1)
    if isinstance(item, Compaction):
        return CompactionBlock(item, setting, is_open)
    if isinstance(item, Delegated):
        return SubagentBlock(item.child, setting, is_open)
    assert isinstance(item, Notice)
    return NoticeBlock(item, setting, is_open)


def guess(item: TimelineItem, before: TimelineItem | None, width: int) -> int:
    """About how many lines an item takes. Good enough for a scroll bar, and corrected when it is drawn."""
    if not isinstance(item, Message):
        return 1 if isinstance(item, ToolCall) and isinstance(before, ToolCall) else 2
    if item.role == "thought":
        return 2
    text = item.text[:MOST_DRAWN]
    return 2 + len(text) // max(width, 1) + text.count("\n")
