"""Limits of a connection: message sizes, buffers and deadlines."""

from __future__ import annotations

from typing import Literal

import msgspec

from accord.schema.constructor import ConstructorType
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES


class Limits(msgspec.Struct, metaclass=ConstructorType, frozen=True, kw_only=True):
    """Sizes in bytes. The defaults suit a desktop; a server lowers them."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    """A longer message is skipped and reported, and the connection continues."""
    max_pending_bytes: int = 16 * 1024 * 1024
    """Reading pauses while more than this has been received but not delivered."""
    max_waiting_bytes: int = 512 * 1024 * 1024
    """While one of our requests is open, reading continues up to this limit. Then the request fails."""
    batches: Literal["accept", "reject"] = "accept"
    """Whether batches (several messages in one line) are accepted, or rejected with one error. Batches are never
    sent."""


class Deadline(msgspec.Struct, frozen=True, cache_hash=True):
    """The time limit of a stage."""

    stage: str
    seconds: float
