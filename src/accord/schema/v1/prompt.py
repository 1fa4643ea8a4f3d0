"""A turn: what the user asks, and how it ended."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionId
from accord.schema.common.update import Usage
from accord.schema.shape import UNSET, Message, Opt, Word
from accord.schema.v1.content import ContentBlock

# The schema has no other reasons, but a turn that ended for an unknown reason has still ended.
StopReason = Word[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]]


class PromptCapabilities(Message):
    """Lists what a prompt may hold besides text and links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class PromptRequest(Message):
    """Hands the agent what the user says; answered when the turn is over."""

    session_id: SessionId
    prompt: list[ContentBlock]


class PromptResponse(Message):
    """Tells why the turn ended."""

    stop_reason: StopReason
    usage: Opt[Usage] = UNSET


class CancelNotification(Message):
    """Ends the turn of a session early."""

    session_id: SessionId
