"""The agent process of a session: started when it is needed, and replaced after it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from accord.connection.dispatch import fault_of
from accord.connection.relay_connection import Outcome
from accord.errors import AccordError, RequestFailed
from accord.hub.agent_host import Offer
from accord.hub.agent_process import AgentProcess, AgentSession
from accord.hub.context import Context
from accord.hub.dialect import Dialect
from accord.hub.event_log import SessionRecord
from accord.hub.principal import Principal
from accord.hub.raw_params import write_object
from accord.rpc.envelope import Failure

Ending = Literal["close", "archive", "delete"]
"""The action on a session in its agent when the hub closes it."""


class SessionAgent:
    """The process in which a session runs. `find_offer` returns the capabilities that a client of the session
    offers."""

    def __init__(
        self,
        context: Context,
        record: SessionRecord,
        dialect: Dialect,
        session: AgentSession,
        process: AgentProcess | None,
        find_offer: Callable[[], Offer | None],
    ) -> None:
        self.is_replaying: bool = False
        """Whether the agent is restoring the session, and may repeat events that are already in the log."""
        self._context = context
        self._record = record
        self._dialect = dialect
        self._session = session
        self._process = process
        self._find_offer = find_offer
        self._restoring: asyncio.Task[None] | None = None
        self._opening_in: AgentProcess | None = None
        """The process in which the session is being restored. It may send requests before it has finished."""

    @property
    def process(self) -> AgentProcess | None:
        """The process; None if it has ended or hasn't been needed yet."""
        return self._process if self._process is not None and self._process.is_open else None

    @property
    def asking(self) -> AgentProcess:
        """The process that currently sends requests."""
        process = self._process or self._opening_in
        assert process is not None
        return process

    @property
    def can_restore(self) -> bool:
        """Whether the session can be opened again after its process has ended."""
        process = self.process
        return process is None or self._dialect.restore_request(self._record, process.capabilities) is not None

    def note_ended(self) -> None:
        """Handle the end of the process."""
        self._process = None

    async def ready(self, offer: Offer | None = None) -> AgentProcess:
        """Return the process; start a new one, and open the session in it, if the last one has ended.

        `offer` is that of the client that needs it, if it isn't attached to the session."""
        while self.process is None:
            if self._restoring is None:
                self._restoring = self._context.start(self._restore(offer or self._find_offer()))
            restoring = self._restoring
            await asyncio.wait({restoring})
            if self._restoring is restoring:
                self._restoring = None
            error = restoring.exception() if not restoring.cancelled() else RequestFailed("the hub is closing")
            if error is not None:
                raise error
        assert self._process is not None
        return self._process

    def when_ready(
        self, send: Callable[[AgentProcess], None], failed: Callable[[Outcome], None], sender: str, size: int
    ) -> None:
        """Send a message of a principal to the agent: now if it is running, so that messages keep their order, else
        once it is."""

        async def wait() -> None:
            try:
                with self._context.waiting.reserve(sender, size):
                    process = await self.ready()
                send(process)
            except AccordError as error:
                failed(Failure(None, fault_of(error, "session/prompt")))

        if self.process is None:
            self._context.start(wait())
            return
        try:
            send(self.process)
        except AccordError as error:
            failed(Failure(None, fault_of(error, "session/prompt")))

    async def _restore(self, offer: Offer | None) -> None:
        if offer is None:
            raise RequestFailed("no client is attached to the session")
        host, agent_id = self._context.host, self._record.agent_id
        process = await host.start_session(self._record.cwd, Principal(self._record.owner), offer)
        request = self._dialect.restore_request(self._record, process.capabilities)
        if request is None:
            await host.end_session(process)
            raise RequestFailed("the agent process ended, and this agent can't restore sessions; start a new one")
        if agent_id in process.sessions:
            raise RequestFailed("another session of the agent process has the same id; start a new session")
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.is_replaying = True
        self._opening_in = process
        process.sessions[agent_id] = self._session
        process.add_mcp(self._session.mcp)
        try:
            process.relay(*request, done.set_result, sender=self._record.owner)
            outcome = await done
        except AccordError:
            process.forget(agent_id)
            await host.end_session(process)
            raise
        finally:
            self.is_replaying = False
            self._opening_in = None
        if isinstance(outcome, Failure):
            process.forget(agent_id)
            await host.end_session(process)
            error = outcome.error
            raise RequestFailed(f"the agent can't restore the session: {error.message}", code=error.code)
        self._process = process

    async def close(self, ending: Ending) -> None:
        """Close, archive or delete the session in the process, and end the process if no other session uses it."""
        process, self._process = self.process, None
        if process is None:
            return
        process.forget(self._record.agent_id)
        params = write_object({"sessionId": self._record.agent_id})
        if ending == "delete" and self._dialect.can_delete(process.capabilities):
            await process.call("session/delete", params, self._record.owner)
        elif ending == "archive" and self._dialect.can_archive(process.capabilities):
            await process.call("session/archive", params, self._record.owner)
        elif self._dialect.can_close(process.capabilities):
            await process.call("session/close", params, self._record.owner)
        await self._context.host.end_session(process)
