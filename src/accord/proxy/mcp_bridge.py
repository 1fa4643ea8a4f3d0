"""MCP over ACP for an agent that doesn't support it: the conductor advertises it on the agent's behalf.

Proxies and the client then offer their MCP servers through the connection. To the agent, each of them is a command that
it can start. Its MCP requests arrive here, and are sent to the offering side as `mcp/message`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from accord.connection.relay_connection import Outcome
from accord.errors import INTERNAL_ERROR, RequestFailed
from accord.mcp.client_link import ClientLink
from accord.mcp.client_requests import ClientRequests
from accord.mcp.hosted_server import LIMIT_EXCEEDED, SERVER_FAILED
from accord.mcp.stdio_bridge import StdioBridge
from accord.model.requests import McpServer
from accord.proxy.endpoint import Port
from accord.proxy.handled_direction import INITIALIZE, read_version
from accord.proxy.hop import Direction, Rewrite
from accord.proxy.rewrite import read
from accord.remote.message import Fields, raw, read_fields, read_text, read_value
from accord.rpc.envelope import Failure, Fault, Success
from accord.rpc.ids import RequestId
from accord.schema.common.mcp import (
    McpServerAcp,
    MessageMcpError,
    MessageMcpNotification,
    MessageMcpRequest,
    MessageMcpResponse,
    MessageMcpResult,
)
from accord.schema.wire import encode

MCP_MESSAGE = "mcp/message"
MAX_OPEN = 256
"""The maximum number of open MCP requests of an agent."""
_OPENING = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
_CLOSING = frozenset({"session/close", "session/delete"})
_CAPABILITIES: dict[int, tuple[str, ...]] = {
    1: ("agentCapabilities", "mcpCapabilities"),
    2: ("capabilities", "session", "mcp"),
}
"""The path to the MCP capabilities in the result of `initialize`, by protocol version."""


class _Watched:
    """A request whose response the bridge has to see."""

    def __init__(self, method: str, session_id: str) -> None:
        self.method = method
        self.session_id = session_id
        self.servers: list[_BridgedServer] = []


class _BridgedServer:
    """One server of a session, which the agent starts as a command."""

    def __init__(self, id: str, bridge: StdioBridge) -> None:
        self.id = id
        self.bridge = bridge
        self.accepting: asyncio.Task[None] | None = None

    def listen(self) -> McpServer:
        declared = self.bridge.listen()
        self.accepting = asyncio.get_running_loop().create_task(self.bridge.accept())
        return declared

    async def close(self) -> None:
        if self.accepting is not None:
            await asyncio.wait({self.accepting})
        await self.bridge.close()


class McpBridge(Direction):
    """Passes messages to an agent on this machine, and bridges its MCP servers if necessary."""

    def __init__(self, source: Port, target: Port, rewrite: Rewrite) -> None:
        super().__init__(source, target, rewrite)
        self._version = 0
        """The protocol version if servers are bridged, else 0."""
        self._requests = ClientRequests(self._call)
        self._open_count = 0
        self._watched: dict[RequestId, _Watched] = {}
        self._servers: dict[str, _BridgedServer] = {}
        self._by_session: dict[str, list[_BridgedServer]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop all servers."""
        self._release(list(self._servers.values()))
        if self._tasks:
            await asyncio.wait(self._tasks)

    # -- messages for the agent

    def pass_request(self, id: RequestId, method: str, params: bytes) -> None:
        if method == INITIALIZE:
            self._watched[id] = _Watched(method, "")
        elif self._version and (method in _OPENING or method in _CLOSING):
            fields = read_fields(params) or {}
            watched = self._watched[id] = _Watched(method, read_text(fields, "sessionId"))
            if method in _OPENING:
                try:
                    params = self._bridge_servers(watched, fields, params)
                except OSError as error:
                    del self._watched[id]
                    self._release(watched.servers)
                    reason = f"couldn't bridge an MCP server to the agent: {error.strerror}"
                    self.source.answer(id, Failure(id, Fault(INTERNAL_ERROR, reason)))
                    return
        super().pass_request(id, method, params)

    def _bridge_servers(self, watched: _Watched, fields: Fields, params: bytes) -> bytes:
        """Return the params with a command in place of each server behind the client. The rest stays as it is."""
        try:
            servers = msgspec.json.decode(fields.get("mcpServers", b"null"), type=list[Raw])
        except (ValueError, RecursionError):
            return params
        bridged = [self._bridge(watched, server) for server in servers]
        if not watched.servers:
            return params
        return msgspec.json.encode({**fields, "mcpServers": bridged})

    def _bridge(self, watched: _Watched, server: Raw) -> Raw:
        try:
            offered = msgspec.json.decode(server, type=McpServerAcp)
        except (ValueError, RecursionError):
            return server
        bridge = StdioBridge(offered.name, lambda: ClientLink(self._requests, offered.server_id))
        entry = _BridgedServer(offered.server_id, bridge)
        declared = entry.listen()
        watched.servers.append(entry)
        self._servers[entry.id] = entry
        kind = {} if self._version == 1 else {"type": "stdio"}  # version 1 has no type for commands
        env = [{"name": name, "value": value} for name, value in declared.env.items()]
        return raw({**kind, "name": declared.name, "command": declared.command, "args": declared.args, "env": env})

    def on_notification(self, method: str, params: bytes) -> None:
        if not (method == MCP_MESSAGE and self._version and self._receive(params)):
            super().on_notification(method, params)

    def _receive(self, params: bytes) -> bool:
        """Deliver a notification of a bridged server. Returns False if it is for the agent."""
        try:
            notification = read(MessageMcpNotification, params)
        except ValueError:
            return False
        if notification.server_id not in self._servers:
            return False
        self._requests.receive(notification, len(params))
        return True

    # -- responses of the agent

    def respond(self, id: RequestId, outcome: Outcome) -> None:
        watched = self._watched.pop(id, None)
        if watched is not None:
            outcome = self._observe_response(watched, outcome)
        super().respond(id, outcome)

    def _observe_response(self, watched: _Watched, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Success):
            self._release(watched.servers)
        elif watched.method == INITIALIZE:
            return self._offer(outcome)
        else:
            created = read_text(read_fields(outcome.result), "sessionId") if watched.method in _OPENING else ""
            session_id = created or watched.session_id
            self._release(self._by_session.pop(session_id, []))
            if watched.servers:
                self._by_session[session_id] = watched.servers
        return outcome

    def _offer(self, outcome: Success) -> Outcome:
        """Add MCP over ACP to the agent's capabilities, if it doesn't support it itself."""
        result = bytes(outcome.result)
        fields, version = read_fields(outcome.result), read_version(result)
        path = _CAPABILITIES.get(version) if isinstance(version, int) else None
        self._version = 0
        if fields is None or path is None:
            return outcome
        supported = read_value(fields, *path)
        ways = supported if isinstance(supported, dict) else {}
        has_stdio = version == 1 or isinstance(ways.get("stdio"), dict)  # required in version 1, optional in version 2
        if ways.get("acp") not in (None, False) or not has_stdio:
            return outcome
        self._version = version
        return Success(outcome.id, Raw(msgspec.json.encode(_set(fields, (*path, "acp"), True if version == 1 else {}))))

    # -- MCP requests of the agent

    async def _call(self, message: MessageMcpRequest) -> MessageMcpResult | MessageMcpError:
        """Send an MCP request towards the client and wait for the response."""
        if self._open_count >= MAX_OPEN:
            raise RequestFailed(f"{MAX_OPEN} MCP requests are open already", code=LIMIT_EXCEEDED)
        answered: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def settle(outcome: Outcome) -> None:
            if not answered.done():
                answered.set_result(outcome)

        self._open_count += 1
        id = self.source.request(MCP_MESSAGE, encode(message), settle)
        try:
            outcome = await answered
        except asyncio.CancelledError:
            self.source.cancel(id)
            raise
        finally:
            self._open_count -= 1
        if isinstance(outcome, Failure):
            fault = outcome.error
            raise RequestFailed(fault.message, code=fault.code, data=None if fault.data is UNSET else fault.data)
        try:
            response: MessageMcpResult | MessageMcpError = read(MessageMcpResponse, bytes(outcome.result))
        except ValueError:
            raise RequestFailed("the response of the MCP server can't be read", code=SERVER_FAILED) from None
        return response

    # -- the end

    def _release(self, servers: list[_BridgedServer]) -> None:
        for server in servers:
            if self._servers.get(server.id) is server:
                del self._servers[server.id]
            self._start(server.close())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _set(fields: Fields, path: tuple[str, ...], value: Any) -> Fields:
    """Return an object with one value set. Everything else stays as it is."""
    if len(path) == 1:
        return {**fields, path[0]: raw(value)}
    inner = read_fields(fields.get(path[0], UNSET)) or {}
    return {**fields, path[0]: raw(_set(inner, path[1:], value))}
