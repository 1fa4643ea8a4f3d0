"""A running proxy, between its client's port and its successor's port."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from accord.connection.handshake import agreed_version
from accord.connection.relay_connection import Outcome
from accord.errors import VersionError
from accord.proxy.endpoint import Port
from accord.proxy.handled_direction import HandledDirection, read_version
from accord.proxy.handlers import Handlers, Way
from accord.proxy.hop import Rewrite, keep
from accord.proxy.message import ProxyPeer
from accord.proxy.proxy import MessageKind, Proxy

log: logging.Logger = logging.getLogger("accord")

VERSIONS = (1, 2)
"""The protocol versions whose types handlers can use."""


class ProxySide:
    """Passes messages in both directions, through the proxy's handlers."""

    def __init__(self, proxy: Proxy, client: Port, agent: Port, rewrite: Rewrite = keep) -> None:
        self.version: int | None = None
        self.handlers: Handlers = Handlers(proxy, [], 1)
        self.is_watching: bool = type(proxy).watch is not Proxy.watch
        self._proxy = proxy
        to_client_calls: set[asyncio.Future[Outcome]] = set()
        # If both ports share a connection, the responses to all our requests arrive on it.
        to_agent_calls = to_client_calls if client.endpoint is agent.endpoint else set()
        self.to_agent: HandledDirection = HandledDirection(self, "to_agent", client, agent, to_client_calls, rewrite)
        self.to_client: HandledDirection = HandledDirection(self, "to_client", agent, client, to_agent_calls, keep)
        self.to_agent.opposite, self.to_client.opposite = self.to_client, self.to_agent
        proxy.client = ProxyPeer(client, to_client_calls, self._limit)
        proxy.agent = ProxyPeer(agent, to_agent_calls, self._limit)
        proxy.version = None

    def _limit(self) -> None:
        self.to_agent.limit()
        self.to_client.limit()

    def watch(self, way: Way, kind: MessageKind, method: str, body: bytes) -> None:
        """Pass a message to `Proxy.watch`."""
        try:
            self._proxy.watch(way, kind, method, body)
        except Exception as error:  # the message passes anyway
            log.error("%s.watch failed", type(self._proxy).__name__, exc_info=error)

    def prepare(self, params: bytes) -> None:
        """Find the handler of `initialize`, in the version that the client requests."""
        requested = read_version(params)
        self._use(min(requested, max(VERSIONS)) if isinstance(requested, int) and requested > 0 else 1)

    def agree(self, result: bytes) -> None:
        """Use the handlers of the version that the agent has chosen."""
        try:
            version = agreed_version(msgspec.json.decode(result), VERSIONS)
        except (ValueError, VersionError):
            return  # an unknown version: everything passes
        self._use(version)
        self._proxy.version = version

    def _use(self, version: int) -> None:
        if version != self.version:
            self.version = version
            self.handlers = Handlers(self._proxy, type(self._proxy).marks(), version)

    async def stop(self) -> None:
        """Cancel all handlers."""
        await self.to_agent.stop()
        await self.to_client.stop()
