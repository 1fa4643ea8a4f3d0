"""The sessions of one connection: created, forked, reopened, listed, named, closed and deleted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from accord.agent.options import copies
from accord.agent.replay import replay_history
from accord.agent.session import Session, timestamp
from accord.agent.turn_queue import TurnQueue
from accord.agent.update_writer import IdGenerator
from accord.agent.work import OwnWork
from accord.connection.dispatch import log
from accord.errors import InvalidParams, InvalidValue, LocalProtocolError, NotFound
from accord.model import check
from accord.model.requests import McpServer, SessionSetup
from accord.model.session import ONE_OFF, Choice, Option, SessionInfo, Subagent
from accord.model.statement import SetCommands, SetInfo
from accord.model.values import short, text, word
from accord.store.base import Page

if TYPE_CHECKING:
    from accord.agent.agent import Agent, How
    from accord.agent.side import AgentSide

TITLED_BY_USER = "accord/titledByUser"
"""Key in a stored session's metadata: the user set its title."""
_STATUSES = frozenset({"open", "saved"})


class SessionRegistry:
    """The sessions that one client has open."""

    def __init__(self, side: AgentSide) -> None:
        self.side = side
        self.agent: Agent = side.agent
        self.open: dict[str, Session] = {}
        self.children: dict[str, Session] = {}
        """The sessions of subagents. A client can watch them and at most cancel them."""
        self._parents: dict[str, Session] = {}
        """The parent session of each of them, by the child's id."""
        self.ids: IdGenerator = IdGenerator(os.urandom(4).hex())

    def find(self, id: str) -> Session:
        """Return an open session. Raises `NotFound` if there is none with this id."""
        try:
            return self.open[id]
        except KeyError:
            raise unknown_session(id) from None

    @property
    def is_saving(self) -> bool:
        """Whether sessions are saved: in the author's store, or in memory if the version requires it."""
        return self.agent.store is not None or self.side.dialect.needs_history

    # -- new sessions

    async def create(self, setup: SessionSetup) -> Session:
        """Create a session. Its updates are held back until the response has been sent (`Session.release`)."""
        self._check_setup(setup)
        session = self._add(await self._new_id(), setup)
        session.writer.hold()
        session.is_known = False
        try:
            await self.agent.accept_session(session, "new")
            await self._save_new(session)
            await self.agent.new_session(session)
            await self.agent.session_opened(session, "new")
        except BaseException:
            await self._discard(session)
            raise
        self._send_commands(session)
        return session

    async def fork(self, source: str, setup: SessionSetup) -> Session:
        """Create a session with the history of another one."""
        self._check_setup(setup)
        by_author = self.agent.offers("fork_session")
        saved = await self.agent.kept.get(source)
        if not by_author and saved is None:
            raise unknown_session(source)
        session = self._add(await self._new_id(), setup)
        if saved is not None:
            _restore_title(session, saved)
        session.writer.hold()
        session.is_known = False
        try:
            await self.agent.accept_session(session, "fork")
            if by_author:
                await self._save_new(session)
                await self.agent.fork_session(session, source)
            else:
                await self.agent.kept.copy(source, self._info(session))
                await self._restore_options(session)
                session.is_reopening = True
            await self.agent.session_opened(session, "fork")
        except BaseException:
            await self._discard(session)
            raise
        self._send_commands(session)
        return session

    async def _new_id(self) -> str:
        id = await self.agent.new_session_id() if self.agent.offers("new_session_id") else self.ids.new("sess")
        if id in self.open:
            raise LocalProtocolError(f"new_session_id returned {id!r}, which is already open")
        return id

    def add_child(self, parent: Session, subagent: Subagent) -> Session:
        """Create the session of a subagent. Its updates are dropped if the client doesn't support subagents."""
        roots = subagent.additional_directories
        directories = parent.additional_directories if roots is None else roots
        setup = SessionSetup(subagent.cwd or parent.cwd, list(dict.fromkeys(directories)), parent.mcp_servers, None)
        child = self.children[subagent.session_id] = self._make(subagent.session_id, setup)
        child.writer.is_muted = not parent.client.offers.subagents
        child.writer.stop_saving()
        self._parents[child.id] = parent
        return child

    def _remove_children(self, parent: Session) -> None:
        for id in [id for id, session in self._parents.items() if session is parent]:
            del self._parents[id], self.children[id]

    # -- stored sessions

    async def reopen(self, id: str, setup: SessionSetup, *, replay: bool) -> Session:
        """Open a stored session, with or without replaying its history. Call `finish_reopening` after the response."""
        self._check_setup(setup)
        old = self.open.get(id)
        by_author = self.agent.offers("load_session" if replay else "resume_session")
        can_load_muted = not replay and self.agent.offers("load_session")
        how: How = "load" if replay else "resume"
        session = old or self._add(id, setup)  # before it is looked up, so that prompts that arrive meanwhile wait
        before = session.setup
        session.response_meta = None
        session.move_to(setup)
        if old is None:
            session.open_gate.start()
        try:
            saved = await self.agent.kept.get(id)
            if saved is None and old is None and not by_author and not can_load_muted:
                raise unknown_session(id)
            await self.agent.accept_session(session, how)
            if old is not None:
                session.settings.previous_values = {option.id: option.value for option in session.options}
            elif saved is not None:
                _restore_title(session, saved)
                await self._restore_options(session)
            session.is_reopening = True
            await self._replay(session, replay, by_author, can_load_muted and saved is None)
            if old is None:  # don't delay work in a session that is already open
                session.writer.hold()
            await self.agent.session_opened(session, how)
        except BaseException:
            session.is_reopening = False
            session.move_to(before)
            if old is None:
                self.open.pop(id, None)
                session.turns.cancel()
                session.end()
            raise
        return session

    def finish_reopening(self, session: Session) -> None:
        """Release a reopened session's updates: the response has been sent."""
        self._send_commands(session)
        session.release()

    async def _replay(self, session: Session, replay: bool, by_author: bool, muted: bool) -> None:
        """Replay the history from the store, or let the author do it. The author's updates have been saved before."""
        if replay and not by_author:
            await replay_history(session)
            return
        save = session.writer.stop_saving()
        session.writer.is_muted = muted
        try:
            if by_author and not replay:
                await self.agent.resume_session(session)
            elif by_author or muted:
                await self.agent.load_session(session)
        finally:
            session.writer.is_muted = False
            session.writer.resume_saving(save)
            session.writer.end_message()

    async def _restore_options(self, session: Session) -> None:
        last = await self.agent.kept.options(session.id)
        session.settings.previous_values = {option.id: option.value for option in last}
        session.settings.restore()

    # -- the list

    async def list(self, cwd: str | None, cursor: str | None, archived: str = "exclude") -> Page:
        """List a page of sessions, from the author or the store."""
        if archived not in ("exclude", "include", "only"):
            raise InvalidParams(f"session/list: archived is {archived[:40]!r}; it may be exclude, include or only")
        if cwd is not None and not os.path.isabs(cwd):
            raise InvalidParams("session/list: cwd must be an absolute path")
        if not self.agent.offers("list_sessions"):
            page = await self.agent.kept.list(cwd=cwd, cursor=cursor, archived=archived)
            return Page(sessions=[_without_own_keys(info) for info in page.sessions], next_cursor=page.next_cursor)
        page = await self.agent.list_sessions(cwd=cwd, cursor=cursor)
        if not isinstance(page, Page):
            name = type(self.agent).__name__
            raise InvalidValue(
                f"{name}.list_sessions returned {short(page)}; it must return accord.store.base.Page(sessions=[…])",
                argument="list_sessions",
            )
        if archived == "include":
            return page
        matching = [info for info in page.sessions if bool(info.archived) == (archived == "only")]
        return Page(sessions=matching, next_cursor=page.next_cursor)

    async def archive(self, id: str, archived: bool) -> None:
        """Archive a session, closing it first, or unarchive it."""
        if archived:
            await self.close(id)
        if archived and self.agent.offers("archive_session"):
            await self.agent.archive_session(id)
        elif not archived and self.agent.offers("unarchive_session"):
            await self.agent.unarchive_session(id)
        else:
            await self.agent.kept.update(replace(await self._saved_info(id), archived=archived))

    async def status(self, id: str) -> str:
        """Return whether a session is `open` or `saved`."""
        if self.agent.offers("session_status"):
            return word("the return value of session_status", await self.agent.session_status(id), _STATUSES)
        if id not in self.open:
            await self._saved_info(id)
        return "open" if id in self.open else "saved"

    async def set_title(self, id: str, title: str) -> str:
        """Set a session's title for the user, whether or not it is open. Returns the title that was saved."""
        title = " ".join(title.split())
        if not title:
            raise InvalidParams("session/set_title: the title is empty", data={"path": "title"})
        session = self.open.get(id)
        if self.agent.offers("set_title"):
            title = text("the return value of set_title", await self.agent.set_title(id, title))
            if session is not None:
                session.title, session.titled_by_user = title, True
            return title
        info = await self._saved_info(id)
        await self.agent.kept.update(replace(info, title=title, meta={**(info.meta or {}), TITLED_BY_USER: True}))
        if session is not None:
            session.title, session.titled_by_user = title, True
            session.writer.save(SetInfo(title=title, updated_at=timestamp()))
        return title

    async def _saved_info(self, id: str) -> SessionInfo:
        info = await self.agent.kept.get(id)
        if info is None:
            raise unknown_session(id)
        return info

    async def save_info(self, session: Session) -> None:
        """Update the store's entry of a session: its title, and when it was last used."""
        if self.is_saving and session.id in self.open:
            await self.agent.kept.update(self._info(session))

    # -- the end of a session

    async def close(self, id: str) -> None:
        """Cancel a session's work and close it. Does nothing if it isn't open."""
        session = self.open.get(id)
        if session is None:
            return
        session.turns.cancel()
        await session.turns.settle()
        try:
            await self.agent.close_session(session)
        except Exception as error:  # the session is closed anyway, and the client gets a normal response
            log.error("close_session of %s failed", session.id, exc_info=error)
        finally:
            await self._end_tools(session)
            await session.stop_commands()
            if self.open.get(id) is session:
                del self.open[id]
            self._remove_children(session)
            session.end()

    async def delete(self, id: str) -> None:
        """Close a session and delete it from the store."""
        await self.close(id)
        if self.agent.offers("delete_session"):
            await self.agent.delete_session(id)
        await self.agent.kept.delete(id)

    def cancel_all(self) -> None:
        """Cancel all turns."""
        for session in list(self.open.values()):
            session.turns.cancel()

    async def close_all(self) -> None:
        """Close every session: the client has disconnected. An error in one session doesn't keep the others open."""
        sessions, self.open = list(self.open.values()), {}
        for session in sessions:
            session.writer.is_muted = True  # no client receives updates, but the store still gets the end
            await self._end_tools(session)
            session.end()
            try:
                await session.stop_commands()
            except Exception as error:
                log.error("couldn't stop the commands of %s", session.id, exc_info=error)
            try:
                await self.agent.close_session(session)
            except Exception as error:
                log.error("close_session of %s failed", session.id, exc_info=error)

    async def _end_tools(self, session: Session) -> None:
        """End tool calls that outlive their turn; they don't outlive their session."""
        try:
            await session.end_tools("cancelled", background=True)
        except Exception as error:  # the client may be gone, or the store full
            log.debug("couldn't end the tool calls of %s", session.id, exc_info=error)

    # -- creating session objects

    def _add(self, id: str, setup: SessionSetup) -> Session:
        session = self.open[id] = self._make(id, setup)
        return session

    def _make(self, id: str, setup: SessionSetup) -> Session:
        check.options(self.agent.options, "Agent.options")
        options = [*_mode_option(self.agent), *copies(self.agent.options)]
        session = Session(self, id, setup, options)
        session.turns = TurnQueue(session, self.side.prompts, self)
        session.works = OwnWork(session, self)
        session.commands = [*self.side.prompts.commands, *self.agent.commands]
        return session

    async def _discard(self, session: Session) -> None:
        """Remove a session that couldn't be created."""
        self.open.pop(session.id, None)
        session.end()
        if self.is_saving:
            await self.agent.kept.delete(session.id)

    async def _save_new(self, session: Session) -> None:
        if self.is_saving:
            await self.agent.kept.create(self._info(session))

    def _info(self, session: Session) -> SessionInfo:
        marks = {TITLED_BY_USER: session.titled_by_user, ONE_OFF: session.meta.get(ONE_OFF) is True}
        return SessionInfo(
            id=session.id,
            cwd=session.cwd,
            title=session.title,
            updated_at=timestamp(),
            additional_directories=session.additional_directories,
            meta={name: True for name, is_set in marks.items() if is_set} or None,
        )

    def _send_commands(self, session: Session) -> None:
        if session.commands:
            session.writer.tell(SetCommands(commands=session.commands))

    def _check_setup(self, setup: SessionSetup) -> None:
        if not os.path.isabs(setup.cwd):
            raise InvalidParams("cwd must be an absolute path", data={"path": "cwd"})
        if setup.directories and not self.agent.additional_directories:
            raise InvalidParams(
                "this agent doesn't support additional directories", data={"path": "additionalDirectories"}
            )
        for index, directory in enumerate(setup.directories):
            if not os.path.isabs(directory):
                path = f"additionalDirectories[{index}]"
                raise InvalidParams(f"{path} must be an absolute path", data={"path": path})
        self._check_servers(setup.servers)
        if setup.system_prompt is not None and setup.system_prompt.mode not in self.agent.system_prompts:
            supported = ", ".join(self.agent.system_prompts) or "none"
            raise InvalidParams(
                f"systemPrompt.mode is {setup.system_prompt.mode[:40]!r}; this agent supports {supported}",
                data={"path": "systemPrompt.mode"},
            )

    def _check_servers(self, servers: Sequence[McpServer]) -> None:
        for index, server in enumerate(servers):
            if server.transport not in self.agent.mcp:
                supported = ", ".join(self.agent.mcp) or "none"
                path = f"mcpServers[{index}]"
                raise InvalidParams(
                    f"{path} is {server.transport[:40]!r}; this agent supports {supported}", data={"path": path}
                )


def _restore_title(session: Session, saved: SessionInfo) -> None:
    session.title = saved.title
    session.titled_by_user = bool(saved.meta and saved.meta.get(TITLED_BY_USER))


def unknown_session(id: str) -> NotFound:
    return NotFound(f"there is no session {id[:80]!r}", data={"sessionId": id})


def _without_own_keys(info: SessionInfo) -> SessionInfo:
    """Remove the metadata keys that the library itself saves with a session."""
    if not info.meta or TITLED_BY_USER not in info.meta:
        return info
    return replace(info, meta={key: value for key, value in info.meta.items() if key != TITLED_BY_USER} or None)


def _mode_option(agent: Agent) -> list[Option]:
    if not agent.modes:
        return []
    choices = [
        Choice(value=mode.id, name=mode.name, description=mode.description, meta=mode.meta) for mode in agent.modes
    ]
    return [Option(id="mode", name="Mode", value=agent.modes[0].id, choices=choices, category="mode")]
