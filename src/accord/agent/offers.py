"""The client's capabilities, independent of the protocol version."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from accord.errors import CapabilityError
from accord.model.record import Record
from accord.model.requests import Implementation


class ClientOffers(Record):
    """The capabilities of a client. All of them are optional."""

    version: int
    info: Implementation | None = None
    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    forms: bool = False
    urls: bool = False
    terminal_login: bool = False
    boolean_options: bool = False
    notices: bool = False
    compaction: bool = False
    plans: bool = False
    subagents: bool = False
    meta: dict[str, Any] | None = None

    def need(self, name: str, what: str) -> None:
        """Raise `CapabilityError` if the client doesn't have this capability."""
        if not getattr(self, name):
            who = self.info.name if self.info else "the client"
            raise CapabilityError(f"{who} did not offer {what}; nothing was sent")


def is_present(capability: Any) -> bool:
    """Return whether a capability object is present; an empty one counts."""
    return capability is not UNSET and capability is not None


def advertise(is_supported: bool) -> Any:
    """Return the wire form of a capability: an empty object if it is supported, else absent."""
    return {} if is_supported else UNSET
