"""Creating, listing, resuming and copying sessions."""

from __future__ import annotations

import msgspec

from accord.schema.common.ids import SessionId
from accord.schema.common.session import SessionArchiveFilter, SessionStatus, SystemPromptMode
from accord.schema.shape import (
    UNSET,
    Emptied,
    Filtered,
    Message,
    NullIsEmpty,
    Open,
    Opt,
    Patch,
    Strict,
    UnsetType,
)
from accord.schema.v2.command import AvailableCommand
from accord.schema.v2.config import SessionConfigOption
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.mcp import McpServer
from accord.schema.v2.state import StateSnapshot
from accord.schema.v2.values import AbsolutePath, Moment, SessionListCursor


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

    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class NewSessionResponse(Message):
    """Responds with the new session's id, options and commands."""

    session_id: SessionId
    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ReplayFromStart(Message, tag_field="type", tag="start"):
    """Replays the whole history."""


ReplayFrom = Open[ReplayFromStart]


class ResumeSessionRequest(Message, omit_defaults=True):
    """Resumes a stored session. With `replay_from`, its history is replayed before the response."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    replay_from: Strict[Opt[ReplayFrom]] = UNSET
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ResumeSessionResponse(Message):
    """The session is open again. Includes its options and commands."""

    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ForkSessionRequest(Message, omit_defaults=True):
    """Creates a new session with a copy of another one's history."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ForkSessionResponse(Message):
    """Responds with the new session's id, options and commands. The session is open."""

    session_id: SessionId
    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ListSessionsRequest(Message):
    """Requests a page of the stored sessions: those of one directory, or all."""

    cwd: Strict[Opt[AbsolutePath]] = UNSET
    cursor: Strict[Opt[SessionListCursor]] = UNSET
    archived: Strict[Opt[SessionArchiveFilter]] = UNSET


class SessionInfo(Message):
    """Describes a stored session."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    title: Opt[str] = UNSET
    updated_at: Opt[Moment] = UNSET
    archived: Opt[bool] = UNSET


class ListSessionsResponse(Message):
    """Lists sessions; if `next_cursor` is present, there are more."""

    sessions: Emptied[Filtered[SessionInfo]]
    next_cursor: Strict[Opt[SessionListCursor]] = UNSET


class SessionInfoUpdate(Message, tag_field="sessionUpdate", tag="session_info_update"):
    """Changes the session's entry in lists."""

    title: Patch[str] = UNSET
    updated_at: Patch[Moment] = UNSET


class SessionStatusResponse(Message):
    """Reports whether a session is open or only saved, and the state of an open one."""

    status: SessionStatus
    state: Opt[StateSnapshot] = UNSET


class CancelSessionNotification(Message):
    """Cancels the running work and the queued prompts of a session."""

    session_id: SessionId
