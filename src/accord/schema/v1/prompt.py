"""Prompts, and the end of their turns."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionId
from accord.schema.common.update import Usage
from accord.schema.shape import UNSET, Message, Opt, Word
from accord.schema.v1.content import ContentBlock

# The schema has no other reasons, but a turn that ended for an unknown reason has ended too.
StopReason = Word[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]]


class PromptCapabilities(Message):
    """Lists the supported content of prompts besides text and links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class PromptRequest(Message):
    """Sends a prompt to the agent, which responds when the turn has ended."""

    session_id: SessionId
    prompt: list[ContentBlock]


class PromptResponse(Message):
    """Reports why the turn ended."""

    stop_reason: StopReason
    usage: Opt[Usage] = UNSET


class CancelNotification(Message):
    """Cancels the running turn of a session."""

    session_id: SessionId
