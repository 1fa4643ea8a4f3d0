"""Session updates, which an agent sends while it works."""

from __future__ import annotations

from typing import Union

from accord.schema.common.ids import CompactionId, MessageId, SessionId
from accord.schema.common.plan import PlanRemoved
from accord.schema.common.update import CompactionStatus, Notice, UsageUpdate
from accord.schema.shape import UNSET, Filtered, Message, Open, Opt, Patch
from accord.schema.v1.command import AvailableCommandsUpdate
from accord.schema.v1.config import ConfigOptionUpdate
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.mode import CurrentModeUpdate
from accord.schema.v1.plan import Plan, PlanUpdate
from accord.schema.v1.subagent import SessionMessage, SessionMessageChunk, SubagentUpdate
from accord.schema.v1.tool_call import ToolCall, ToolCallUpdate


class NoticeCapabilities(Message):
    """Declares that the client shows notices."""


class CompactionCapabilities(Message):
    """Declares that the client shows compactions."""


class ContentChunk(Message):
    """A chunk of a message. Chunks with the same id form one message; without ids, consecutive ones do."""

    content: ContentBlock
    message_id: Opt[MessageId] = UNSET


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A chunk of a user message."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A chunk of an agent message."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A chunk of the agent's thoughts."""


class SessionInfoUpdate(Message, tag_field="sessionUpdate", tag="session_info_update"):
    """Reports the session's title and the time of its last change."""

    title: Patch[str] = UNSET
    updated_at: Patch[str] = UNSET


class CompactionUpdate(Message, tag_field="sessionUpdate", tag="compaction_update"):
    """Reports the progress and result of compacting the context."""

    compaction_id: CompactionId
    status: CompactionStatus
    summary: Patch[Filtered[ContentBlock]] = UNSET
    error: Patch[str] = UNSET


class CompactionSummaryChunk(Message, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """A chunk of the summary that replaces the compacted messages."""

    compaction_id: CompactionId
    content: ContentBlock


# The schema is closed, but unknown variants are kept for clients that want them.
SessionUpdate = Open[
    Union[
        UserMessageChunk,
        AgentMessageChunk,
        AgentThoughtChunk,
        ToolCall,
        ToolCallUpdate,
        Plan,
        PlanUpdate,
        PlanRemoved,
        AvailableCommandsUpdate,
        CurrentModeUpdate,
        ConfigOptionUpdate,
        SessionInfoUpdate,
        UsageUpdate,
        Notice,
        CompactionUpdate,
        CompactionSummaryChunk,
        SubagentUpdate,
        SessionMessage,
        SessionMessageChunk,
    ]
]


class SessionNotification(Message):
    """Carries an update of a session."""

    session_id: SessionId
    update: SessionUpdate
