"""Open the session of a tab: a new one, or one to load, resume, fork, or find by its id or age."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from accord.model.session import Notice
from accord.tui.errors import explain, report_bug

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.model.requests import McpServer
    from accord.model.session import SessionInfo
    from accord.transcript.transcript import Transcript
    from accord.tui.session.context import SessionContext

SetUp: TypeAlias = "Callable[[Session], Awaitable[None]]"
OpenMode = Literal["new", "load", "resume", "fork", "newest", "named"]
MAX_SEARCHED = 2000
"""How many listed sessions are searched."""
MAX_OPENED = 20
"""How many sessions are opened to find one that isn't empty."""
ESCAPE_SECONDS = 1.0
"""Esc cancels a start only after this time: earlier it isn't slow, and the first half of a late terminal reply can
look like Esc."""
SLOW_SECONDS = 3.0
"""After this time the user sees how long the start has taken, and the keys to cancel or diagnose it."""
OPEN_ELSEWHERE = "This session is open in another window"
OPEN_ELSEWHERE_ADVICE = "The two windows don't share messages. Continue in one of them."


class SessionOpener:
    """Opens the session of one controller, and knows how long that takes."""

    def __init__(self, context: SessionContext) -> None:
        self.failure: str = ""
        """Why the session couldn't be opened."""
        self.servers: list[McpServer] = []
        """The MCP servers that the session was opened with."""
        self.wanted: str | None = None
        """The id of the session to open, unless it is a new one."""
        self.set_up: SetUp | None = None
        """Sets options of the session before its first prompt; raises `AccordError`."""
        self.is_set_up: bool = True
        """Whether `set_up` succeeded; if not, a notice says why."""
        self.is_new: bool = False
        """Whether the session was created here, rather than continued."""
        self.began: float = time.monotonic()
        self._context = context
        self._opening: asyncio.Future[tuple[Session, OpenMode]] | None = None

    async def open(self, id: str | None = None, how: OpenMode = "new", earlier: Transcript | None = None) -> bool:
        """Open a session once the agent is ready, with `earlier` above it. Return whether that worked; if not,
        `failure` says why."""
        from accord.errors import AccordError

        process = self._context.process
        self.began = time.monotonic()
        self.wanted = id if how in ("load", "resume", "named") else None
        await process.ready.wait()
        agent = process.agent
        if agent is None or process.state != "ready":
            return self._fail(process.failure or "the agent isn't running")
        self._opening = asyncio.ensure_future(self._open(agent, id, how, earlier))
        try:
            session, how = await self._opening
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._fail("You cancelled it before the session was open.")
        except Exception as error:
            reason = explain(error) if isinstance(error, AccordError) else report_bug(error)
            return self._fail(reason if self.wanted is None else f"session {self.wanted}: {reason}")
        await self._set_up(session)
        if how == "new":
            process.empty_sessions.ids.add(session.id)
        if process.session_locks.add(session.id) and how != "new":
            notice = Notice(severity="warning", title=OPEN_ELSEWHERE, description=OPEN_ELSEWHERE_ADVICE)
            process.notes.append(notice)
        self.is_new = how == "new"
        self._context.session = session
        self.failure = ""
        return True

    async def _set_up(self, session: Session) -> None:
        """Set up the session. After an error it is open nevertheless, so that the user can correct the option."""
        from accord.errors import AccordError

        set_up, self.set_up = self.set_up, None
        try:
            if set_up is not None:
                await set_up(session)
        except AccordError as error:
            self.is_set_up = False
            notice = Notice(severity="error", title="An option wasn't set", description=explain(error))
            self._context.process.notes.append(notice)

    def cancel(self) -> None:
        """Stop waiting for a session that is being opened."""
        if self._opening is not None:
            self._opening.cancel()

    async def _open(
        self, agent: ConnectedAgent, id: str | None, how: OpenMode, earlier: Transcript | None
    ) -> tuple[Session, OpenMode]:
        process = self._context.process
        self.servers, notices = process.host.servers(agent.offers)
        process.notes += notices
        if how == "newest":
            session = await self._open_newest(agent)
            if session is not None:
                return session, how
            how = "new"
        elif how == "named" and id is not None:
            id, how = await find_session(agent, id)
            self.wanted = id
        return await open_session(agent, id, how, self.servers, earlier), how

    async def _open_newest(self, agent: ConnectedAgent) -> Session | None:
        """Open the newest session of this directory that isn't empty. An empty one may belong to another client that
        is about to use it. Without one, a notice says why."""
        from accord.errors import CapabilityError, NotFound

        process = self._context.process
        reason = "There is no earlier session in this directory."
        try:
            found = await list_newest(agent, str(process.host.cwd))
        except CapabilityError as error:
            found, reason = [], str(error)
        for info in found[:MAX_OPENED]:
            self.wanted = info.id
            try:
                session = await open_session(agent, info.id, "load" if agent.offers.load else "resume", self.servers)
            except NotFound:
                if info.title is not None:
                    raise
                continue  # another client has deleted it, because it was empty
            if is_used(agent, session, info):
                return session
            await session.close()
        self.wanted = None
        process.notes.append(Notice(severity="warning", title="This is a new session", description=reason))
        return None

    def _fail(self, reason: str) -> bool:
        self.failure = reason
        self._context.on_change()
        return False


class Found(NamedTuple):
    """A session to open, and how."""

    id: str
    how: OpenMode


async def list_newest(agent: ConnectedAgent, cwd: str) -> list[SessionInfo]:
    """List the sessions of a directory that can be continued, newest first. Raise `CapabilityError` if the agent
    can't."""
    from accord.errors import CapabilityError

    offers = agent.offers
    if not offers.load and not offers.resume:
        raise CapabilityError("This agent can't continue earlier sessions.")
    if not offers.list:
        raise CapabilityError("This agent doesn't list its sessions. Open one by its id with --session.")
    found: list[SessionInfo] = []
    async for info in agent.list_sessions(cwd):
        found.append(info)
        if len(found) >= MAX_SEARCHED:
            break
    return sorted(found, key=lambda info: info.updated_at or "", reverse=True)


def is_used(agent: ConnectedAgent, session: Session, info: SessionInfo) -> bool:
    """Return whether an open session has messages, or may have some that the agent doesn't replay."""
    return not agent.offers.load or bool(info.title or session.title) or session.transcript.has_messages


async def find_session(agent: ConnectedAgent, id: str) -> Found:
    """Find the session with this id or with a unique id that starts with it. Raise `NotFound` if it is ambiguous."""
    from accord.errors import CapabilityError, NotFound

    offers = agent.offers
    if not offers.load and not offers.resume:
        raise CapabilityError("this agent can't open earlier sessions")
    how: OpenMode = "load" if offers.load else "resume"
    if not offers.list:
        return Found(id, how)
    matches: list[str] = []
    count = 0
    async for info in agent.list_sessions():
        count += 1
        if info.id == id:
            return Found(id, how)
        if info.id.removeprefix("sess_").startswith(id.removeprefix("sess_")):
            matches.append(info.id)
        if count >= MAX_SEARCHED:
            break
    if len(matches) > 1:
        raise NotFound(f"{len(matches)} sessions start with {id!r}, for example {matches[0]} and {matches[1]}")
    return Found(matches[0] if matches else id, how)  # agents may know sessions that they don't list


async def open_session(
    agent: ConnectedAgent, id: str | None, how: OpenMode, servers: list[McpServer], earlier: Transcript | None = None
) -> Session:
    """Create or open a session. `earlier` goes above its transcript, unless the agent replays the history itself."""
    if id is None or how == "new":
        session = await agent.new_session(mcp_servers=servers)
    elif how == "fork":
        session = await agent.fork_session(id, mcp_servers=servers)
        if earlier is None:
            session = await _load_history(agent, session, servers)
    elif how == "load":
        session = await agent.load_session(id, mcp_servers=servers)
    else:
        session = await agent.resume_session(id, mcp_servers=servers)
    if earlier is not None:
        session.transcript.prepend(earlier)
    return session


async def _load_history(agent: ConnectedAgent, session: Session, servers: list[McpServer]) -> Session:
    """Load a fork whose history isn't known here: many agents replay it then."""
    from accord.errors import AccordError

    if agent.offers.load and not session.transcript.has_messages:
        with suppress(AccordError):
            return await agent.load_session(session.id, mcp_servers=servers)
    return session
