"""Sessions: what an agent can do with them, and the requests that look the same in both versions."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Message, Opt, Word

SessionArchiveFilter = Word[Literal["exclude", "include", "only"]]
SessionStatus = Word[Literal["open", "saved"]]
SystemPromptMode = Word[Literal["append", "override"]]


class SessionAdditionalDirectoriesCapabilities(Message):
    """Declares that a session may have more roots than its working directory."""


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
    """Declares that the client may name a session."""


class SessionSystemPromptOverrideCapabilities(Message):
    """Declares that the client may replace the agent's system prompt."""


class SessionSystemPromptModeCapabilities(Message):
    """The supported modes of system prompts besides `append`."""

    override: Opt[SessionSystemPromptOverrideCapabilities] = UNSET


class SessionSystemPromptCapabilities(Message):
    """Declares that the client may add to the agent's system prompt."""

    mode: Opt[SessionSystemPromptModeCapabilities] = UNSET


class SubagentSessionCapabilities(Message):
    """Lists what a client may do with the session of a subagent."""

    cancel: Opt[SessionCancelCapabilities] = UNSET


class CloseSessionRequest(Message):
    """Ends the work of a session and frees what it holds; what is stored stays."""

    session_id: SessionId


class CloseSessionResponse(Message):
    """The session is closed."""


class DeleteSessionRequest(Message):
    """Removes a stored session."""

    session_id: SessionId


class DeleteSessionResponse(Message):
    """The session is gone."""


class ArchiveSessionRequest(Message):
    """Puts a session away, out of the usual listing."""

    session_id: SessionId


class ArchiveSessionResponse(Message):
    """The session is archived."""


class UnarchiveSessionRequest(Message):
    """Brings an archived session back into the usual listing."""

    session_id: SessionId


class UnarchiveSessionResponse(Message):
    """The session is back."""


class SessionStatusRequest(Message):
    """Asks whether a session is open or only saved."""

    session_id: SessionId


class SetSessionTitleRequest(Message):
    """Gives a session a name."""

    session_id: SessionId
    title: str


class SetSessionTitleResponse(Message):
    """Tells the name that was kept, which may differ from the one asked for."""

    title: str
