"""The sessions of a connected agent: beginning, opening again, listing, ending."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from accord.client.dialect import Dialect
from accord.client.early import Early
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.connection.dispatch import log
from accord.errors import CapabilityError, InvalidParams, NotFound
from accord.model.place import Place
from accord.model.requests import McpServer, SystemPrompt
from accord.model.session import SessionInfo, Subagent

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class Sessions(ABC):
    """What can be done with an agent's sessions."""

    dialect: Dialect
    offers: AgentOffers
    cwd: str
    mcp_servers: list[McpServer]
    sessions: dict[str, Session]
    early: Early

    @abstractmethod
    async def after_login(self, attempt: Callable[[], Awaitable[None]]) -> None: ...

    @abstractmethod
    def need_unstable(self, what: str) -> None: ...

    # -- beginning and opening

    async def new_session(
        self,
        cwd: str | None = None,
        *,
        mcp_servers: Sequence[McpServer] | None = None,
        additional_directories: Sequence[str] = (),
        system_prompt: SystemPrompt | str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Begins a session."""
        self.offers.need("sessions", "sessions")
        place = self._place(cwd, mcp_servers, additional_directories, system_prompt, meta)
        return await self._begin(place, lambda made: self.dialect.new_session(place, made))

    async def fork_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Begins a session with the history of another (unstable). Where it works is said as for a new one."""
        self.need_unstable("session/fork")
        self.offers.need("fork", "to fork sessions")
        where = self._place(cwd, **_filled(place))
        return await self._begin(where, lambda made: self.dialect.fork_session(id, where, made))

    async def _begin(self, place: Place, ask: Callable[[Callable[[str, Any], None]], Awaitable[None]]) -> Session:
        made: list[Session] = []

        async def attempt() -> None:
            with self.early.awaited():
                await ask(lambda id, answer: made.append(self._register(id, place, answer)))

        await self.after_login(attempt)
        return made[0]

    def _register(self, id: str, place: Place, answer: Any) -> Session:
        """A session is known from now on; what came for it before its answer is told first, as it came."""
        session = self.sessions[id] = self._made(id, place)
        for update in self.early.take(id):
            session.receive(update, 0)
        self.dialect.settle(session, answer)
        if session.transcript.state == "unknown":
            session.transcript.set_state("idle")  # a new session is, unless it was told otherwise
        return session

    async def load_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session and reads its whole history into the transcript."""
        self.offers.need("load", "to load sessions")
        return await self._open(id, self._place(cwd, **_filled(place)), replay=True)

    async def resume_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session without its history."""
        self.offers.need("resume", "to resume sessions")
        return await self._open(id, self._place(cwd, **_filled(place)), replay=False)

    async def _open(self, id: str, place: Place, *, replay: bool) -> Session:
        known = self.sessions.get(id)
        session = self.sessions[id] = known or self._made(id, place)
        if known is not None and replay:
            session.transcript.clear()
        session.transcript.replaying = replay

        def opened(answer: Any) -> None:
            session.transcript.replaying = False
            self.dialect.settle(session, answer)

        async def attempt() -> None:
            await self.dialect.open_session(id, place, replay=replay, then=opened)

        try:
            await self.after_login(attempt)
        except BaseException:
            session.transcript.replaying = False
            if known is None:
                session._over(None)
            raise
        return session

    def _made(self, id: str, place: Place) -> Session:
        agent: ConnectedAgent = self  # type: ignore[assignment]
        session = Session(agent, id, place.cwd)
        session.transcript.additional_directories = place.directories
        return session

    # -- subagents

    def adopt(self, child: Subagent, parent: Session) -> None:
        """A subagent was told of: what its session says from now on is heard."""
        if child.session_id in self.sessions:
            return
        agent: ConnectedAgent = self  # type: ignore[assignment]
        cwd, directories = parent.transcript.roots_of(child.session_id)
        session = self.sessions[child.session_id] = Session(agent, child.session_id, cwd or parent.cwd, parent=parent)
        session.transcript.additional_directories = directories

    def forget(self, session: Session, error: BaseException | None) -> None:
        """A session is over, and with it those of its subagents."""
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]
        for child in [each for each in self.sessions.values() if each.parent is session]:
            child._over(error)
        self.dialect.over(session)

    # -- listing, naming and ending

    async def list_sessions(self, cwd: str | None = None, *, archived: str | None = None) -> AsyncIterator[SessionInfo]:
        """The agent's sessions, page after page; those of one directory, or all."""
        self.offers.need("list", "to list sessions")
        if archived is not None:
            self.need_unstable("session/list with archived")
            self.offers.need("archive", "to archive sessions")
        where = None if cwd is None else _absolute(cwd)
        cursor: str | None = None
        while True:
            page, cursor = await self.dialect.list_sessions(where, cursor, archived)
            for info in page:
                yield info
            if cursor is None:
                return

    async def close_session(self, id: str) -> None:
        """Closes a session by id. One that is not open counts as closed."""
        self.offers.need("close", "to close sessions")
        try:
            await self.dialect.close_session(id)
        except NotFound:
            log.debug("session %s was not open any more", id)
        self._ended(id)

    async def delete_session(self, id: str) -> None:
        """Makes the agent forget a stored session. One that is not there counts as deleted."""
        self.offers.need("delete", "to delete sessions")
        try:
            await self.dialect.delete_session(id)
        except NotFound:
            log.debug("session %s was not there any more", id)
        self._ended(id)

    async def archive_session(self, id: str) -> None:
        """Puts a session out of the usual list; it is closed first (unstable)."""
        self.need_unstable("session/archive")
        self.offers.need("archive", "to archive sessions")
        await self.dialect.archive_session(id, True)
        self._ended(id)

    async def unarchive_session(self, id: str) -> None:
        """Puts an archived session back into the usual list (unstable)."""
        self.need_unstable("session/unarchive")
        self.offers.need("archive", "to archive sessions")
        await self.dialect.archive_session(id, False)

    async def session_status(self, id: str) -> str:
        """Whether the agent has a session `open` or `saved` (unstable). A word nobody knows counts as saved."""
        self.need_unstable("session/status")
        self.offers.need("status", "to tell a session's status")
        return "open" if await self.dialect.session_status(id) == "open" else "saved"

    async def set_title(self, id: str, title: str) -> str:
        """Names a session, open or not (unstable). Gives the name that the agent kept."""
        self.need_unstable("session/set_title")
        self.offers.need("title", "to name sessions")
        kept = await self.dialect.set_title(id, title)
        session = self.sessions.get(id)
        if session is not None:
            session._push(session.transcript.set_info(title=kept), 0)
        return kept

    def _ended(self, id: str) -> None:
        session = self.sessions.get(id)
        if session is not None:
            session._over(None)

    # -- where a session works

    def _place(
        self,
        cwd: str | None,
        mcp_servers: Sequence[McpServer] | None,
        additional_directories: Sequence[str],
        system_prompt: SystemPrompt | str | None,
        meta: dict[str, Any] | None,
    ) -> Place:
        where = _absolute(cwd) if cwd is not None else self.cwd
        directories: list[str] = []
        for directory in map(_absolute, additional_directories):
            if directory != where and directory not in directories:
                directories.append(directory)
        if directories:
            self.offers.need("additional_directories", "additional directories")
        servers = list(self.mcp_servers if mcp_servers is None else mcp_servers)
        for server in servers:
            if server.transport not in self.offers.mcp:
                raise CapabilityError(
                    f"the agent cannot reach MCP server {server.name!r} over {server.transport}; nothing was sent"
                )
            if server.transport == "stdio" and not os.path.isabs(server.command):
                raise InvalidParams(f"MCP server {server.name!r}: the command must be an absolute path")
        return Place(where, directories, servers, meta, self._system_prompt(system_prompt))

    def _system_prompt(self, wanted: SystemPrompt | str | None) -> SystemPrompt | None:
        if wanted is None:
            return None
        self.need_unstable("systemPrompt")
        prompt = SystemPrompt(text=wanted) if isinstance(wanted, str) else wanted
        self.offers.need("system_prompt", "system prompts")
        if prompt.mode != "append" and prompt.mode not in self.offers.system_prompt_modes:
            raise CapabilityError(f"the agent takes no system prompt in mode {prompt.mode!r}; nothing was sent")
        return prompt


def _absolute(path: str) -> str:
    return os.path.abspath(path)


def _filled(place: dict[str, Any]) -> dict[str, Any]:
    return {"mcp_servers": None, "additional_directories": (), "system_prompt": None, "meta": None, **place}
