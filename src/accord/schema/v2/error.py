"""Failures as the protocol tells them."""

from __future__ import annotations

from typing import Any

from accord.schema.common.ids import SessionId
from accord.schema.common.numbers import Int32, ProtocolVersion
from accord.schema.shape import UNSET, Message

ErrorCode = Int32
"""A JSON-RPC error code: one of JSON-RPC itself, one of the protocol, or somebody's own."""

ErrorData = Any
"""What a failure tells beyond its words: one of the two shapes below, or whatever the sender likes."""


class Error(Message):
    """Says why something failed."""

    code: ErrorCode
    message: str
    data: ErrorData = UNSET


class UnsupportedProtocolVersionErrorData(Message):
    """Tells the versions an agent could have spoken, when it spoke none that was asked for."""

    requested: ProtocolVersion
    supported: list[ProtocolVersion]


class SessionNotFoundErrorData(Message):
    """Tells which session is not there."""

    session_id: SessionId
