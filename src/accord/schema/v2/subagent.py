"""Subagents: sessions that work for another session, and the messages between them."""

from __future__ import annotations

from accord.schema.common.ids import MessageId, SessionId
from accord.schema.common.session import SubagentSessionCapabilities
from accord.schema.shape import UNSET, Filtered, Message, Patch, Strict
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.state import StateSnapshot
from accord.schema.v2.values import AbsolutePath


class SubagentUpdate(Message, tag_field="sessionUpdate", tag="subagent_update"):
    """Announces a subagent, or changes some of its fields."""

    session_id: SessionId
    title: Patch[str] = UNSET
    description: Patch[str] = UNSET
    capabilities: Patch[SubagentSessionCapabilities] = UNSET
    state: Patch[StateSnapshot] = UNSET
    cwd: Strict[Patch[AbsolutePath]] = UNSET
    additional_directories: Strict[Patch[list[AbsolutePath]]] = UNSET


class SessionMessage(Message, tag_field="sessionUpdate", tag="session_message"):
    """A message from one session to another, and its ids in each of them."""

    message_id: MessageId
    sender_session_id: Patch[SessionId] = UNSET
    recipient_session_id: Patch[SessionId] = UNSET
    sender_message_id: Patch[MessageId] = UNSET
    recipient_message_id: Patch[MessageId] = UNSET
    content: Patch[Filtered[ContentBlock]] = UNSET


class SessionMessageChunk(Message, tag_field="sessionUpdate", tag="session_message_chunk"):
    """Appends a block to a message between sessions."""

    message_id: MessageId
    content: ContentBlock
