"""The live ACP connections of a server: counts them by principal, and closes them when necessary.

A connection is closed when its token is revoked or expires, when it is idle for too long, or when it is too old."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from accord.server.identity import Identity
from accord.server.limits import ServerLimits, refuse_rate
from accord.server.logs import ServerLog
from accord.server.metrics import Metrics
from accord.server.request import Refusal
from accord.server.tokens import Tokens

WATCH_SECONDS = 0.5
CONNECTION_HEADER = "acp-connection-id"


class Ending(NamedTuple):
    """The reason for closing a connection, as sent to its client."""

    why: str
    message: str


REVOKED = Ending("revoked", "the token was revoked or has expired")
IDLE = Ending("idle", "no messages for too long")
TOO_OLD = Ending("lifetime", "the connection reached its maximum age")


class LiveConnection:
    """An ACP connection and its activity."""

    def __init__(self, id: str, kind: str, address: str, identity: Identity, now: float) -> None:
        self.id = id
        self.kind = kind
        self.address = address
        self.identity = identity
        self.opened_at = now
        self.active_at = now


class Connections:
    """All live connections."""

    def __init__(
        self,
        limits: ServerLimits,
        tokens: Tokens,
        metrics: Metrics,
        audit: ServerLog,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._tokens = tokens
        self._metrics = metrics
        self._audit = audit
        self._clock = clock
        self._live: dict[str, LiveConnection] = {}
        metrics.gauge("accord_connections", "Live ACP connections by transport.", self._count_by_kind, "transport")

    def __len__(self) -> int:
        return len(self._live)

    def _count_by_kind(self) -> dict[str, float]:
        counts = Counter(connection.kind for connection in self._live.values())
        return {kind: float(counts[kind]) for kind in {"http", "websocket", *counts}}

    def check_room(self, identity: Identity) -> None:
        """Refuse another connection if there are too many, in total or of this principal."""
        if len(self._live) >= self._limits.max_connections:
            message = "The server has reached its connection limit. Try again later."
            raise Refusal(503, message, why="connections", headers=[(b"retry-after", b"5")])
        name = identity.principal.name
        own = sum(connection.identity.principal.name == name for connection in self._live.values())
        if own >= self._limits.max_connections_per_principal:
            raise refuse_rate(f"{name} has {own} connections, the limit for one token. Close one first.")

    @contextmanager
    def open(self, id: str, kind: str, address: str, identity: Identity) -> Iterator[LiveConnection]:
        """Count a connection for the duration of the context. Raises `Refusal` if there are too many."""
        self.check_room(identity)
        connection = LiveConnection(id, kind, address, identity, self._clock())
        self._live[id] = connection
        self._metrics.connections.add(transport=kind)
        who = {"principal": identity.principal.name, "role": identity.principal.role, "address": address}
        self._audit.record("connected", **who, transport=kind, connection=id)
        try:
            yield connection
        finally:
            del self._live[id]
            seconds = round(self._clock() - connection.opened_at, 3)
            self._audit.record("disconnected", **who, transport=kind, connection=id, seconds=seconds)

    def find_ended(self) -> dict[str, Ending]:
        """Return the connections that must be closed, by id."""
        now, limits, found = self._clock(), self._limits, {}
        valid: dict[Identity, bool] = {}
        for connection in self._live.values():
            identity = connection.identity
            if identity not in valid:  # many connections share a token
                valid[identity] = self._tokens.is_valid(identity)
            if not valid[identity]:
                found[connection.id] = REVOKED
            elif limits.lifetime_seconds and now - connection.opened_at >= limits.lifetime_seconds:
                found[connection.id] = TOO_OLD
            elif limits.idle_seconds and now - connection.active_at >= limits.idle_seconds:
                found[connection.id] = IDLE
        return found

    async def watch(self, close: Callable[[dict[str, Ending]], None]) -> None:
        """Close those connections, until cancelled. `close` gets their endings by id."""
        while True:
            if self._tokens.refresh():
                self._audit.record("tokens_changed", problem=self._tokens.problem)
            if ended := self.find_ended():
                for id, ending in ended.items():
                    connection = self._live[id]
                    self._audit.record(
                        "closed", principal=connection.identity.principal.name, connection=id, why=ending.why
                    )
                close(ended)
            await asyncio.sleep(WATCH_SECONDS)
