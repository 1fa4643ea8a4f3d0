"""The MCP servers of a session: those passed to the agent, and the status of each from the agent's notices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from accord.model.mcp_status import McpServerStatus
from accord.model.requests import McpServer
from accord.model.session import Notice
from accord.transcript.transcript import Transcript

_STATES: dict[str, Literal["connected", "failed", "starting"]] = {
    "starting": "starting",
    "connected": "connected",
    "failed": "failed",
    "lost": "failed",
    "closed": "failed",
    "skipped": "failed",
}


class McpServerView(NamedTuple):
    """A server and its known status."""

    name: str
    state: Literal["given", "starting", "connected", "failed"]
    """`given` if the agent reported nothing about it."""
    detail: str = ""
    server: McpServer | None = None
    """None for a server that the client didn't pass to the agent."""


class McpServers:
    """Collects the status of servers from a transcript. Each call of `list` reads only the new part of it."""

    def __init__(self) -> None:
        self._transcript: Transcript | None = None
        self._read = 0
        self._statuses: dict[str, McpServerStatus] = {}

    def list(self, transcript: Transcript | None, given: Iterable[McpServer]) -> list[McpServerView]:
        """Return the servers given to the agent, then others that notices mention."""
        self._read_new(transcript)
        servers = {server.name: server for server in given}
        return [self._view(name, servers.get(name)) for name in dict.fromkeys([*servers, *self._statuses])]

    def _view(self, name: str, server: McpServer | None) -> McpServerView:
        status = self._statuses.get(name)
        if status is None:
            return McpServerView(name, "given", "", server)
        return McpServerView(name, _STATES[status.state], status.detail, server)

    def _read_new(self, transcript: Transcript | None) -> None:
        if transcript is None:
            return
        if transcript is not self._transcript or len(transcript.timeline) < self._read:
            self._transcript, self._read, self._statuses = transcript, 0, {}
        for item in transcript.timeline[self._read :]:
            if isinstance(item, Notice) and (status := McpServerStatus.from_meta(item.meta)) is not None:
                self._statuses[status.name] = status
        self._read = len(transcript.timeline)
