"""What version 2 says about the messages around its own: ids, errors, taking a request back, extensions."""

from __future__ import annotations

from typing import Any, Union

from accord.schema.common.ids import SessionId
from accord.schema.common.numbers import Int32, Int64, ProtocolVersion
from accord.schema.shape import UNSET, Message

RequestId = Union[Int64, str]
"""What a request is called. Never null in this version."""

ErrorCode = Int32
"""A JSON-RPC error code: one of JSON-RPC itself, one of the protocol, or somebody's own."""

ErrorData = Any
"""What a failure tells beyond its words: one of the two shapes below, or whatever the sender likes."""

ExtRequest = Any
ExtResponse = Any
ExtNotification = Any


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


class CancelRequestNotification(Message):
    """Tells that the sender no longer needs the answer to one of its own requests; it is still answered."""

    request_id: RequestId
