"""MCP servers that a client offers to the agent of its session, through the hub.

The hub generates the ids for the agent, so that neither clients nor agents can refer to each other's servers. Only the
client that offered a server gets the requests to it. If it reconnects, open requests are delivered again, with ids by
which it recognizes them. Another client of the same principal can take over the servers by their names. It gets only
new requests, because a tool must not run twice."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Hashable
from typing import Protocol

from accord.connection.relay_connection import Outcome, RelayConnection
from accord.hub.agent_process import MCP_MESSAGE, fail
from accord.hub.attachment import Subscriber
from accord.hub.raw_params import add_meta, decode, read_object, read_text, replace_fields
from accord.rpc.ids import RequestId

SERVER_UNAVAILABLE = -33001
RECONNECT_SECONDS = 60.0
"""How long requests wait for a client that reconnects."""
MAX_OPEN = 256
LIMIT_EXCEEDED = -33000
_DISCONNECTED = fail("the client with this MCP server disconnected", SERVER_UNAVAILABLE)


class AgentEnd(Protocol):
    """The agent process, as the relay sees it."""

    def answer(self, id: RequestId, outcome: Outcome, sender: Hashable = None) -> None:
        """Answer a request of the agent, on behalf of a principal."""

    def notify(self, method: str, params: bytes, sender: Hashable) -> None:
        """Send the agent a notification of a principal."""


class _Open:
    """A request of the agent that the client hasn't answered."""

    def __init__(self, agent: AgentEnd, id: RequestId, params: bytes) -> None:
        self.agent = agent
        self.id = id
        self.params = params
        self.stable_id = secrets.token_hex(8)
        self.delivery: tuple[RelayConnection, int] | None = None
        """The connection on which it waits for a response; None if the client isn't connected."""
        self.receiver: str | None = None
        """The origin of the client that it was delivered to, the only one that recognizes it if it is delivered
        again."""


class McpRelay:
    """The servers that one client offers to one session."""

    def __init__(self, owner: str, params: bytes) -> None:
        """`params` are those of `session/new`, with the ids that the agent knows. `owner` is the only principal that
        may offer these servers."""
        self.owner = owner
        self.ids: dict[str, str] = {id: name for name, id in _servers(params).items()}
        """The names of the servers by the ids that the agent knows."""
        self._client_ids: dict[str, str] = {}
        self._client: Subscriber | None = None
        self.is_closed: bool = False
        self.agent: AgentEnd | None = None
        """The agent process in which the session runs."""
        self._open: dict[tuple[AgentEnd, RequestId], _Open] = {}
        self._give_up: asyncio.TimerHandle | None = None

    @classmethod
    def create(cls, client: Subscriber, params: bytes) -> tuple[McpRelay, bytes]:
        """Return the relay of a new session, and the params for the agent."""
        servers = decode(read_object(params).get("mcpServers"))
        if _servers(params):
            for server in servers:
                if isinstance(server, dict) and server.get("type") == "acp":
                    server["serverId"] = secrets.token_urlsafe(16)
            relay = cls(client.principal.name, rewritten := replace_fields(params, mcpServers=servers))
            relay.offer(client, params)
            return relay, rewritten
        return cls(client.principal.name, params), params

    def offer(self, client: Subscriber, params: bytes) -> None:
        """Use the servers of a client that opens the session, if it offers any of them."""
        offered = _servers(params)
        if client.principal.name != self.owner or not client.principal.can_drive:
            return
        found = {id: offered[name] for id, name in self.ids.items() if name in offered}
        if found:
            self._client, self._client_ids = client, found

    # -- the agent

    def request(self, agent: AgentEnd, id: RequestId, params: bytes) -> None:
        """Pass a request of the agent to the client."""
        if self._client is None or self._client_id(params) is None:
            agent.answer(id, fail("the client with this MCP server isn't connected", SERVER_UNAVAILABLE))
            return
        if len(self._open) >= MAX_OPEN:
            agent.answer(id, fail(f"{MAX_OPEN} MCP requests are open already", LIMIT_EXCEEDED))
            return
        opened = self._open[agent, id] = _Open(agent, id, params)
        self._deliver(opened)

    def cancel(self, agent: AgentEnd, id: RequestId) -> None:
        """Handle the cancellation of a request by the agent. The client still responds."""
        opened = self._open.get((agent, id))
        if opened is not None and opened.delivery is not None:
            connection, sent = opened.delivery
            connection.cancel(sent)

    def agent_ended(self, agent: AgentEnd) -> None:
        """Cancel the open requests of an agent process that has ended."""
        for opened in [each for each in self._open.values() if each.agent is agent]:
            self.cancel(agent, opened.id)
            self._open.pop((agent, opened.id), None)
        if self.agent is agent:
            self.agent = None

    # -- the client

    def redeliver(self, client: Subscriber) -> None:
        """Deliver open requests again to a client that has reconnected."""
        if self._client is not client:
            return
        if self._give_up is not None:
            self._give_up.cancel()
            self._give_up = None
        for opened in list(self._open.values()):
            if opened.receiver in (None, client.origin):
                if opened.delivery is None or opened.delivery[0] is not client.connection:
                    self._deliver(opened)
            elif opened.delivery is None:
                self._answer(opened, _DISCONNECTED)

    def disconnect(self, connection: RelayConnection) -> None:
        """Handle a client's disconnection. Open requests wait if the client can resume; otherwise they fail."""
        client = self._client
        is_current = client is not None and client.connection is connection
        can_resume = is_current and client is not None and client.is_resume_aware
        for opened in list(self._open.values()):
            if opened.delivery is not None and opened.delivery[0] is connection:
                opened.delivery = None
                if not can_resume:
                    self._answer(opened, _DISCONNECTED)
        if can_resume:
            self._await_client()
        elif is_current:
            self._fail_undelivered()
            self._client = None

    def notify(self, client: Subscriber, params: bytes) -> bool:
        """Pass a client's notification to the agent. Returns False if the client doesn't offer the server."""
        wanted = read_text(read_object(params).get("serverId"))
        if self._client is not client or self.agent is None:
            return False
        id = next((id for id, client_id in self._client_ids.items() if client_id == wanted), None)
        if id is not None:
            self.agent.notify(MCP_MESSAGE, replace_fields(params, serverId=id), self.owner)
        return id is not None

    def close(self) -> None:
        """Answer all open requests, because the session is closed."""
        self._fail_undelivered()
        for opened in list(self._open.values()):
            self._answer(opened, _DISCONNECTED)
        self._client, self.is_closed = None, True

    # -- requests

    def _deliver(self, opened: _Open) -> None:
        client, server_id = self._client, self._client_id(opened.params)
        assert client is not None
        if server_id is None:  # the client has reconnected without this server
            self._answer(opened, fail("the client no longer offers this MCP server", SERVER_UNAVAILABLE))
            return
        if not client.connection.is_open:
            self._await_client()
            return
        params = replace_fields(opened.params, serverId=server_id)
        if client.is_resume_aware:
            params = add_meta(params, b'"accord/request":"%b"' % opened.stable_id.encode())
        sent = client.connection.request(MCP_MESSAGE, params, lambda outcome: self._answer(opened, outcome))
        opened.delivery = (client.connection, sent)
        opened.receiver = client.origin

    def _await_client(self) -> None:
        """Wait for the client to reconnect, up to a limit."""
        if self._give_up is None and any(opened.delivery is None for opened in self._open.values()):
            self._give_up = asyncio.get_running_loop().call_later(RECONNECT_SECONDS, self._fail_undelivered)

    def _answer(self, opened: _Open, outcome: Outcome) -> None:
        if self._open.pop((opened.agent, opened.id), None) is not None:
            opened.agent.answer(opened.id, outcome, ("answer", self.owner))

    def _fail_undelivered(self) -> None:
        """Stop waiting for the client. Requests that another client is working on stay open."""
        if self._give_up is not None:
            self._give_up.cancel()
            self._give_up = None
        for opened in list(self._open.values()):
            if opened.delivery is None:
                self._answer(opened, _DISCONNECTED)

    def _client_id(self, params: bytes) -> str | None:
        return self._client_ids.get(read_text(read_object(params).get("serverId")) or "")


def _servers(params: bytes) -> dict[str, str]:
    """Return the ids of the offered servers of a session by their names."""
    servers = decode(read_object(params).get("mcpServers"))
    found: dict[str, str] = {}
    for server in servers if isinstance(servers, list) else []:
        if isinstance(server, dict) and server.get("type") == "acp":
            name, id = server.get("name"), server.get("serverId")
            if isinstance(name, str) and isinstance(id, str):
                found[name] = id
    return found
