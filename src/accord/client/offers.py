"""The agent's capabilities, independent of the protocol version."""

from __future__ import annotations

from typing import Any

from accord.errors import CapabilityError
from accord.model.record import Record
from accord.model.requests import AuthMethod, Implementation


class AgentOffers(Record):
    """The capabilities of an agent. Using an unsupported one raises `CapabilityError` before anything is sent."""

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
    """The `_meta` of the capabilities."""
    response_meta: dict[str, Any] | None = None
    """The `_meta` of the response to `initialize`."""

    def need(self, name: str, what: str) -> None:
        """Raise `CapabilityError` if the agent doesn't have this capability."""
        if not getattr(self, name):
            who = self.info.name if self.info else "the agent"
            raise CapabilityError(f"{who} did not offer {what}; nothing was sent")
