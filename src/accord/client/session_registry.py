"""The sessions that are open with one agent: created, reopened, forked, adopted from subagents, and ended."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from accord.client.arguments import (
    Directory,
    check_directories,
    check_directory,
    check_mcp_servers,
    check_session_id,
)
from accord.client.early_updates import EarlyUpdates
from accord.client.offered_servers import ClientSetup, OfferedServers, ServerLike, as_source
from accord.client.session import Session
from accord.errors import CapabilityError, InvalidParams, NotFound
from accord.model.requests import McpServer, SessionSetup, SystemPrompt
from accord.model.session import Subagent
from accord.model.values import path

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class SessionRegistry:
    """The sessions of one connected agent."""

    def __init__(self, agent: ConnectedAgent, mcp_servers: Sequence[ServerLike]) -> None:
        self.open: dict[str, Session] = {}
        self.archived: set[str] = set()
        """Ids of sessions known to be archived."""
        self.mcp_servers: list[ServerLike] = list(mcp_servers)
        """The servers of sessions that aren't given their own."""
        self.servers: OfferedServers = OfferedServers(agent)
        """The servers that run here, for the open sessions."""
        self.early: EarlyUpdates = EarlyUpdates()
        self._agent = agent
        self._children: dict[Session, list[Session]] = {}

    def find(self, id: str) -> Session:
        """Return the open session that a request of the agent names. Raises `NotFound` if there is none."""
        session = self.open.get(id)
        if session is None:
            raise NotFound(f"this client has no session {id[:80]!r}", data={"sessionId": id})
        return session

    def receive(self, params: Any) -> None:
        """Pass an update on to its session, or buffer it if a pending response may name that session."""
        session = self.open.get(params.session_id)
        size = self._agent.connection.message_size
        if session is not None:
            session.receive(params.update, size)
        else:
            self.early.add(params.session_id, params.update, size)

    def end_all(self, error: Exception) -> None:
        """End every session."""
        for session in list(self.open.values()):
            session.end(error)

    # -- creating and reopening

    async def create(self, setup: ClientSetup) -> Session:
        """Create a session."""
        return await self._begin(setup, lambda made: self._agent.dialect.new_session(setup, made))

    async def fork(self, id: str, setup: ClientSetup) -> Session:
        """Create a session with the history of another one."""
        check_session_id(id)
        return await self._begin(setup, lambda made: self._agent.dialect.fork_session(id, setup, made))

    async def _begin(self, setup: ClientSetup, ask: Callable[[Callable[[str, Any], None]], Awaitable[None]]) -> Session:
        made: list[Session] = []

        async def attempt() -> None:
            async with self.servers.declared(setup) as declared:
                with self.early.buffering():
                    await ask(lambda id, answer: made.append(self._register(id, setup, answer)))
                declared.keep(made[0].id)

        await self._agent.logins.retry_after_login(attempt)
        return made[0]

    def _register(self, id: str, setup: SessionSetup, answer: Any) -> Session:
        """Add a session. Updates that came before its response are applied first, in order."""
        session = self.open[id] = self._make(id, setup)
        for update in self.early.take(id):
            session.receive(update, 0)
        session.response_meta = answer.meta or None
        self._agent.dialect.apply_opened(session, answer)
        if session.transcript.state == "unknown":
            session.transcript.set_state("idle")  # unless an early update has set another state
        return session

    async def reopen(self, id: str, setup: ClientSetup, *, replay: bool) -> Session:
        """Open a stored session, reading its history into the transcript if `replay` is true."""
        check_session_id(id)
        if id in self.archived:  # agents may refuse to open archived sessions
            await self._agent.unarchive_session(id)
        known = self.open.get(id)
        session = self.open[id] = known or self._make(id, setup)
        if known is not None and replay:
            session.transcript.clear()
        session.transcript.replaying = replay

        def on_opened(answer: Any) -> None:
            session.transcript.replaying = False
            session.response_meta = answer.meta or None
            self._agent.dialect.apply_opened(session, answer)

        async def attempt() -> None:
            async with self.servers.declared(setup) as declared:
                await self._agent.dialect.open_session(id, setup, replay=replay, then=on_opened)
                declared.keep(id)

        try:
            await self._agent.logins.retry_after_login(attempt)
        except BaseException:
            session.transcript.replaying = False
            if known is None:
                session.end(None)
            raise
        return session

    def _make(self, id: str, setup: SessionSetup) -> Session:
        session = Session(self._agent, id, setup.cwd)
        session.transcript.additional_directories = setup.directories
        return session

    # -- subagents

    def adopt(self, child: Subagent, parent: Session) -> None:
        """Create the session of a subagent, so that its updates are received from now on."""
        if child.session_id in self.open:
            return
        cwd, directories = parent.transcript.roots_of(child.session_id)
        session = self.open[child.session_id] = Session(self._agent, child.session_id, cwd or parent.cwd, parent=parent)
        session.transcript.additional_directories = directories
        self._children.setdefault(parent, []).append(session)

    def forget(self, session: Session, error: BaseException | None) -> None:
        """Remove a session that has ended, and end those of its subagents."""
        if self.open.get(session.id) is session:
            del self.open[session.id]
        if session.parent is not None and session in (siblings := self._children.get(session.parent, [])):
            siblings.remove(session)
        for child in self._children.pop(session, ()):
            child.end(error)
        self.servers.release(session.id)
        self._agent.dialect.session_ended(session)

    def end(self, id: str) -> None:
        """End a session that was closed, deleted or archived by id."""
        session = self.open.get(id)
        if session is not None:
            session.end(None)

    # -- the setup of a session

    def setup(
        self,
        cwd: Directory | None,
        mcp_servers: Sequence[ServerLike] | None,
        additional_directories: Sequence[Directory],
        system_prompt: SystemPrompt | str | None,
        meta: dict[str, Any] | None,
    ) -> ClientSetup:
        """Check the setup of a session. Raises `CapabilityError` for anything that the agent doesn't support."""
        offers = self._agent.offers
        where = self._agent.cwd if cwd is None else os.path.abspath(check_directory("cwd", cwd))
        path("cwd", where)
        check_directories("additional_directories", additional_directories)
        if mcp_servers is not None:
            check_mcp_servers(mcp_servers)
        directories: list[str] = []
        for directory in [os.path.abspath(each) for each in additional_directories]:
            path("additional_directories", directory)
            if directory != where and directory not in directories:
                directories.append(directory)
        if directories:
            offers.need("additional_directories", "additional directories")
        servers = [as_source(each) for each in (self.mcp_servers if mcp_servers is None else mcp_servers)]
        for server in servers:
            if not isinstance(server, McpServer):
                self.servers.check(server)
                continue
            if server.transport not in offers.mcp:
                raise CapabilityError(
                    f"the agent cannot reach MCP server {server.name!r} over {server.transport}; nothing was sent"
                )
            if server.transport == "stdio" and not os.path.isabs(server.command):
                raise InvalidParams(
                    f"MCP server {server.name!r}: the command is {server.command!r}; it must be an absolute path "
                    "(shutil.which finds it)"
                )
        return ClientSetup(where, directories, servers, meta, self._system_prompt(system_prompt))

    def _system_prompt(self, wanted: SystemPrompt | str | None) -> SystemPrompt | None:
        if wanted is None:
            return None
        self._agent.need_unstable("system_prompt")
        prompt = SystemPrompt(text=wanted) if isinstance(wanted, str) else wanted
        self._agent.offers.need("system_prompt", "system prompts")
        if prompt.mode != "append" and prompt.mode not in self._agent.offers.system_prompt_modes:
            raise CapabilityError(f"the agent doesn't support system prompts in mode {prompt.mode!r}; nothing was sent")
        return prompt
