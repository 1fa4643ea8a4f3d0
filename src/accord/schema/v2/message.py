"""Messages of a conversation, whole or piece by piece.

Each kind of message has separate ids. A whole message replaces the content of its id; a chunk adds one block."""

from __future__ import annotations

from accord.schema.common.ids import MessageId
from accord.schema.shape import UNSET, Filtered, Message, Patch
from accord.schema.v2.content import ContentBlock


class ContentChunk(Message):
    """Adds one block to the end of a message; a new id begins a new message."""

    message_id: MessageId
    content: ContentBlock


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """Adds to what the user said."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """Adds to what the agent says."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """Adds to what the agent thinks."""


class UserMessage(Message, tag_field="sessionUpdate", tag="user_message"):
    """Tells what the user said, as the agent took it."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET


class AgentMessage(Message, tag_field="sessionUpdate", tag="agent_message"):
    """Tells all of what the agent said in one message."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET


class AgentThought(Message, tag_field="sessionUpdate", tag="agent_thought"):
    """Tells all of one thought of the agent."""

    message_id: MessageId
    content: Patch[Filtered[ContentBlock]] = UNSET
