"""The client's capabilities, independent of the protocol version."""

from __future__ import annotations

from typing import Any

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
