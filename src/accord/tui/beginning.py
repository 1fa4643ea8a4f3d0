"""How a talk comes to its session: which one is meant, how long that takes, and what if nobody wants to wait for it."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from accord.model.session import Notice
from accord.tui.fault import noted
from accord.tui.opening import How, find_named, is_used, newest_first, open_session
from accord.tui.patience import SLOW
from accord.tui.turns import Turns

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.model.requests import McpServer
    from accord.transcript.transcript import Transcript
    from accord.tui.link import Link

MOST_OPENED = 20
"""How many sessions are opened in search of one in which something was said."""
ELSEWHERE = "This session is open in another client, too"
BOTH = "What is said there is not shown here, and the other way round. Go on in one of them only."
State = Literal["starting", "opening", "running", "waiting", "idle", "gone"]


class Beginning(Turns):
    """The part of a talk that opens its session."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        super().__init__(link, on_change)
        self.failure = ""
        self.servers: list[McpServer] = []
        self._wanted: str | None = None
        self._since = time.monotonic()
        self._entering: asyncio.Future[tuple[Session, How]] | None = None

    @property
    @abstractmethod
    def state(self) -> State:
        """What it does."""

    @abstractmethod
    def _begin(self) -> None:
        """The session is there."""

    async def open(self, id: str | None = None, how: How = "new", earlier: Transcript | None = None) -> None:
        """Begins a session, or opens one that is there, below what was said. What goes wrong is in `failure`."""
        from accord.errors import AccordError

        self._since = time.monotonic()
        self._wanted = id if how in ("load", "resume", "named") else None
        await self.link.ready.wait()
        agent = self.link.agent
        if agent is None or self.link.state != "ready":
            self._not_opened(self.link.failure or "the agent is not there")
            return
        self._entering = asyncio.ensure_future(self._enter(agent, id, how, earlier))
        try:
            self.session, how = await self._entering
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is not None and here.cancelling():
                raise
            self._not_opened("You ended it before there was a session.")
            return
        except Exception as error:
            words = str(error) if isinstance(error, AccordError) else noted(error)
            self._not_opened(words if self._wanted is None else f"session {self._wanted}: {words}")
            return
        if how == "new":
            self.link.untouched.ids.add(self.session.id)
        if self.link.open_here.add(self.session.id) and how != "new":
            self.link.notes.append(Notice(severity="warning", title=ELSEWHERE, description=BOTH))
        self._begin()

    async def _enter(
        self, agent: ConnectedAgent, id: str | None, how: How, earlier: Transcript | None
    ) -> tuple[Session, How]:
        servers, notices = self.link.outside.servers(agent.offers)
        self.servers = servers
        self.link.notes += [Notice(severity="warning", title=notice) for notice in notices]
        if how == "newest":
            session = await self._newest(agent)
            if session is not None:
                return session, how
            how = "new"
        elif how == "named" and id is not None:
            id, how = await find_named(agent, id)
            self._wanted = id
        return await open_session(agent, id, how, servers, earlier), how

    async def _newest(self, agent: ConnectedAgent) -> Session | None:
        """The session of this folder in which something was last said. Where there is none, it is said why. One in
        which nothing was said may be that of another client, which is about to say something in it."""
        from accord.errors import CapabilityError, NotFound

        why_not = "There is no earlier session of this folder"
        try:
            found = await newest_first(agent, str(self.link.outside.cwd))
        except CapabilityError as error:
            found, why_not = [], str(error)
        for info in found[:MOST_OPENED]:
            self._wanted = info.id
            try:
                session = await open_session(agent, info.id, "load" if agent.offers.load else "resume", self.servers)
            except NotFound:
                if info.title is not None:
                    raise
                continue  # nothing was said in it, and whoever had it open has left meanwhile
            if is_used(agent, session, info):
                return session
            await session.close()
        self._wanted = None
        self.link.notes.append(Notice(severity="warning", title="This is a new session", description=why_not))
        return None

    def _not_opened(self, why: str) -> None:
        self.failure = why
        self.on_change()

    # -- waiting for it

    @property
    def waited(self) -> float:
        """For how many seconds the agent has been starting, or the session opened; 0 when neither is so."""
        is_awaited = self.state in ("starting", "opening") and self.link.state != "undecided"
        return time.monotonic() - self._since if is_awaited else 0.0

    @property
    def is_slow(self) -> bool:
        """Whether that takes long."""
        return self.waited >= SLOW

    def give_up(self) -> None:
        """Waits no more for a session that is being opened."""
        if self._entering is not None:
            self._entering.cancel()
