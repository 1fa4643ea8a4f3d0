"""The agent's side of one connection: handshake, login, extensions, and an orderly shutdown.

The work is done by its parts: the negotiated version's dialect reads and answers requests, the session registry owns
the sessions, and the prompt router finds the handler of each prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec

from accord.agent.agent import Agent
from accord.agent.client import AUTH_STATUS_UPDATE, Client
from accord.agent.definition import check_agent
from accord.agent.prompt_router import PromptRouter
from accord.agent.session_registry import SessionRegistry
from accord.connection.connection import Connection
from accord.connection.dispatch import Answer, Routes
from accord.connection.handshake import INITIALIZE, choose, requested_version
from accord.connection.limits import Limits
from accord.errors import INVALID_REQUEST, InvalidParams, LocalProtocolError, MethodNotFound, RequestFailed
from accord.mcp.client_requests import ClientRequests
from accord.model.values import extension as check_extension
from accord.schema.common.mcp import MessageMcpRequest, MessageMcpResponse
from accord.schema.method import Method
from accord.schema.wire import encode
from accord.transports.base import READY, Transport

if TYPE_CHECKING:
    from accord.agent.dialect import Dialect
    from accord.agent.local_machine import MakeMachine
    from accord.agent.saving_transport import SavingTransport

_MCP_MESSAGE: Method[MessageMcpRequest, Any] = Method(
    name="mcp/message",
    served_by="client",
    params=MessageMcpRequest,
    result=cast("Any", MessageMcpResponse),
    unstable=True,
)
_TURN_END_SECONDS = 5.0
"""How long cancelled turns may take to end when the client is gone."""


class AgentSide:
    """Serves one client."""

    dialect: Dialect
    """The negotiated version. Set by `initialize`, as is `client`."""
    client: Client

    def __init__(
        self,
        agent: Agent,
        transport: Transport,
        *,
        limits: Limits | None = None,
        make_machine: MakeMachine | None = None,
    ) -> None:
        check_agent(agent, Agent, "serve")
        self.agent = agent
        self.make_machine = make_machine
        """Creates a replacement for the agent's own files and commands in a session; None uses the real ones."""
        self.saving: SavingTransport | None = None
        """Holds updates back until they are saved, if the store is durable."""
        if agent.store is not None and agent.store.durable:
            from accord.agent.saving_transport import SavingTransport

            transport = self.saving = SavingTransport(transport, agent.store)
        self.connection: Connection = Connection(transport, side="agent", limits=limits)
        self.mcp: ClientRequests = ClientRequests(partial(self.connection.call, _MCP_MESSAGE))
        self.sessions: SessionRegistry = SessionRegistry(self)
        self.prompts: PromptRouter = PromptRouter(agent, self.saving)
        self._has_client = False
        self._login_status: Any = None
        """The last login status sent to the client."""

    # -- start and end

    def start(self) -> None:
        """Start serving."""
        self.connection.start(Routes({INITIALIZE: self._initialize}))

    async def serve(self) -> None:
        """Serve until the client disconnects, then stop all work."""
        self.start()
        try:
            await self.connection.wait_ended()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Cancel all turns, close the connection and every session."""
        self.sessions.cancel_all()
        await self.connection.close()
        busy = [session.turns.settle() for session in self.sessions.open.values() if session.turns.is_busy]
        if busy:
            await asyncio.wait([asyncio.ensure_future(turn) for turn in busy], timeout=_TURN_END_SECONDS)
        self.prompts.close()
        await self.sessions.close_all()
        if self._has_client:
            self._has_client = False
            await self.agent.on_disconnect(self.client)

    async def _initialize(self, raw: msgspec.Raw) -> Any:
        """Negotiate the version. An attempt that fails changes nothing, and the client may try again."""
        try:
            params = msgspec.json.decode(raw)
            dialect = _load_dialect(choose(requested_version(params), self.agent.versions))(self)
            result, offers = dialect.initialize(params)
            client = Client(self, offers, params.get("_meta") if isinstance(params.get("_meta"), dict) else None)
            await self.agent.on_connect(client)
        except BaseException:
            if not self._has_client:
                self.connection.undo_handshake()
            raise
        self.dialect, self.client, self._has_client = dialect, client, True
        # Send the response first: building the decoders of all other methods takes as long as the handshake so far.
        return Answer(result, self._speak)

    def _speak(self) -> None:
        """Serve all methods of the negotiated version, and send notifications that the author sent before."""
        self.connection.speak(self.dialect.routes(), null_ids=self.dialect.allows_null_ids)
        self.client.release()

    async def initialize_again(self, raw: msgspec.Raw) -> Any:
        """Handle a second `initialize`. Version 2 allows it until the first other request; version 1 doesn't."""
        version = requested_version(msgspec.json.decode(raw))
        if not self.dialect.can_initialize_again or self.connection.requests_accepted:
            raise RequestFailed("initialize: this connection is already initialized", code=INVALID_REQUEST)
        if version < self.client.version:
            raise RequestFailed(
                f"initialize: version {self.client.version} was agreed; it can't be lowered", code=INVALID_REQUEST
            )
        return await self._initialize(raw)

    # -- requests that don't belong to a session

    async def login(self, method_id: str) -> None:
        """Log in with one of the agent's methods."""
        if method_id not in [method.id for method in self.agent.auth_methods if method.kind != "terminal"]:
            raise InvalidParams(f"there is no login method {method_id[:60]!r} that this agent handles")
        await self.agent.login(method_id, self.client)

    async def logout(self) -> None:
        """Log out."""
        if not self.agent.offers("logout"):
            raise MethodNotFound("this agent doesn't support logout")
        await self.agent.logout()

    def cancel(self, id: str) -> Awaitable[None] | None:
        """Cancel the work of a session or subagent. Unknown and idle sessions are ignored."""
        session = self.sessions.open.get(id)
        if session is not None:
            session.turns.cancel()
        elif id in self.sessions.children:
            return self.agent.cancel_subagent(self.sessions.children[id])
        return None

    # -- extensions of the protocol

    async def extension_request(self, method: str, params: Any) -> Any:
        """Send the client a request that the protocol doesn't define."""
        check_extension(method, params)
        extension: Method[Any, Any] = Method(name=method, served_by="client", params=object, result=object)
        return await self.connection.call(extension, {} if params is None else params)

    def extension_notification(self, method: str, params: Any) -> Awaitable[None]:
        """Send the client a notification that the protocol doesn't define.

        A login status is sent only if it differs from the last one that the client got."""
        check_extension(method, params)
        if method == AUTH_STATUS_UPDATE:
            before = self._login_status
            self.note_login_status(params)
            if before == self._login_status:
                return READY
        extension: Method[Any, Any] = Method(name=method, served_by="client", params=object)
        return self.connection.tell(extension, {} if params is None else params)

    def note_login_status(self, status: Any) -> None:
        """Note the login status that the client gets, also in the response to a query."""
        self._login_status = msgspec.json.decode(encode(status))


def _load_dialect(version: int) -> type[Dialect]:
    """Import the dialect of a version; the other version's types are never loaded."""
    if version == 1:
        from accord.agent.v1.dialect import V1

        return V1
    if version == 2:
        from accord.agent.v2.dialect import V2

        return V2
    raise LocalProtocolError(f"there is no protocol version {version}")
