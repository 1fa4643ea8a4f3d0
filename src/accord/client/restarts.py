"""Restarting an agent after it exited (`connect(restart=True)`) or after a login in a terminal.

Sessions stay the same objects with the same transcripts. They are resumed, or loaded without applying the replay if the
agent can only load. `ConnectionChanged` events report each step."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from accord.client.offered_servers import ClientSetup
from accord.connection.connection import Connection
from accord.connection.dispatch import log
from accord.errors import AccordError, ConnectionClosed, LaunchError
from accord.transcript.events import ConnectionChanged

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.launch import Launched
    from accord.client.session import Session

Relaunch = Callable[[], Awaitable["Launched"]]

BACK_OFF_SECONDS = (0.2, 1.0, 3.0, 10.0, 30.0)
"""How long to wait before each attempt to restart."""
_HEALTHY_SECONDS = 60.0
"""After an agent has run this long, the delays start again from the first."""


class Restarts:
    """Restarts one agent and reopens its sessions."""

    def __init__(self, agent: ConnectedAgent, relaunch: Relaunch | None, *, after_exit: bool) -> None:
        self.can_restart: bool = after_exit and relaunch is not None
        """Whether the agent is restarted if it exits."""
        self.replaced: Connection | None = None
        """A connection that is being replaced: its end doesn't end the sessions."""
        self.back_off: tuple[float, ...] = BACK_OFF_SECONDS
        self._agent = agent
        self._relaunch = relaunch
        self._attempts = 0
        self._restarted_at = 0.0

    async def reconnect(self) -> None:
        """Close this connection and open a new one to the same agent, with all open sessions."""
        if self._relaunch is None:
            raise LaunchError("this agent wasn't started here, so it can't be restarted")
        self.replaced = self._agent.connection
        try:
            await self.replaced.close()
            await self._start_again()
        except BaseException as error:
            self.replaced = None
            self._agent.end(ConnectionClosed(f"couldn't restart the agent: {error}"))
            raise

    async def restart(self, error: ConnectionClosed) -> None:
        """Restart an agent that exited. Waits longer after each failed attempt, and gives up in the end."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._restarted_at > _HEALTHY_SECONDS:
            self._attempts = 0
        for session in list(self._agent.sessions.values()):
            session.interrupt(error)
        self._report("lost", str(error))
        while not self._agent.is_closed and self._attempts < len(self.back_off):
            pause = self.back_off[self._attempts]
            self._attempts += 1
            self._report("restarting", f"retrying in {pause:g} s", self._attempts)
            await asyncio.sleep(pause)
            try:
                await self._start_again()
            except AccordError as failure:
                log.warning("couldn't restart the agent: %s", failure)
                self._report("lost", str(failure), self._attempts)
                continue
            self._restarted_at = loop.time()
            self._report("restored", "", self._attempts)
            return
        self._report("gone", f"gave up after {self._attempts} attempts")
        self._agent.end(error)

    async def _start_again(self) -> None:
        assert self._relaunch is not None
        agent = self._agent
        version = agent.offers.version
        launched = await self._relaunch()
        await agent.use(launched.transport)
        for session in list(agent.sessions.values()):
            await self._reopen(session, is_same_version=agent.offers.version == version)

    async def _reopen(self, session: Session, *, is_same_version: bool) -> None:
        """Reopen a session in the new agent process. A session that can't be reopened has ended."""
        agent = self._agent
        servers = agent.registry.servers
        sources = servers.sources(session.id)
        setup = ClientSetup(session.cwd, session.transcript.additional_directories, sources)
        try:
            if not is_same_version:
                raise ConnectionClosed("the agent now uses another version of the protocol")
            if not agent.offers.resume and not agent.offers.load:
                raise ConnectionClosed("the agent was restarted and can neither resume nor load sessions")
            async with servers.declared(setup) as declared:
                session.ignores_updates = replay = not agent.offers.resume
                try:
                    await agent.dialect.open_session(session.id, setup, replay=replay, then=_nothing)
                finally:
                    session.ignores_updates = False
                declared.keep(session.id)
            for turn in session.open_turns:
                if turn.inserted:  # version 2: the process that worked on it is gone, so nothing will report its end
                    session.end_turn(turn, None, error=ConnectionClosed("the agent was restarted"))
        except AccordError as failure:
            log.warning("couldn't reopen session %s: %s", session.id, failure)
            session.end(failure)

    def _report(self, state: Literal["lost", "restarting", "restored", "gone"], detail: str, attempt: int = 0) -> None:
        for session in list(self._agent.sessions.values()):
            session.push(ConnectionChanged(state, detail, attempt))


def _nothing(answer: Any) -> None:
    """Ignore the response: the session keeps its options and transcript."""
