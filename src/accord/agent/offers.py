"""What the client at the other end offers, whichever version told it."""

from __future__ import annotations

from typing import Any

from accord.errors import CapabilityError
from accord.model.noun import Noun
from accord.model.requests import Implementation


class ClientOffers(Noun):
    """What an agent may use of its client. All of it may be missing."""

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
        """Raises `CapabilityError` when the client did not offer this."""
        if not getattr(self, name):
            who = self.info.name if self.info else "the client"
            raise CapabilityError(f"{who} did not offer {what}; nothing was sent")
