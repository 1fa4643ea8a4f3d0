"""Subagents: sessions that an agent runs for another session, and the messages between them."""

from __future__ import annotations

from typing import Literal, Union

from accord.schema.common.ids import MessageId, SessionId
from accord.schema.common.session import SubagentSessionCapabilities
from accord.schema.common.update import Usage
from accord.schema.shape import UNSET, Filtered, Message, Open, Opt, Patch, Strict, Word
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.envelope import Error


class SubagentCapabilities(Message):
    """Declares that the client shows subagents."""


class RunningStateUpdate(Message, tag_field="state", tag="running"):
    """The session is running."""


class ErrorStopReason(Message):
    """Details of the error that ended the work, for the stop reason `error` of an idle state."""

    error: Opt[Error] = UNSET


class IdleStateUpdate(ErrorStopReason, tag_field="state", tag="idle"):
    """The session waits for the next prompt. Includes the reason why the last work ended, if known."""

    usage: Opt[Usage] = UNSET
    stop_reason: Opt[Word[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]]] = (
        UNSET
    )


class RequiresActionStateUpdate(Message, tag_field="state", tag="requires_action"):
    """The session waits for the user."""


class UnknownStateUpdate(Message, tag_field="state", tag="unknown"):
    """The state of the session is unknown."""


StateUpdate = Open[Union[RunningStateUpdate, IdleStateUpdate, RequiresActionStateUpdate, UnknownStateUpdate]]


class SubagentUpdate(Message, tag_field="sessionUpdate", tag="subagent_update"):
    """Announces a subagent, or changes some of its fields."""

    session_id: SessionId
    title: Patch[str] = UNSET
    description: Patch[str] = UNSET
    capabilities: Patch[SubagentSessionCapabilities] = UNSET
    state: Patch[StateUpdate] = UNSET
    cwd: Strict[Patch[str]] = UNSET
    additional_directories: Strict[Patch[list[str]]] = UNSET


class SessionMessage(Message, tag_field="sessionUpdate", tag="session_message"):
    """A message from one session to another, or a change of some of its fields."""

    message_id: MessageId
    sender_session_id: Patch[SessionId] = UNSET
    recipient_session_id: Patch[SessionId] = UNSET
    sender_message_id: Patch[MessageId] = UNSET
    recipient_message_id: Patch[MessageId] = UNSET
    content: Patch[Filtered[ContentBlock]] = UNSET


class SessionMessageChunk(Message, tag_field="sessionUpdate", tag="session_message_chunk"):
    """A chunk of such a message."""

    message_id: MessageId
    content: ContentBlock
