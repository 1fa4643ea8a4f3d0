"""Where a session works and with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.model.requests import McpServer, SystemPrompt


class Place:
    """Where a session works and with what: the part that new, load, resume and fork share."""

    __slots__ = ("cwd", "directories", "meta", "servers", "system_prompt")

    def __init__(
        self,
        cwd: str,
        directories: Sequence[str],
        servers: Sequence[McpServer],
        meta: dict[str, Any] | None,
        system_prompt: SystemPrompt | None = None,
    ) -> None:
        self.cwd = cwd
        self.directories = list(directories)
        self.servers = list(servers)
        self.meta = meta
        self.system_prompt = system_prompt
