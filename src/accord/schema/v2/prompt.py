"""Saying something to the agent."""

from __future__ import annotations

from typing import Annotated

import msgspec

from accord.schema.common.ids import MessageId, SessionId
from accord.schema.shape import UNSET, Former, Message
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.state import StopReason


class PromptRequest(Message):
    """Gives the agent something to do."""

    session_id: SessionId
    prompt: Annotated[list[ContentBlock], msgspec.Meta(min_length=1)]


class PromptResponse(Message):
    """The prompt is part of the conversation now, under this id. When the work ends is told by the session's state.

    Agents of older drafts told no id here: it is empty then, and the echo of the message brings it. The first draft
    answered at the end of the work, with its `stop_reason`."""

    message_id: MessageId
    stop_reason: Former[StopReason] = UNSET
