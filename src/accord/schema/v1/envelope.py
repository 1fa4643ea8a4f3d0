"""JSON-RPC parts of version 1: ids, errors, cancellation, extensions."""

from __future__ import annotations

from typing import Any, Union

from accord.schema.common.numbers import Int32, Int64
from accord.schema.shape import UNSET, Message

RequestId = Union[Int64, str, None]
ErrorCode = Int32

ExtRequest = Any
ExtResponse = Any
ExtNotification = Any


class Error(Message):
    """Describes why a request failed."""

    code: ErrorCode
    message: str
    data: Any = UNSET


class CancelRequestNotification(Message):
    """Asks the peer to stop working on a request, which still gets a response."""

    request_id: RequestId
