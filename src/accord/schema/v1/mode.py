"""The modes an agent can work in."""

from __future__ import annotations

from typing import ClassVar

from accord.schema.common.ids import SessionId
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt

SessionModeId = str


class SessionMode(Message):
    """One way of working."""

    id: SessionModeId
    name: str
    description: Opt[str] = UNSET


class SessionModeState(Message):
    """Lists the modes of a session and names the one it is in."""

    current_mode_id: SessionModeId
    available_modes: Emptied[Filtered[SessionMode]]


class SetSessionModeRequest(Message):
    """Puts a session into another mode."""

    session_id: SessionId
    mode_id: SessionModeId


class SetSessionModeResponse(Message):
    """The mode is set."""


class CurrentModeUpdate(Message, tag_field="sessionUpdate", tag="current_mode_update"):
    """Tells that the session is in another mode now."""

    OLDER: ClassVar[dict[str, str]] = {"modeId": "currentModeId"}

    current_mode_id: SessionModeId
