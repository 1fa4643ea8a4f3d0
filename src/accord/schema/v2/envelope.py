"""JSON-RPC parts of version 2: ids, errors, cancellation, extensions."""

from __future__ import annotations

from typing import Any, Union

from accord.schema.common.ids import SessionId
from accord.schema.common.numbers import Int32, Int64, ProtocolVersion
from accord.schema.shape import UNSET, Message

RequestId = Union[Int64, str]
"""The id of a request. Never null in this version."""

ErrorCode = Int32
"""A JSON-RPC error code: one of JSON-RPC itself, one of the protocol, or a custom one."""

ErrorData = Any
"""Additional data of an error: one of the two types below, or any other value."""

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
    """The session that doesn't exist."""

    session_id: SessionId


class CancelRequestNotification(Message):
    """Tells that the sender no longer needs the answer to one of its own requests; it is still answered."""

    request_id: RequestId
