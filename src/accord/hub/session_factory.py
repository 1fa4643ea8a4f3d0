"""New sessions: created by the agent for a client, or forked from another session."""

from __future__ import annotations

from collections.abc import Callable

from accord.connection.relay_connection import Outcome
from accord.errors import AccordError
from accord.hub.agent_process import AgentProcess
from accord.hub.attachment import Subscriber
from accord.hub.compaction import Compactor
from accord.hub.context import Context
from accord.hub.event_log import Event
from accord.hub.mcp_relay import McpRelay
from accord.hub.raw_params import add_meta, read_object, remove_meta, write_object
from accord.hub.reply import Reply
from accord.hub.session import OUR_KEYS, HubSession
from accord.hub.session_registry import SessionRegistry
from accord.rpc.envelope import Failure


class SessionFactory:
    """Creates sessions, after checking that the client is allowed to."""

    def __init__(self, context: Context, sessions: SessionRegistry) -> None:
        self._context = context
        self._sessions = sessions

    async def create(self, client: Subscriber, reply: Reply, params: bytes) -> None:
        """Handle `session/new`."""
        params = remove_meta(params, *OUR_KEYS)
        cwd = self._check(client, params)
        reply.save("")
        relay, params = McpRelay.create(client, params)
        client.note_mcp(relay)
        with _Opening(self._sessions, client, relay) as opening:
            process = await self._context.host.start_session(cwd, client.principal, client.offer)
            process.add_mcp(relay)
            opening.send(
                reply, process, "session/new", params, lambda out: self._add(client, reply, process, params, relay, out)
            )

    async def fork(self, client: Subscriber, source: HubSession, reply: Reply, params: bytes) -> None:
        """Handle `session/fork`. The fork belongs to the client's principal, and runs in the process of its source."""
        params = remove_meta(params, *OUR_KEYS)
        self._check(client, params)
        reply.save("")
        relay, params = McpRelay.create(client, params)
        client.note_mcp(relay)
        with _Opening(self._sessions, client, relay) as opening:
            process = await source.agent.ready(client.offer)
            history = await _read_history(source)
            process.add_mcp(relay)
            opening.send(
                reply,
                process,
                "session/fork",
                source.for_agent(params),
                lambda out: self._add_fork(client, reply, process, params, relay, out, history, source),
            )

    def _add_fork(
        self,
        client: Subscriber,
        reply: Reply,
        process: AgentProcess,
        params: bytes,
        relay: McpRelay,
        outcome: Outcome,
        history: tuple[Event, ...],
        source: HubSession,
    ) -> None:
        self._add(client, reply, process, params, relay, outcome, history, source.id)
        self._context.start(self._sessions.close_if_unused(source))  # it may have been opened only for the fork

    def _check(self, client: Subscriber, params: bytes) -> str:
        cwd = self._sessions.check_directories(params)
        self._sessions.check_mcp_servers(params, cwd)
        name = client.principal.name
        self._context.budgets.check_session(name, self._sessions.count_open(name))
        return cwd

    def _add(
        self,
        client: Subscriber,
        reply: Reply,
        process: AgentProcess,
        params: bytes,
        relay: McpRelay,
        outcome: Outcome,
        history: tuple[Event, ...] = (),
        source_id: str = "",
    ) -> None:
        """Handle the agent's response."""
        try:
            if isinstance(outcome, Failure):
                reply.finish(outcome)
                process.remove_mcp(relay)
                relay.close()
                return
            result = bytes(outcome.result)
            session = self._sessions.add(process, client.principal, params, result)
            session.mcp = relay
        except AccordError as error:
            reply.fail(error)
            process.remove_mcp(relay)
            relay.close()
            return
        finally:
            if not process.sessions:
                self._context.start(self._context.host.end_session(process))
        if session.id != session.record.agent_id:
            result = write_object({**read_object(result), "sessionId": session.id})
        reply.save(session.id)  # from now on it is deleted with the session
        session.history.import_events(history, source_id)
        reply.succeed(with_cursor(result, client, session))
        session.attach_now(client, client.principal.role)
        process.add_session(session.record.agent_id, session)


class _Opening:
    """A session that is being opened. It counts towards the limit, which concurrent requests could exceed otherwise."""

    def __init__(self, sessions: SessionRegistry, client: Subscriber, relay: McpRelay) -> None:
        self._opening = sessions.opening
        self._relay = relay
        self._name = client.principal.name
        self._is_sent = False

    def __enter__(self) -> _Opening:
        self._opening[self._name] += 1
        return self

    def send(
        self, reply: Reply, process: AgentProcess, method: str, params: bytes, on_answer: Callable[[Outcome], None]
    ) -> None:
        """Send the request that opens it."""

        def finish(outcome: Outcome) -> None:
            self._opening[self._name] -= 1
            on_answer(outcome)

        try:
            id = process.open_session(method, params, finish, (reply.connection, reply.id), sender=self._name)
        except AccordError:
            process.remove_mcp(self._relay)
            raise
        self._is_sent = True
        reply.on_cancel = lambda: process.connection.cancel(id)

    def __exit__(self, *exc: object) -> None:
        if not self._is_sent:
            self._opening[self._name] -= 1
            self._relay.close()


async def _read_history(source: HubSession) -> tuple[Event, ...]:
    """Read the compacted history of a session that is forked, for clients that load the fork."""
    compactor = Compactor()
    async for event in source.history.read(0):
        compactor.add(event)
    return tuple(compactor.finish())


def with_cursor(result: bytes, client: Subscriber, session: HubSession) -> bytes:
    """Add the session's cursor to the result of a request that opens it, for a client that reads it."""
    if not client.is_resume_aware:
        return result
    return add_meta(result, b'"accord/cursor":"%b"' % session.history.cursor.encode())
