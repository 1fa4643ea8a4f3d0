"""Messages that a proxy forwards to its successor."""

from __future__ import annotations

from typing import Any

from accord.schema.shape import UNSET, Message, Strict


class ProxySuccessorRequest(Message):
    """Carries a request between a proxy and its successor."""

    method: str
    params: Strict[Any] = UNSET


class ProxySuccessorNotification(Message):
    """Carries a notification between a proxy and its successor."""

    method: str
    params: Strict[Any] = UNSET


ProxySuccessorResponse = Any
"""The successor's result, unchanged."""
