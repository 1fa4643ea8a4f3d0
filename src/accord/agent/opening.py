"""How the sessions of one connection come to be open: begun, forked, or opened again and their history told."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.options import copies
from accord.agent.retelling import tell_again
from accord.agent.session import Session
from accord.agent.turns import TurnQueue
from accord.errors import InvalidParams, LocalProtocolError, NotFound
from accord.model.place import Place as Given
from accord.model.requests import McpServer
from accord.model.session import Choice, Command, Option, SessionInfo, Subagent
from accord.model.statement import CommandsAre

if TYPE_CHECKING:
    from accord.agent.agent import Agent, How
    from accord.agent.side import AgentSide


class Place(Given):
    """Where a session works, as its client said it; a directory that is named twice counts once."""

    __slots__ = ()

    def __init__(self, cwd: str, directories: Sequence[str], *more: Any) -> None:
        super().__init__(cwd, list(dict.fromkeys(directories)), *more)

    @classmethod
    def of(cls, session: Session) -> Place:
        return cls(
            session.cwd, session.additional_directories, session.mcp_servers, session.meta, session.system_prompt
        )

    def give(self, session: Session) -> None:
        """A session works here from now on."""
        session.cwd, session.additional_directories = self.cwd, self.directories
        session.mcp_servers, session.meta = self.servers, self.meta or {}
        session.system_prompt = self.system_prompt


class Opening(ABC):
    """The part of a connection that opens sessions."""

    agent: Agent
    sessions: dict[str, Session]
    children: dict[str, Session]
    touched: bool

    @property
    @abstractmethod
    def keeping(self) -> bool: ...

    @abstractmethod
    def new_id(self, kind: str) -> str: ...

    @abstractmethod
    def now(self) -> str: ...

    @abstractmethod
    def written_commands(self) -> list[Command]: ...

    # -- beginning

    async def new_session(self, place: Place) -> Session:
        """Begins a session. Its updates are held back until the answer has left (`Session.release`)."""
        self._check_place(place)
        session = self._make(await self._new_session_id(), place)
        session.hold()
        session.is_known = False
        try:
            await self.agent.accept_session(session, "new")
            await self._keep(session)
            await self.agent.new_session(session)
            await self.agent.session_opened(session, "new")
        except BaseException:
            await self._unmake(session)
            raise
        self.settle(session)
        return session

    async def fork_session(self, source: str, place: Place) -> Session:
        """Begins a session with the history of another."""
        self._check_place(place)
        by_author = self.agent.offers("fork_session")
        kept = await self.agent.kept.get(source)
        if not by_author and kept is None:
            raise unknown_session(source)
        session = self._make(await self._new_session_id(), place)
        session.title = kept.title if kept is not None else None
        session.hold()
        session.is_known = False
        try:
            await self.agent.accept_session(session, "fork")
            if by_author:
                await self._keep(session)
                await self.agent.fork_session(session, source)
            else:
                await self.agent.kept.copy(source, self._info(session))
                await self._restore_options(session)
                session.reopening = True
            await self.agent.session_opened(session, "fork")
        except BaseException:
            await self._unmake(session)
            raise
        self.settle(session)
        return session

    async def _new_session_id(self) -> str:
        id = await self.agent.new_session_id() if self.agent.offers("new_session_id") else self.new_id("sess")
        if id in self.sessions:
            raise LocalProtocolError(f"new_session_id gave {id!r}, which is open already")
        return id

    def child(self, parent: Session, subagent: Subagent) -> Session:
        """A handle for a child session. A client that does not show subagents hears nothing of it."""
        roots = subagent.additional_directories
        place = Place(
            subagent.cwd or parent.cwd,
            parent.additional_directories if roots is None else roots,
            parent.mcp_servers,
            None,
        )
        child = self.children[subagent.session_id] = self._made(subagent.session_id, place)
        child.muted = not parent.client.subagents
        child._keep = None
        return child

    # -- opening again

    async def open_session(self, id: str, place: Place, *, replay: bool) -> Session:
        """Opens a stored session again, telling its history or not. `opened` is for after the answer."""
        self._check_place(place)
        old = self.sessions.get(id)
        by_author = self.agent.offers("load_session" if replay else "resume_session")
        can_mute = not replay and self.agent.offers("load_session")
        how: How = "load" if replay else "resume"
        session = old or self._make(id, place)  # before it is looked for: a prompt that comes meanwhile waits for it
        before = Place.of(session)
        place.give(session)
        if old is None:
            session.ready.clear()
        try:
            kept = await self.agent.kept.get(id)
            if kept is None and old is None and not by_author and not can_mute:
                raise unknown_session(id)
            await self.agent.accept_session(session, how)
            if old is not None:
                session.values_before = {option.id: option.value for option in session.options}
            elif kept is not None:
                session.title = kept.title
                await self._restore_options(session)
            session.reopening = True
            await self._tell_again(session, replay, by_author, can_mute and kept is None)
            if old is None:  # work that goes on in an open session is not held up
                session.hold()
            await self.agent.session_opened(session, how)
        except BaseException:
            session.reopening = False
            before.give(session)
            if old is None:
                self.sessions.pop(id, None)
                session.turns.cancel()
                session.end()
            raise
        return session

    def opened(self, session: Session) -> None:
        """The answer that opened a session again has left."""
        self.settle(session)
        session.release()

    async def _tell_again(self, session: Session, replay: bool, by_author: bool, muted: bool) -> None:
        """Tells the history from the store, or lets the author tell it: what he says now was said, and kept, before."""
        if replay and not by_author:
            await tell_again(session._side, session)
            return
        keep, session._keep = session._keep, None
        session.muted = muted
        try:
            if by_author and not replay:
                await self.agent.resume_session(session)
            elif by_author or muted:
                await self.agent.load_session(session)
        finally:
            session.muted = False
            session._keep = keep
            session.end_message()

    async def _restore_options(self, session: Session) -> None:
        last = await self.agent.kept.options(session.id)
        session.values_before = {option.id: option.value for option in last}
        session.restore_options()

    def settle(self, session: Session) -> None:
        """What a session says of itself once it is known."""
        if session.commands:
            session.tell(CommandsAre(commands=session.commands))

    # -- underneath

    def _make(self, id: str, place: Place) -> Session:
        session = self.sessions[id] = self._made(id, place)
        return session

    def _made(self, id: str, place: Place) -> Session:
        self.touched = True
        side: AgentSide = self  # type: ignore[assignment]
        session = Session(
            side,
            id,
            place.cwd,
            additional_directories=place.directories,
            mcp_servers=place.servers,
            meta=place.meta,
        )
        session.system_prompt = place.system_prompt
        session.turns = TurnQueue(side, session)
        session.options = [*_mode_option(self.agent), *copies(self.agent.options)]
        session.commands = [*self.written_commands(), *self.agent.commands]
        return session

    async def _unmake(self, session: Session) -> None:
        """A session that did not come to be."""
        self.sessions.pop(session.id, None)
        session.end()
        if self.keeping:
            await self.agent.kept.delete(session.id)

    async def _keep(self, session: Session) -> None:
        if self.keeping:
            await self.agent.kept.create(self._info(session))

    def _info(self, session: Session) -> SessionInfo:
        return SessionInfo(
            id=session.id,
            cwd=session.cwd,
            title=session.title,
            updated_at=self.now(),
            additional_directories=session.additional_directories,
        )

    def _check_place(self, place: Place) -> None:
        if not os.path.isabs(place.cwd):
            raise InvalidParams("cwd must be an absolute path", data={"path": "cwd"})
        if place.directories and not self.agent.additional_directories:
            raise InvalidParams("this agent offers no additional directories", data={"path": "additionalDirectories"})
        for index, directory in enumerate(place.directories):
            if not os.path.isabs(directory):
                path = f"additionalDirectories[{index}]"
                raise InvalidParams(f"{path} must be an absolute path", data={"path": path})
        self._check_servers(place.servers)
        if place.system_prompt is not None and place.system_prompt.mode not in self.agent.system_prompts:
            offered = ", ".join(self.agent.system_prompts) or "none"
            raise InvalidParams(
                f"systemPrompt.mode is {place.system_prompt.mode[:40]!r}; this agent takes {offered}",
                data={"path": "systemPrompt.mode"},
            )

    def _check_servers(self, servers: Sequence[McpServer]) -> None:
        for index, server in enumerate(servers):
            if server.transport not in self.agent.mcp:
                offered = ", ".join(self.agent.mcp) or "none"
                path = f"mcpServers[{index}]"
                raise InvalidParams(
                    f"{path} is {server.transport[:40]!r}; this agent takes {offered}", data={"path": path}
                )


def unknown_session(id: str) -> NotFound:
    return NotFound(f"there is no session {id[:80]!r}", data={"sessionId": id})


def _mode_option(agent: Agent) -> list[Option]:
    if not agent.modes:
        return []
    choices = [Choice(value=mode.id, name=mode.name, description=mode.description) for mode in agent.modes]
    return [Option(id="mode", name="Mode", value=agent.modes[0].id, choices=choices, category="mode")]
