"""One agent process: its connection, its sessions, and its messages outside sessions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, Raw

from accord.connection.handshake import agreed_version
from accord.connection.relay_connection import OnAnswer, Outcome, RelayConnection
from accord.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, DeadlineExceeded, RequestFailed
from accord.hub.principal import Principal
from accord.hub.raw_params import decode, read_head, read_object, read_text, remove_meta, replace_fields
from accord.rpc.envelope import Failure, Fault, Success
from accord.rpc.ids import RequestId
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.hub.mcp_relay import McpRelay

log: logging.Logger = logging.getLogger("accord")

INITIALIZE_SECONDS = 60.0
CALL_SECONDS = 5.0
"""How long an agent may take to list, close or delete sessions."""
MCP_MESSAGE = "mcp/message"
ELICITATION = "elicitation/create"
HUB_METHODS = "_accord/"
HUB_KEYS = ("accord/cursor", "accord/request", "accord/by", "accord/recordedAt")
"""Methods and keys of `_meta` for the hub's own messages. Clients trust them, so agents can't use them."""
MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""How many bytes of the hub's own messages an agent may leave unread before its process is ended; otherwise it could
fill the memory with requests whose responses it doesn't read."""
MAX_SENDER_BYTES = 32 * 1024 * 1024
"""How many bytes a principal may have queued for an agent process that reads slowly. Other principals may use the same
process, so it isn't ended: further messages of the principal are refused. A single message may be larger."""
MAX_SUBAGENTS = 100_000
MAX_EARLY_MESSAGES = 1000
"""The number of messages that are buffered for sessions that aren't known yet."""


class AgentSession(Protocol):
    """A session in an agent process."""

    mcp: McpRelay
    """The MCP servers that a client offers to it."""

    def on_agent_notification(self, method: str, params: bytes) -> None:
        """Handle a notification of the agent."""

    def on_agent_request(self, id: RequestId, method: str, params: bytes) -> None:
        """Handle a request of the agent."""

    def on_agent_cancel(self, id: RequestId) -> None:
        """Handle the cancellation of a request by the agent."""

    def on_agent_ended(self, reason: str) -> None:
        """Handle the end of the agent process."""

    def connections(self) -> Iterable[RelayConnection]:
        """Return the connections of the session's clients, drivers first."""

    def drivers(self) -> Iterable[RelayConnection]:
        """Return the connections of the clients that may answer."""


class AgentProcess:
    """A running agent, of which the hub is the only client."""

    def __init__(self, transport: Transport, principal: Principal, cwd: str) -> None:
        self.principal = principal
        self.cwd = cwd
        self.version: int = 0
        self.result: dict[str, Raw] = {}
        """The result of `initialize`."""
        self.capabilities: dict[str, Any] = {}
        """The same, decoded."""
        self.sessions: dict[str, AgentSession] = {}
        """The sessions in this process by the agent's ids."""
        self._subagents: dict[str, AgentSession] = {}
        self.on_ended: Callable[[AgentProcess], None] = lambda process: None
        self.connection: RelayConnection = RelayConnection(
            transport, self, side="client", max_queued_bytes=MAX_UNREAD_BYTES, on_overflow=self._stopped_reading
        )
        self._mcp: dict[str, McpRelay] = {}
        """The MCP servers of clients, by the ids that the agent knows."""
        self._asked_mcp: dict[RequestId, McpRelay] = {}
        self._closing: asyncio.Task[None] | None = None
        self._opening = 0
        self._early: list[tuple[str, Callable[[AgentSession], None]]] = []
        self._asked: dict[RequestId, AgentSession] = {}
        self._asked_outside: dict[RequestId, tuple[RelayConnection, int]] = {}
        self._relayed: dict[int, tuple[RelayConnection, RequestId]] = {}
        self._outside: list[RelayConnection] = []

    @property
    def is_open(self) -> bool:
        return self.connection.is_open

    # -- start

    async def initialize(self, params: bytes, versions: Iterable[int]) -> None:
        """Start, and negotiate a protocol version. Raises `AccordError` if that fails."""
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def finish(outcome: Outcome) -> None:
            if not done.done():
                done.set_result(outcome)

        self.connection.start()
        self.connection.request("initialize", params, finish)
        try:
            async with asyncio.timeout(INITIALIZE_SECONDS):
                outcome = await done
        except TimeoutError:
            what = f"the agent didn't respond to initialize within {INITIALIZE_SECONDS:g} s"
            raise DeadlineExceeded(what, stage="initialize", seconds=INITIALIZE_SECONDS) from None
        if isinstance(outcome, Failure):
            raise RequestFailed(outcome.error.message, code=outcome.error.code, data=_data(outcome.error))
        self.capabilities = decode(outcome.result) or {}
        self.version = agreed_version(self.capabilities, set(versions))
        self.result = read_object(outcome.result)

    # -- sending

    def relay(
        self,
        method: str,
        params: bytes,
        on_answer: OnAnswer,
        source: tuple[RelayConnection, RequestId] | None = None,
        *,
        sender: str,
    ) -> int:
        """Pass on a request of a principal, the sender. `source` is the client and its id, for agents that refer to the
        request. Raises `RequestFailed` if the process has ended, or if too much of the sender is queued for it."""

        if not self.is_open:
            raise RequestFailed("the agent process has ended")
        self._check_room(sender, params)
        if source is None:
            return self.connection.request(method, params, on_answer, sender)

        def finish(outcome: Outcome) -> None:
            self._relayed.pop(sent, None)
            on_answer(outcome)

        sent: int = self.connection.request(method, params, finish, sender)
        self._relayed[sent] = source
        return sent

    def _check_room(self, sender: Hashable, params: bytes) -> None:
        queued = self.connection.outbox.queued_by(sender)
        if queued and queued + len(params) > MAX_SENDER_BYTES:
            raise RequestFailed(
                f"the agent isn't reading: {queued} bytes of your earlier messages still wait for it; try again later"
            )

    def notify(self, method: str, params: bytes, sender: Hashable) -> None:
        """Pass on a notification, or drop it if too much of the sender is queued."""
        try:
            self._check_room(sender, params)
        except RequestFailed as error:
            log.debug("%.100r was dropped: %s", method, error)
        else:
            self.connection.notify(method, params, sender)

    async def call(self, method: str, params: bytes, sender: str) -> Outcome | None:
        """Send a request and wait briefly for its response; None if there is none."""
        if not self.is_open:
            return None
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.relay(method, params, lambda outcome: None if done.done() else done.set_result(outcome), sender=sender)
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await done
        except TimeoutError:
            log.debug("the agent didn't respond to %s", method)
            return None

    def open_session(
        self,
        method: str,
        params: bytes,
        on_answer: OnAnswer,
        source: tuple[RelayConnection, RequestId],
        *,
        sender: str,
    ) -> int:
        """Pass on a request that opens a session. Messages of unknown sessions are buffered until the response."""

        def finish(outcome: Outcome) -> None:
            try:
                on_answer(outcome)
            finally:
                self._opening -= 1
                if not self._opening:
                    self._early.clear()

        id = self.relay(method, params, finish, source, sender=sender)
        self._opening += 1
        return id

    def add_session(self, agent_id: str, session: AgentSession) -> None:
        """Register a session, and deliver its messages that arrived before the response that named it."""
        self.sessions[agent_id] = session
        early, self._early = self._early, []
        for id, deliver in early:
            if id == agent_id:
                deliver(session)
            else:
                self._early.append((id, deliver))

    def hold(self, is_held: bool) -> None:
        """Stop reading from the agent, or continue."""
        if is_held:
            self.connection.transport.pause()
        else:
            self.connection.transport.resume()

    def add_subagent(self, agent_id: str, session: AgentSession) -> None:
        """Register the session of a subagent: its messages belong to the session that announced it."""
        if len(self._subagents) < MAX_SUBAGENTS:
            self._subagents.setdefault(agent_id, session)

    def forget(self, agent_id: str) -> None:
        """Forget a session that was closed, and its subagents."""
        session = self.sessions.pop(agent_id, None)
        if session is not None:
            self.remove_mcp(session.mcp)
        self._subagents = {id: each for id, each in self._subagents.items() if each is not session}

    def add_mcp(self, relay: McpRelay) -> None:
        """Let the agent use MCP servers of a client."""
        relay.agent = self
        self._mcp.update(dict.fromkeys(relay.ids, relay))

    def remove_mcp(self, relay: McpRelay) -> None:
        """Remove these servers again: the session has ended."""
        self._mcp = {id: each for id, each in self._mcp.items() if each is not relay}
        relay.agent_ended(self)

    def add_outside_user(self, connection: RelayConnection) -> None:
        """Register a client that uses the agent outside sessions, so that it gets the agent's messages there."""
        if connection in self._outside:
            self._outside.remove(connection)
        self._outside = [each for each in self._outside if each.is_open]
        self._outside.insert(0, connection)

    async def close(self) -> None:
        """End the process."""
        await self.connection.close()

    def _stopped_reading(self) -> None:
        log.warning("an agent left %d bytes unread and was ended", MAX_UNREAD_BYTES)
        self._closing = asyncio.get_running_loop().create_task(self.close())

    # -- receiving

    def on_notification(self, method: str, params: bytes) -> None:
        if method.startswith(HUB_METHODS) or method == MCP_MESSAGE:  # agents send only requests to MCP servers
            return
        head = read_head(params)
        if head.meta is not UNSET:
            params = remove_meta(params, *HUB_KEYS)
        id = head.session_id
        if id is UNSET:
            for connection in self._users():
                connection.notify(method, params)
            return
        session = self._find(id)
        if session is not None:
            session.on_agent_notification(method, params)
        elif self._opening:
            self._keep(id, lambda found: found.on_agent_notification(method, params))

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        if method.startswith(HUB_METHODS):
            self.answer(id, Failure(id, Fault(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")))
            return
        params = remove_meta(params, *HUB_KEYS)
        if method == MCP_MESSAGE:
            self._ask_mcp(id, params)
            return
        session_id = read_head(params).session_id
        if session_id is UNSET:
            self._ask_outside(id, method, params)
            return
        session = self._find(session_id)
        if session is not None:
            self._ask(session, id, method, params)
        elif self._opening:
            self._keep(session_id, lambda found: self._ask(found, id, method, params))
        else:
            self.answer(id, Failure(id, Fault(METHOD_NOT_FOUND, f"there is no session {session_id[:100]!r}")))

    def _ask(self, session: AgentSession, id: RequestId, method: str, params: bytes) -> None:
        self._asked[id] = session
        session.on_agent_request(id, method, params)

    def _ask_mcp(self, id: RequestId, params: bytes) -> None:
        server = read_text(read_object(params).get("serverId"))
        relay = self._mcp.get(server or "")
        if relay is None:
            self.answer(id, fail("there is no MCP server with this id", -33001))
            return
        self._asked_mcp[id] = relay
        relay.request(self, id, params)

    def answer(self, id: RequestId, outcome: Outcome, sender: Hashable = None) -> None:
        """Answer a request of the agent. If too much of the sender is queued, the agent gets an error instead."""
        self._asked.pop(id, None)
        self._asked_mcp.pop(id, None)
        self._asked_outside.pop(id, None)
        if sender is not None:
            try:
                self._check_room(sender, bytes(outcome.result) if isinstance(outcome, Success) else outcome.raw)
            except RequestFailed:
                outcome = fail("the client's response was dropped, because its earlier messages are still unread")
                sender = None
        self.connection.answer(id, outcome, sender)

    def client_left(self, connection: RelayConnection) -> None:
        """Answer the open requests to a client outside of sessions, because it has disconnected."""
        for relay in set(self._mcp.values()):
            relay.disconnect(connection)
        for id in [id for id, (asked, _) in self._asked_outside.items() if asked is connection]:
            self.answer(id, fail("the client disconnected"))

    def on_cancel(self, id: RequestId) -> None:
        session = self._asked.get(id)
        if session is not None:
            session.on_agent_cancel(id)
        elif id in self._asked_mcp:
            self._asked_mcp[id].cancel(self, id)
        elif id in self._asked_outside:
            connection, sent = self._asked_outside[id]
            connection.cancel(sent)

    def on_end(self, error: Exception | None, waiting: list[OnAnswer]) -> None:
        reason = f"the agent process ended: {error}" if error is not None else "the agent process ended"
        for on_answer in waiting:
            on_answer(Failure(None, Fault(INTERNAL_ERROR, reason)))
        for session in list(self.sessions.values()):
            session.on_agent_ended(reason)
        self.sessions.clear()
        for relay in set(self._mcp.values()):
            relay.agent_ended(self)
        self.on_ended(self)

    def _find(self, id: str) -> AgentSession | None:
        session = self.sessions.get(id) or self._subagents.get(id)
        if session is None and len(self.sessions) == 1 and not self._opening:
            # An unannounced subagent. Its messages belong to the only session that can have started it.
            session = next(iter(self.sessions.values()))
        return session

    def _keep(self, id: str, deliver: Callable[[AgentSession], None]) -> None:
        if len(self._early) < MAX_EARLY_MESSAGES:
            self._early.append((id, deliver))

    def _ask_outside(self, id: RequestId, method: str, params: bytes) -> None:
        """Pass a request that belongs to no session to the client that it is about, or to any client of the process."""
        about = decode(read_object(params).get("requestId"))
        source = self._relayed.get(about) if isinstance(about, int) else None
        if source is not None:
            connection, client_id = source
            params = replace_fields(params, requestId=client_id)
        elif method == ELICITATION and about is not None:
            # It is for the client that sent the request. No other client must see it or answer it.
            self.answer(id, Failure(id, Fault(INVALID_PARAMS, "requestId: there is no such request")))
            return
        else:
            drivers = _open([*self._outside, *(each for one in self.sessions.values() for each in one.drivers())])
            if not drivers:
                self.answer(id, Failure(id, Fault(METHOD_NOT_FOUND, "no client is connected that could answer")))
                return
            connection = drivers[0]
        if not connection.is_open:
            self.answer(id, fail("the client disconnected"))
            return
        sent = connection.request(method, params, lambda outcome: self.answer(id, outcome, connection))
        self._asked_outside[id] = (connection, sent)

    def _users(self) -> list[RelayConnection]:
        return _open([*self._outside, *(each for one in self.sessions.values() for each in one.connections())])


def _open(connections: Iterable[RelayConnection]) -> list[RelayConnection]:
    return [each for each in dict.fromkeys(connections) if each.is_open]


def _data(fault: Fault) -> Any:
    return None if fault.data is UNSET else fault.data


def succeed(result: bytes) -> Success:
    """Create a response with this result."""
    return Success(None, result)


def fail(message: str, code: int = INTERNAL_ERROR) -> Failure:
    """Create an error response."""
    return Failure(None, Fault(code, message))
