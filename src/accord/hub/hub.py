"""The hub: the only client of its agents, shared by any number of clients."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from accord.hub.agent_host import AgentHost, Isolation
from accord.hub.budgets import Budgets
from accord.hub.client import ClientConnection
from accord.hub.context import Context, HubSettings, OnDisconnect
from accord.hub.event_log import EventLog, MemoryEventLog, format_time
from accord.hub.permission_policy import parse_policy
from accord.hub.principal import Principal
from accord.hub.session import HubSession
from accord.hub.session_registry import SessionRegistry
from accord.hub.spawner import Spawner
from accord.policy.engine import Policy
from accord.rpc.envelope import Failure, Fault
from accord.transports.base import Transport

MAX_QUEUED_BYTES = 16 * 1024 * 1024
COMPACT_AFTER = 5000
MAX_SESSION_BYTES = 256 * 1024 * 1024
IDLE_SECONDS = 1800.0


class HubStats(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers about a hub, for metrics."""

    sessions: int
    clients: int
    agent_processes: int
    running_turns: int
    queued_bytes: int
    """The number of bytes that slow clients have not received yet."""
    turns_total: int
    events_total: int
    agent_processes_total: int
    slow_clients_total: int


class SessionView:
    """An open session, for administrators.

    Each field is read on demand, not copied: `accord serve` looks at all sessions every second, and for most of them
    only needs to know whether they are busy."""

    __slots__ = ("_session",)

    def __init__(self, session: HubSession) -> None:
        self._session = session

    @property
    def id(self) -> str:
        return self._session.record.id

    @property
    def owner(self) -> str:
        return self._session.record.owner

    @property
    def cwd(self) -> str:
        return self._session.record.cwd

    @property
    def title(self) -> str | None:
        return self._session.record.title

    @property
    def updated_at(self) -> str:
        return format_time(self._session.record.updated_at)

    @property
    def is_busy(self) -> bool:
        return self._session.is_busy

    @property
    def is_asking(self) -> bool:
        """Whether a request of the agent waits for a client."""
        return bool(self._session.requests)

    @property
    def clients(self) -> Mapping[str, str]:
        """The role of each attached principal."""
        return {each.subscriber.principal.name: each.role for each in self._session.clients}


class Hub:
    """Relays between clients and agents, logs every event, and shares sessions between clients.

    | parameter | meaning |
    |---|---|
    | `spawner` | starts agent processes |
    | `log` | where sessions and events are saved; closed with the hub (default: in memory) |
    | `isolation` | an agent process per `session`, per `principal`, or one `shared` by all |
    | `permissions` | who answers permission requests: `first`, `originator`, `quorum:N`, `role:ROLE` |
    | `on_disconnect` | what happens `grace_seconds` after the last driver left a session |
    | `client_files` | use the files and terminals of the driving client, not the server's |
    | `root` | sessions can work only in this directory or below it |
    | `policy` | decides about the agent's use of the server's files and terminals; asks the clients where needed |
    | `budgets` | limits per principal |
    | `shared_sessions` | every principal may attach to every session, with its own role |
    | `max_queued_bytes` | a client that is further behind is disconnected; it can resume |
    | `compact_after` | how many events of a session are replayed exactly; older ones are compacted |
    | `max_session_bytes` | how much of a session is saved; when there is more, its oldest events are dropped |
    | `idle_seconds` | an idle session without clients is closed after this time, if the agent can restore it |

    `on_disconnect` is `keep` (the agent continues; requests wait for a client), `pause` (the turn is cancelled at the
    next permission request, and queued prompts wait) or `cancel`."""

    def __init__(
        self,
        spawner: Spawner,
        *,
        log: EventLog | None = None,
        isolation: Isolation = "session",
        permissions: str = "first",
        on_disconnect: OnDisconnect = "keep",
        grace_seconds: float = 30.0,
        client_files: bool = False,
        root: str | os.PathLike[str] = ".",
        policy: Policy | None = None,
        budgets: Budgets | None = None,
        shared_sessions: bool = False,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        compact_after: int = COMPACT_AFTER,
        max_session_bytes: int = MAX_SESSION_BYTES,
        idle_seconds: float | None = IDLE_SECONDS,
    ) -> None:
        directory = Path(os.path.abspath(root))
        settings = HubSettings(
            root=directory,
            permissions=parse_policy(permissions),
            policy=policy,
            on_disconnect=on_disconnect,
            grace_seconds=grace_seconds,
            client_files=client_files,
            shared_sessions=shared_sessions,
            max_queued_bytes=max_queued_bytes,
            compact_after=compact_after,
            max_session_bytes=max_session_bytes,
            idle_seconds=idle_seconds,
        )
        host = AgentHost(spawner, isolation, str(directory), has_workspace=not client_files)
        self._context = Context(log or MemoryEventLog(), host, budgets or Budgets(), settings)
        self._sessions = SessionRegistry(self._context)
        self._clients: dict[str, ClientConnection] = {}
        self._idle = asyncio.Event()

    async def accept(self, transport: Transport, principal: Principal) -> None:
        """Serve one client connection until it ends."""
        client = ClientConnection(self._context, self._sessions, transport, principal)
        client.on_initialized = self._replace_older
        self._clients[client.origin] = client
        client.connection.start()
        try:
            await client.connection.ended.wait()
        finally:
            self._clients = {origin: each for origin, each in self._clients.items() if each is not client}
            await client.connection.close()

    def _replace_older(self, client: ClientConnection) -> None:
        """Register a client that has sent its own id. Its previous connection, if still open, is closed."""
        self._clients = {origin: each for origin, each in self._clients.items() if each is not client}
        older = self._clients.pop(client.origin, None)
        self._clients[client.origin] = client
        if older is not None:
            self._context.start(older.connection.close())

    async def close(self, *, drain_seconds: float = 0) -> None:
        """Reject new prompts, wait up to `drain_seconds` for running turns, then end agents and connections."""
        self._context.is_draining = True
        if drain_seconds and self._busy():
            try:
                async with asyncio.timeout(drain_seconds):
                    await self._wait_until_idle()
            except TimeoutError:
                pass
        reason = Failure(None, Fault(-32603, "the server is shutting down"))
        sessions = list(self._sessions.open.values())
        for session in sessions:
            session.prompts.end(reason)
        self._context.commits.commit()
        await asyncio.gather(*(self._sessions.close(session) for session in sessions))
        await asyncio.gather(*(client.connection.close() for client in list(self._clients.values())))
        await self._context.host.close()
        await self._context.close()
        self._context.log.close()

    async def _wait_until_idle(self) -> None:
        self._sessions.on_idle = self._idle.set
        while self._busy():
            self._idle.clear()
            await self._idle.wait()

    def _busy(self) -> bool:
        return any(session.is_busy for session in self._sessions.open.values())

    # -- reports

    @property
    def sessions(self) -> list[SessionView]:
        """The open sessions."""
        return list(self.iterate_sessions())

    def iterate_sessions(self) -> Iterator[SessionView]:
        """Return the open sessions one by one. Nothing may be awaited in between.

        A list of thousands of views, made every second, would keep the garbage collector busy."""
        return map(SessionView, self._sessions.open.values())

    @property
    def stats(self) -> HubStats:
        """Numbers for metrics."""
        counters, open_sessions = self._context.counters, self._sessions.open.values()
        return HubStats(
            sessions=len(open_sessions),
            clients=len(self._clients),
            agent_processes=len(self._context.host.processes),
            running_turns=sum(session.is_busy for session in open_sessions),
            queued_bytes=sum(client.connection.outbox.queued_bytes for client in self._clients.values()),
            turns_total=counters.turns,
            events_total=counters.events,
            agent_processes_total=self._context.host.spawned,
            slow_clients_total=counters.slow_clients,
        )

    async def __aenter__(self) -> Hub:
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.close()
