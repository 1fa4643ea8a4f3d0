"""Session updates, which an agent sends while it works."""

from __future__ import annotations

from accord.schema.common.ids import CompactionId, SessionId
from accord.schema.common.plan import PlanRemoved
from accord.schema.common.update import CompactionStatus, Notice, UsageUpdate
from accord.schema.shape import UNSET, Filtered, Message, Open, Patch
from accord.schema.v2.command import AvailableCommandsUpdate
from accord.schema.v2.config import ConfigOptionUpdate
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.message import (
    AgentMessage,
    AgentMessageChunk,
    AgentThought,
    AgentThoughtChunk,
    UserMessage,
    UserMessageChunk,
)
from accord.schema.v2.plan import PlanUpdate
from accord.schema.v2.session import SessionInfoUpdate
from accord.schema.v2.state import StateUpdate
from accord.schema.v2.subagent import SessionMessage, SessionMessageChunk, SubagentUpdate
from accord.schema.v2.terminal import TerminalOutputChunk, TerminalUpdate
from accord.schema.v2.tool_call import ToolCallContentChunk, ToolCallUpdate


class CompactionUpdate(Message, tag_field="sessionUpdate", tag="compaction_update"):
    """Reports the progress and result of compacting the context."""

    compaction_id: CompactionId
    status: CompactionStatus
    summary: Patch[Filtered[ContentBlock]] = UNSET
    error: Patch[str] = UNSET


class CompactionSummaryChunk(Message, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """Appends a block to the summary of a compaction."""

    compaction_id: CompactionId
    content: ContentBlock


SessionUpdate = Open[
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | StateUpdate
    | ToolCallContentChunk
    | ToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk
]


class UpdateSessionNotification(Message):
    """Carries an update of a session."""

    session_id: SessionId
    update: SessionUpdate
