"""What the agent at the other end offers, whichever version told it."""

from __future__ import annotations

from typing import Any

from accord.errors import CapabilityError
from accord.model.noun import Noun
from accord.model.requests import AuthMethod, Implementation


class AgentOffers(Noun):
    """What a client may ask of its agent. Asking for more raises `CapabilityError` before anything is sent."""

    version: int
    info: Implementation | None = None
    auth_methods: list[AuthMethod] = []
    sessions: bool = True
    load: bool = False
    resume: bool = False
    list: bool = False
    close: bool = False
    delete: bool = False
    fork: bool = False
    archive: bool = False
    status: bool = False
    title: bool = False
    logout: bool = False
    auth_status: bool = False
    providers: bool = False
    additional_directories: bool = False
    system_prompt: bool = False
    system_prompt_modes: frozenset[str] = frozenset()
    image: bool = False
    audio: bool = False
    resource: bool = False
    mcp: frozenset[str] = frozenset()
    meta: dict[str, Any] | None = None

    def need(self, name: str, what: str) -> None:
        """Raises `CapabilityError` when the agent did not offer this."""
        if not getattr(self, name):
            who = self.info.name if self.info else "the agent"
            raise CapabilityError(f"{who} did not offer {what}; nothing was sent")
