"""Prompts."""

from __future__ import annotations

from typing import Annotated

import msgspec

from accord.schema.common.ids import MessageId, SessionId
from accord.schema.shape import UNSET, Former, Message
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.state import StopReason


class PromptRequest(Message):
    """Sends a prompt to the agent."""

    session_id: SessionId
    prompt: Annotated[list[ContentBlock], msgspec.Meta(min_length=1)]


class PromptResponse(Message):
    """The prompt was added to the conversation with this id. The session's state reports when the work ends.

    Agents of older drafts send no id here: then it is empty, and the echo of the message has it. The first draft
    responded at the end of the work, with its `stop_reason`."""

    message_id: MessageId
    stop_reason: Former[StopReason] = UNSET
