"""Creates the block for a timeline item, and estimates its height before it is rendered.

The blocks are imported in functions: they aren't needed for the first frame."""

from __future__ import annotations

from accord.model.session import Compaction, Notice, Subagent
from accord.model.tool import ToolCall
from accord.transcript.message import Message
from accord.transcript.snapshot import TimelineItem
from accord.tui.transcript.blocks.base import Block, BlockContext

Key = tuple[str, str]
"""Identifies an item of a timeline for the life of the session."""


def key_of(item: TimelineItem, index: int) -> Key:
    """Return the key of an item. Notices have no id and never change, so their index is used."""
    if isinstance(item, Message):
        return item.role, item.id
    if isinstance(item, ToolCall):
        return "tool", item.id
    if isinstance(item, Compaction):
        return "compaction", item.id
    if isinstance(item, Subagent):
        return "subagent", item.session_id
    return "notice", str(index)


def block_for(item: TimelineItem, before: TimelineItem | None, context: BlockContext, is_open: bool | None) -> Block:
    """Create the block for an item; `before` is the item above it."""
    if isinstance(item, Message):
        from accord.tui.transcript.blocks.message import AgentBlock, ThoughtBlock, UserBlock

        kind = {"user": UserBlock, "thought": ThoughtBlock}.get(item.role, AgentBlock)
        return kind(item, context, is_open)
    if isinstance(item, ToolCall):
        from accord.tui.transcript.blocks.tool import ToolBlock

        return ToolBlock(item, context, is_open, gap=_gap_between(before, item))
    if isinstance(item, Subagent):
        from accord.tui.transcript.blocks.subagent import SubagentBlock

        return SubagentBlock(item, context, is_open)
    from accord.tui.transcript.blocks.notice import CompactionBlock, NoticeBlock

    if isinstance(item, Compaction):
        return CompactionBlock(item, context, is_open)
    assert isinstance(item, Notice)
    return NoticeBlock(item, context, is_open)


def _gap_between(before: TimelineItem | None, call: ToolCall) -> int:
    """Return the gap above a call: none between one-line calls, one line around those with a diff or output."""
    is_list = isinstance(before, ToolCall) and not _is_tall(before) and not _is_tall(call)
    return 0 if is_list else 1


def _is_tall(call: ToolCall) -> bool:
    return call.kind in ("edit", "execute") or bool(call.diffs)


def guess(item: TimelineItem, before: TimelineItem | None, width: int) -> int:
    """Estimate the lines of an item: good enough for a scroll bar, and corrected when it is rendered."""
    from accord.tui.transcript.blocks.long_text import MAX_DRAWN
    from accord.tui.transcript.blocks.notice import is_hidden

    if is_hidden(item):
        return 0
    if not isinstance(item, Message):
        return 1 if isinstance(item, ToolCall) and isinstance(before, ToolCall) else 2
    if item.role == "thought":
        return 2
    text = item.text[:MAX_DRAWN]
    return 2 + len(text) // max(width, 1) + text.count("\n")
