"""Sessions: beginning, finding, resuming and copying them."""

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
    """Text that the client appends to the agent's system prompt, or that replaces it."""

    mode: SystemPromptMode
    content: list[ContentBlock]


def _no_servers() -> list[McpServer]:
    """A default that is encoded nevertheless: msgspec omits only plain defaults."""
    return []


# Additional directories may be sent only to an agent that supports them, so an empty list is omitted.
class NewSessionRequest(Message, omit_defaults=True):
    """Starts a session in a directory."""

    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class NewSessionResponse(Message):
    """Names the new session, and tells what can be chosen and typed in it."""

    session_id: SessionId
    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ReplayFromStart(Message, tag_field="type", tag="start"):
    """Everything, from the beginning."""


ReplayFrom = Open[ReplayFromStart]


class ResumeSessionRequest(Message, omit_defaults=True):
    """Resume a stored session. With `replay_from`, its history is replayed before the response."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    replay_from: Strict[Opt[ReplayFrom]] = UNSET
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ResumeSessionResponse(Message):
    """The session is open again; tells what can be chosen and typed in it."""

    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ForkSessionRequest(Message, omit_defaults=True):
    """Copies a session into a new one."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    mcp_servers: NullIsEmpty[list[McpServer]] = msgspec.field(default_factory=_no_servers)
    system_prompt: Strict[Opt[SystemPrompt]] = UNSET


class ForkSessionResponse(Message):
    """Names the copy, which is open at once, and tells what can be chosen and typed in it."""

    session_id: SessionId
    config_options: Filtered[SessionConfigOption] | UnsetType = UNSET
    available_commands: Filtered[AvailableCommand] | UnsetType = UNSET


class ListSessionsRequest(Message):
    """Asks for the stored sessions, those of one directory or all, a page at a time."""

    cwd: Strict[Opt[AbsolutePath]] = UNSET
    cursor: Strict[Opt[SessionListCursor]] = UNSET
    archived: Strict[Opt[SessionArchiveFilter]] = UNSET


class SessionInfo(Message):
    """Describes one stored session."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: NullIsEmpty[list[AbsolutePath]] = []
    title: Opt[str] = UNSET
    updated_at: Opt[Moment] = UNSET
    archived: Opt[bool] = UNSET


class ListSessionsResponse(Message):
    """Lists sessions; with `next_cursor` there are more."""

    sessions: Emptied[Filtered[SessionInfo]]
    next_cursor: Strict[Opt[SessionListCursor]] = UNSET


class SessionInfoUpdate(Message, tag_field="sessionUpdate", tag="session_info_update"):
    """Changes the session's entry in lists."""

    title: Patch[str] = UNSET
    updated_at: Patch[Moment] = UNSET


class SessionStatusResponse(Message):
    """Tells whether a session is open or only saved, and when open in which state."""

    status: SessionStatus
    state: Opt[StateSnapshot] = UNSET


class CancelSessionNotification(Message):
    """Stops what a session is working on, and what was asked of it and has not begun."""

    session_id: SessionId
