"""The modes of an agent."""

from __future__ import annotations

from typing import ClassVar

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt

SessionModeId = str


class SessionMode(Message):
    """A mode of the agent."""

    id: SessionModeId
    name: str
    description: Opt[str] = UNSET


class SessionModeState(Message):
    """The available modes of a session, and the current one."""

    current_mode_id: SessionModeId
    available_modes: Emptied[Filtered[SessionMode]]


class SetSessionModeRequest(Message):
    """Changes the mode of a session."""

    session_id: SessionId
    mode_id: SessionModeId


class SetSessionModeResponse(Message):
    """The mode has been changed."""


class CurrentModeUpdate(Message, tag_field="sessionUpdate", tag="current_mode_update"):
    """Reports that the mode of the session has changed."""

    OLDER: ClassVar[dict[str, str]] = {"modeId": "currentModeId"}

    current_mode_id: SessionModeId
