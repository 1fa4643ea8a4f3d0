"""Session updates that are the same in both versions."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from accord.schema.common.numbers import Uint64
from accord.schema.shape import UNSET, Message, Opt, Patch, Word

CompactionStatus = Word[Literal["in_progress", "completed", "failed", "cancelled"]]
NoticeSeverity = Word[Literal["info", "warning", "error"]]


class Cost(Message):
    """An amount of money, or of another unit chosen by the agent."""

    amount: float
    currency: str


class Usage(Message):
    """Token counts, for display only: they must not be added up."""

    total_tokens: Uint64
    input_tokens: Uint64
    output_tokens: Uint64
    thought_tokens: Opt[Uint64] = UNSET
    cached_read_tokens: Opt[Uint64] = UNSET
    cached_write_tokens: Opt[Uint64] = UNSET


class UsageUpdate(Message, tag_field="sessionUpdate", tag="usage_update"):
    """Reports the use of the context window, and the cost of the session."""

    used: Uint64
    size: Uint64
    cost: Patch[Cost] = UNSET


class Notice(Message, tag_field="sessionUpdate", tag="notice"):
    """A notice for the user, outside of the messages."""

    severity: NoticeSeverity
    title: Annotated[str, msgspec.Meta(min_length=1)]
    description: Opt[str] = UNSET
