"""Creating, listing and reopening sessions."""

from __future__ import annotations

import msgspec

from accord.schema.common.ids import SessionId
from accord.schema.common.session import (
    SessionAdditionalDirectoriesCapabilities,
    SessionArchiveCapabilities,
    SessionArchiveFilter,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionStatus,
    SessionStatusCapabilities,
    SessionSystemPromptCapabilities,
    SessionTitleCapabilities,
    SystemPromptMode,
)
from accord.schema.shape import UNSET, Emptied, Expected, Filtered, Message, NullIsEmpty, Opt, Strict
from accord.schema.v1.config import SessionConfigOption
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.mcp import McpServer
from accord.schema.v1.mode import SessionModeState
from accord.schema.v1.model import SessionModelState


class SessionListCapabilities(Message):
    """Declares that the agent can list its sessions."""


class SessionResumeCapabilities(Message):
    """Declares that the agent can resume a session without replaying its history."""


class SessionCloseCapabilities(Message):
    """Declares that a session can be closed."""


class SessionCapabilities(Message):
    """Lists the agent's capabilities for sessions."""

    list: Opt[SessionListCapabilities] = UNSET
    delete: Opt[SessionDeleteCapabilities] = UNSET
    additional_directories: Opt[SessionAdditionalDirectoriesCapabilities] = UNSET
    system_prompt: Opt[SessionSystemPromptCapabilities] = UNSET
    fork: Opt[SessionForkCapabilities] = UNSET
    archive: Opt[SessionArchiveCapabilities] = UNSET
    status: Opt[SessionStatusCapabilities] = UNSET
    title: Opt[SessionTitleCapabilities] = UNSET
    resume: Opt[SessionResumeCapabilities] = UNSET
    close: Opt[SessionCloseCapabilities] = UNSET


class SystemPrompt(Message):
    """Text that extends or replaces the agent's system prompt."""

    mode: SystemPromptMode
    content: list[ContentBlock]


def _no_servers() -> list[McpServer]:
    """Return a default that is encoded anyway: msgspec omits only plain defaults."""
    return []


# Additional directories may be sent only to an agent that supports them, so an empty list is omitted.
class NewSessionRequest(Message, omit_defaults=True):
    """Starts a session in a directory."""

    cwd: str
    additional_directories: NullIsEmpty[list[str]] = []
    mcp_servers: Expected[NullIsEmpty[list[McpServer]]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class NewSessionResponse(Message):
    """Responds with the new session's id and its options."""

    session_id: SessionId
    modes: Opt[SessionModeState] = UNSET
    config_options: Opt[Filtered[SessionConfigOption]] = UNSET
    models: Opt[SessionModelState] = UNSET


class LoadSessionRequest(Message, omit_defaults=True):
    """Opens a stored session; its history is replayed as updates before the response."""

    mcp_servers: Expected[NullIsEmpty[list[McpServer]]] = msgspec.field(default_factory=_no_servers)
    cwd: str
    additional_directories: NullIsEmpty[list[str]] = []
    session_id: SessionId
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class LoadSessionResponse(Message):
    """The session is open, and its history has been replayed."""

    modes: Opt[SessionModeState] = UNSET
    config_options: Opt[Filtered[SessionConfigOption]] = UNSET
    models: Opt[SessionModelState] = UNSET


class ResumeSessionRequest(Message, omit_defaults=True):
    """Opens a stored session without replaying its history."""

    session_id: SessionId
    cwd: str
    additional_directories: NullIsEmpty[list[str]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ResumeSessionResponse(Message):
    """The session is open."""

    modes: Opt[SessionModeState] = UNSET
    config_options: Opt[Filtered[SessionConfigOption]] = UNSET
    models: Opt[SessionModelState] = UNSET


class ForkSessionRequest(Message, omit_defaults=True):
    """Creates a new session with a copy of another one's history."""

    session_id: SessionId
    cwd: str
    additional_directories: NullIsEmpty[list[str]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ForkSessionResponse(Message):
    """Responds with the new session's id and its options."""

    session_id: SessionId
    modes: Opt[SessionModeState] = UNSET
    config_options: Opt[Filtered[SessionConfigOption]] = UNSET
    models: Opt[SessionModelState] = UNSET


class ListSessionsRequest(Message):
    """Requests a page of the known sessions."""

    cwd: Strict[Opt[str]] = UNSET
    cursor: Strict[Opt[str]] = UNSET
    archived: Strict[Opt[SessionArchiveFilter]] = UNSET


class SessionInfo(Message):
    """Describes a session in a list."""

    session_id: SessionId
    cwd: str
    additional_directories: Filtered[str] = []
    title: Opt[str] = UNSET
    updated_at: Opt[str] = UNSET
    archived: Opt[bool] = UNSET


class ListSessionsResponse(Message):
    """A page of sessions, and the cursor of the next one, if any."""

    sessions: Emptied[Filtered[SessionInfo]]
    next_cursor: Opt[str] = UNSET


class SessionStatusResponse(Message):
    """Reports whether a session is open or only saved."""

    status: SessionStatus
