"""The session of an `accord run`: a new one, the latest, or one with an ID or a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.cli.support.errors import CommandError
from accord.cli.support.named_sessions import NamedSessions
from accord.errors import RESOURCE_NOT_FOUND, RequestFailed
from accord.model.session import ONE_OFF

if TYPE_CHECKING:
    from accord.cli.run import RunOptions
    from accord.client.agent import ConnectedAgent
    from accord.client.offers import AgentOffers
    from accord.client.session import Session
    from accord.config.settings import Settings
    from accord.model.requests import McpServer
    from accord.model.session import SessionInfo


class SessionOpener:
    """Opens the session that the options of a run ask for, with the configured MCP servers."""

    def __init__(self, options: RunOptions, agent: str, settings: Settings, note: Callable[[str, str], None]) -> None:
        self._options = options
        self._agent = agent
        """The name under which named sessions are saved."""
        self._settings = settings
        self._note = note

    async def open(self, agent: ConnectedAgent) -> Session:
        """Open the session; save its ID if it has a name."""
        servers = self._servers(agent.offers)
        if self._options.name is not None:
            return await self._open_named(agent, self._options.name, servers)
        id = await self._find_newest(agent) if self._options.newest else self._options.session_id
        return await self._open(agent, id, servers)

    async def _open_named(self, agent: ConnectedAgent, name: str, servers: list[McpServer]) -> Session:
        saved = NamedSessions()
        id = saved.find(self._agent, self._options.cwd, name)
        try:
            session = await self._open(agent, id, servers)
        except RequestFailed as error:
            if id is None or error.code != RESOURCE_NOT_FOUND:
                raise
            self._note("warning", f"The session {name!r} no longer exists; this is a new one.")
            session = await self._open(agent, None, servers)
        saved.save(self._agent, self._options.cwd, name, session.id)
        return session

    async def _open(self, agent: ConnectedAgent, id: str | None, servers: list[McpServer]) -> Session:
        if id is None:
            is_one_off = self._options.name is None
            return await agent.new_session(mcp_servers=servers, meta={ONE_OFF: True} if is_one_off else None)
        if agent.offers.resume or not agent.offers.load:
            return await agent.resume_session(id, mcp_servers=servers)
        return await agent.load_session(id, mcp_servers=servers)

    async def _find_newest(self, agent: ConnectedAgent) -> str | None:
        """Return the ID of the latest session in the directory; None if there is none, with a warning."""
        if not agent.offers.list:
            raise CommandError("this agent doesn't list its sessions; continue one with --session ID")
        latest: SessionInfo | None = None
        async for info in agent.list_sessions(str(self._options.cwd)):
            # A session without a title may be empty, and belong to a client that is about to use it.
            rank = info.title is not None, info.updated_at or ""
            if latest is None or rank > (latest.title is not None, latest.updated_at or ""):
                latest = info
        if latest is None:
            self._note("warning", "There is no earlier session in this directory; this is a new one.")
            return None
        return latest.id

    def _servers(self, offers: AgentOffers) -> list[McpServer]:
        entries = dict(self._settings.mcp_servers)
        if not entries and self._options.mcp_config is None:
            return []
        from accord.config.mcp_servers import choose, read_servers

        if self._options.mcp_config is not None:
            entries |= read_servers(self._options.mcp_config)
        chosen = choose(entries, offers.mcp)
        for notice in chosen.notices:
            self._note("warning", notice.title)
        return chosen.servers
