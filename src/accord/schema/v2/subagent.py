"""Sessions that work for another session, and what they say to each other."""

from __future__ import annotations

from accord.schema.common.ids import MessageId, SessionId
from accord.schema.common.session import SubagentSessionCapabilities
from accord.schema.shape import UNSET, Filtered, Message, Patch, Strict
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.state import StateSnapshot
from accord.schema.v2.values import AbsolutePath


class SubagentUpdate(Message, tag_field="sessionUpdate", tag="subagent_update"):
    """Names a session that works for this one, and says what is new about it."""

    session_id: SessionId
    title: Patch[str] = UNSET
    description: Patch[str] = UNSET
    capabilities: Patch[SubagentSessionCapabilities] = UNSET
    state: Patch[StateSnapshot] = UNSET
    cwd: Strict[Patch[AbsolutePath]] = UNSET
    additional_directories: Strict[Patch[list[AbsolutePath]]] = UNSET


class SessionMessage(Message, tag_field="sessionUpdate", tag="session_message"):
    """Tells what one session said to another, and under which ids each of them keeps it."""

    message_id: MessageId
    sender_session_id: Patch[SessionId] = UNSET
    recipient_session_id: Patch[SessionId] = UNSET
    sender_message_id: Patch[MessageId] = UNSET
    recipient_message_id: Patch[MessageId] = UNSET
    content: Patch[Filtered[ContentBlock]] = UNSET


class SessionMessageChunk(Message, tag_field="sessionUpdate", tag="session_message_chunk"):
    """Adds one block to what one session says to another."""

    message_id: MessageId
    content: ContentBlock
