"""Taking a request back."""

from __future__ import annotations

from accord.schema.shape import Message
from accord.schema.v2.values import RequestId


class CancelRequestNotification(Message):
    """Tells that the sender no longer needs the answer to one of its own requests."""

    request_id: RequestId
