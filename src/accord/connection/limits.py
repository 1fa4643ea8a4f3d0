"""What a connection takes, how much it may keep, and how long it may wait."""

from __future__ import annotations

from typing import Literal

import msgspec

from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes in bytes. The defaults suit a desktop; a server lowers them."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    """A longer message is skipped and reported, and the connection goes on."""
    max_pending_bytes: int = 16 * 1024 * 1024
    """Past this much received and not yet delivered, reading pauses."""
    max_waiting_bytes: int = 512 * 1024 * 1024
    """While one of our own calls awaits its answer reading goes on, up to here; then that call fails."""
    batches: Literal["accept", "reject"] = "accept"
    """Whether several messages in one line are read, or refused with a single error. None is ever sent."""


class Deadline(msgspec.Struct, frozen=True, cache_hash=True):
    """A wait for a machine: what it is called, and how many seconds it may take."""

    stage: str
    seconds: float
