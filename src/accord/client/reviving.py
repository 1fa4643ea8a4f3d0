"""Starting an agent again: after it died (`connect(restart=True)`), or after a login in a terminal of its own.

The sessions stay the same objects with the same transcripts. They are resumed, or, where the agent can only load,
loaded with the replay left out. What happens is told as `ConnectionChanged` events."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from accord.client.dialect import Dialect
from accord.client.offers import AgentOffers
from accord.connection.connection import Connection
from accord.connection.dispatch import log
from accord.connection.limits import Limits
from accord.errors import AccordError, ConnectionClosed, LaunchError
from accord.model.place import Place
from accord.model.requests import McpServer
from accord.transcript.events import ConnectionChanged

if TYPE_CHECKING:
    from accord.client.launch import Launched
    from accord.client.session import Session

Relaunch = Callable[[], Awaitable["Launched"]]

BACK_OFF = (0.2, 1.0, 3.0, 10.0, 30.0)
"""How long to wait before each try, in seconds. An agent that has lived for a minute starts from the beginning."""
_HEALTHY = 60.0


class Reviving(ABC):
    """How a client gets a new connection to its agent."""

    connection: Connection
    dialect: Dialect
    offers: AgentOffers
    mcp_servers: list[McpServer]
    sessions: dict[str, Session]
    relaunch: Relaunch | None
    restart: bool
    left: Connection | None = None
    """A connection whose end is not the end of its sessions: another takes its place."""
    back_off: tuple[float, ...] = BACK_OFF
    _limits: Limits | None
    _closed: bool
    _tries: int
    _since: float

    @abstractmethod
    async def shake_hands(self) -> None:
        """Starts the connection that is there now and agrees on a version."""

    async def reconnect(self) -> None:
        """Ends this connection and makes a new one to the same agent, with all open sessions."""
        if self.relaunch is None:
            raise LaunchError("this agent was not started here, so it cannot be started again")
        self.left = self.connection
        try:
            await self.left.close()
            await self._start_again()
        except BaseException as error:
            self.left = None  # nothing took its place
            for session in list(self.sessions.values()):
                session._over(ConnectionClosed(f"the agent could not be started again: {error}"))
            raise

    async def revive(self, error: ConnectionClosed) -> None:
        """The agent is gone: tries to bring it back, ever more slowly, and gives up in the end."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._since > _HEALTHY:
            self._tries = 0
        for session in list(self.sessions.values()):
            session.interrupted(error)
        self._tell("lost", str(error))
        while not self._closed and self._tries < len(self.back_off):
            pause = self.back_off[self._tries]
            self._tries += 1
            self._tell("restarting", f"trying again in {pause:g} s", self._tries)
            await asyncio.sleep(pause)
            try:
                await self._start_again()
            except AccordError as failure:
                log.warning("the agent could not be started again: %s", failure)
                self._tell("lost", str(failure), self._tries)
                continue
            self._since = loop.time()
            self._tell("restored", "", self._tries)
            return
        self._tell("gone", f"given up after {self._tries} tries")
        for session in list(self.sessions.values()):
            session._over(error)

    async def _start_again(self) -> None:
        assert self.relaunch is not None
        version = self.offers.version
        launched = await self.relaunch()
        on_trouble = self.connection.on_trouble
        self.connection = Connection(launched.transport, side="client", limits=self._limits)
        self.connection.on_trouble = on_trouble
        try:
            await self.shake_hands()
        except BaseException:
            await self.connection.close()
            raise
        for session in list(self.sessions.values()):
            await self._reopen(session, same_words=self.offers.version == version)

    async def _reopen(self, session: Session, *, same_words: bool) -> None:
        """Opens a session again at the new agent; one that cannot be is over."""
        place = Place(session.cwd, session.transcript.additional_directories, self.mcp_servers, None, None)
        try:
            if not same_words:
                raise ConnectionClosed("the agent speaks another version of the protocol now")
            if self.offers.resume:
                await self.dialect.open_session(session.id, place, replay=False, then=_nothing)
            elif self.offers.load:
                session.deaf = True
                try:
                    await self.dialect.open_session(session.id, place, replay=True, then=_nothing)
                finally:
                    session.deaf = False
            else:
                raise ConnectionClosed("the agent was started again and can neither resume nor load sessions")
            for turn in session.open_turns:
                if turn.inserted:  # version 2: who worked on it is gone, and nobody else will say that it is over
                    session.end_turn(turn, None, error=ConnectionClosed("the agent was started again"))
        except AccordError as failure:
            log.warning("session %s could not be opened again: %s", session.id, failure)
            session._over(failure)

    def _tell(self, state: Literal["lost", "restarting", "restored", "gone"], detail: str, attempt: int = 0) -> None:
        for session in list(self.sessions.values()):
            session._push(ConnectionChanged(state, detail, attempt), 0)


def _nothing(answer: Any) -> None:
    """What the session has been told before still holds."""
