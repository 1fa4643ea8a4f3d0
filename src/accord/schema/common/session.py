"""Sessions: capabilities, and the requests that are the same in both versions."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Message, Opt, Word

SessionArchiveFilter = Word[Literal["exclude", "include", "only"]]
SessionStatus = Word[Literal["open", "saved"]]
SystemPromptMode = Word[Literal["append", "override"]]


class SessionAdditionalDirectoriesCapabilities(Message):
    """Declares that a session may have directories besides its working directory."""


class SessionArchiveCapabilities(Message):
    """Declares that sessions can be archived and unarchived."""


class SessionCancelCapabilities(Message):
    """Declares that a subagent's session can be cancelled on its own."""


class SessionDeleteCapabilities(Message):
    """Declares that stored sessions can be deleted."""


class SessionForkCapabilities(Message):
    """Declares that a session can be copied into a new one."""


class SessionStatusCapabilities(Message):
    """Declares that the agent reports whether a session is open or only saved."""


class SessionTitleCapabilities(Message):
    """Declares that the client can set the title of a session."""


class SessionSystemPromptOverrideCapabilities(Message):
    """Declares that the client may replace the agent's system prompt."""


class SessionSystemPromptModeCapabilities(Message):
    """The supported modes of system prompts besides `append`."""

    override: Opt[SessionSystemPromptOverrideCapabilities] = UNSET


class SessionSystemPromptCapabilities(Message):
    """Declares that the client may extend the agent's system prompt."""

    mode: Opt[SessionSystemPromptModeCapabilities] = UNSET


class SubagentSessionCapabilities(Message):
    """Lists what a client may do with the session of a subagent."""

    cancel: Opt[SessionCancelCapabilities] = UNSET


class CloseSessionRequest(Message):
    """Ends the work of a session and releases its resources; its stored data remains."""

    session_id: SessionId


class CloseSessionResponse(Message):
    """The session has been closed."""


class DeleteSessionRequest(Message):
    """Removes a stored session."""

    session_id: SessionId


class DeleteSessionResponse(Message):
    """The session has been deleted."""


class ArchiveSessionRequest(Message):
    """Archives a session, which hides it from default lists."""

    session_id: SessionId


class ArchiveSessionResponse(Message):
    """The session has been archived."""


class UnarchiveSessionRequest(Message):
    """Unarchives a session, which shows it in default lists again."""

    session_id: SessionId


class UnarchiveSessionResponse(Message):
    """The session has been unarchived."""


class SessionStatusRequest(Message):
    """Requests whether a session is open or only saved."""

    session_id: SessionId


class SetSessionTitleRequest(Message):
    """Sets the title of a session."""

    session_id: SessionId
    title: str


class SetSessionTitleResponse(Message):
    """Reports the saved title, which may differ from the requested one."""

    title: str
