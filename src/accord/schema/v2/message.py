"""Messages of a conversation, whole or piece by piece.

Each kind of message has separate ids. A whole message replaces the content of its id; a chunk adds one block."""

from __future__ import annotations

from accord.schema.common.ids import MessageId
from accord.schema.shape import UNSET, Filtered, Message, Patch
from accord.schema.v2.content import ContentBlock


class ContentChunk(Message):
    """Appends a block to a message; a new id starts a new message."""

    message_id: MessageId
    content: ContentBlock


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A chunk of a user message."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A chunk of an agent message."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A chunk of the agent's thoughts."""


class UserMessage(Message, tag_field="sessionUpdate", tag="user_message"):
    """A whole user message, as the agent received it."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET


class AgentMessage(Message, tag_field="sessionUpdate", tag="agent_message"):
    """A whole message of the agent."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET


class AgentThought(Message, tag_field="sessionUpdate", tag="agent_thought"):
    """A whole thought of the agent."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET
