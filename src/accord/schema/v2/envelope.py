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
    """Describes why a request failed."""

    code: ErrorCode
    message: str
    data: ErrorData = UNSET


class UnsupportedProtocolVersionErrorData(Message):
    """The versions that an agent supports, if it doesn't support the requested one."""

    requested: ProtocolVersion
    supported: list[ProtocolVersion]


class SessionNotFoundErrorData(Message):
    """The session that doesn't exist."""

    session_id: SessionId


class CancelRequestNotification(Message):
    """Reports that the sender no longer needs the response to a request, which it still gets."""

    request_id: RequestId
