"""A client's connection to the hub: `initialize`, the order of its messages, and the responses it is owed."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from msgspec import UNSET

from accord.connection.relay_connection import OnAnswer, RelayConnection
from accord.errors import INVALID_REQUEST, AccordError, InvalidParams, RequestFailed
from accord.hub.agent_host import DIALECTS, Offer, read_offer
from accord.hub.client_requests import ClientRequests
from accord.hub.context import Context
from accord.hub.mcp_relay import McpRelay
from accord.hub.principal import Principal
from accord.hub.raw_params import add_meta, read_head, read_object, read_text, write_object
from accord.hub.reply import Reply
from accord.hub.session_registry import SessionRegistry
from accord.rpc.envelope import Failure, Fault
from accord.rpc.ids import RequestId
from accord.schema.repair import Unreadable
from accord.transports.base import Transport

log: logging.Logger = logging.getLogger("accord")

MAX_KEY_LENGTH = 200
MAX_OPEN_REQUESTS = 5000
WAITING_OVERHEAD = 500
"""The bytes that a waiting message costs besides its params."""
RESUME = "accord/resume"


class _Attaching:
    """A session that the client is being attached to, and the client's messages about it that wait meanwhile."""

    def __init__(self) -> None:
        self.count = 0  # a client may open a session again before it is open
        self.waiting: list[Callable[[], None]] = []


class ClientConnection:
    """One client. Its principal is authenticated; nothing that the client sends gives it more rights."""

    def __init__(self, context: Context, sessions: SessionRegistry, transport: Transport, principal: Principal) -> None:
        self.principal = principal
        self.offer: Offer = Offer(0, {})
        self.origin: str = f"{principal.name}/{secrets.token_hex(8)}"
        self.is_resume_aware: bool = False
        self.version: int = 0
        """The negotiated protocol version; 0 before `initialize`."""
        self.connection: RelayConnection = RelayConnection(
            transport,
            self,
            side="agent",
            max_queued_bytes=context.settings.max_queued_bytes,
            on_overflow=self._fell_behind,
        )
        self.on_initialized: Callable[[ClientConnection], None] = lambda client: None
        self._context = context
        self._sessions = sessions
        self.mcp: list[McpRelay] = []
        """The relays to sessions that this client offers MCP servers to."""
        self._requests: ClientRequests | None = None
        self._stage: Literal["new", "initializing", "ready"] = "new"
        self._early: list[Callable[[], None]] = []
        self._waiting_bytes = 0  # of messages that wait for `initialize` or for a session to be attached
        self._attaching: dict[str, _Attaching] = {}
        self._open: dict[RequestId, Reply] = {}
        self._clean_at = min(100, MAX_OPEN_REQUESTS)  # with this many open requests, completed ones are removed

    # -- messages

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        if method == "initialize":
            self._start_initialize(id, params)
        elif self._stage == "new":
            self._refuse(id, f"{method[:100]} arrived before initialize; send initialize first")
        elif self._stage == "initializing":
            self._defer(self._early, params, lambda: self.on_request(id, method, params))
        else:
            self._behind_attach(params, lambda: self._dispatch(id, method, params))

    def on_notification(self, method: str, params: bytes) -> None:
        if self._stage == "initializing":
            self._defer(self._early, params, lambda: self.on_notification(method, params))
        elif self._stage == "ready" and not self._is_repeated(params):
            self._behind_attach(params, lambda: self._handler().notify(method, params))

    def on_cancel(self, id: RequestId) -> None:
        reply = self._open.get(id)
        if reply is not None:
            reply.cancel()

    def on_end(self, error: Exception | None, waiting: list[OnAnswer]) -> None:
        for session in list(self._sessions.open.values()):
            session.detach(self.connection)
        self._context.host.client_left(self.connection)

    def _behind_attach(self, params: bytes, action: Callable[[], None]) -> None:
        """Run an action now, or once its session is attached."""
        id = read_head(params).session_id
        attaching = self._attaching.get(id) if id is not UNSET else None
        if attaching is None:
            action()
        else:
            self._defer(attaching.waiting, params, action)

    def _defer(self, waiting: list[Callable[[], None]], params: bytes, action: Callable[[], None]) -> None:
        """Queue an action. If a client queues too much, it is disconnected, like one that reads too slowly."""
        size = len(params) + WAITING_OVERHEAD
        self._waiting_bytes += size
        if self._waiting_bytes > self._context.settings.max_queued_bytes:
            waiting.clear()
            self._fell_behind()
            return

        def run() -> None:
            self._waiting_bytes -= size
            action()

        waiting.append(run)

    def note_mcp(self, relay: McpRelay) -> None:
        """Remember that this client offers MCP servers to a session."""
        if relay.ids and relay not in self.mcp:
            self.mcp = [*(each for each in self.mcp if not each.is_closed), relay]

    @contextmanager
    def holding_back(self, session_id: str) -> Iterator[None]:
        """Hold back messages about a session until the client is attached to it."""
        attaching = self._attaching.setdefault(session_id, _Attaching())
        attaching.count += 1
        try:
            yield
        finally:
            attaching.count -= 1
            if not attaching.count:
                del self._attaching[session_id]
                for action in attaching.waiting:
                    action()

    def _handler(self) -> ClientRequests:
        assert self._requests is not None, "no request is handled before initialize"
        return self._requests

    def _dispatch(self, id: RequestId, method: str, params: bytes) -> None:
        reply = self._create_reply(id, method, params)
        if reply is None:
            return
        try:
            waiting = self._handler().handle(reply, params)
        except (AccordError, Unreadable) as error:
            reply.fail(error)
            return
        except Exception as error:  # every request must get a response, even an invalid one
            log.error("%.100r failed", method, exc_info=error)
            reply.fail(error)
            return
        if waiting is not None:
            self._context.start(self._finish(reply, waiting))

    def _create_reply(self, id: RequestId, method: str, params: bytes) -> Reply | None:
        meta = read_object(read_head(params).meta) if self.is_resume_aware else {}
        key = read_text(meta.get("accord/key"))
        if key is not None and len(key) > MAX_KEY_LENGTH:
            self._refuse(id, f"accord/key is too long: at most {MAX_KEY_LENGTH} characters")
            return None
        if len(self._open) >= self._clean_at:
            self._open = {each: open for each, open in self._open.items() if not open.is_done}
            self._clean_at = min(max(100, 2 * len(self._open)), MAX_OPEN_REQUESTS)
            if len(self._open) >= MAX_OPEN_REQUESTS:
                self._refuse(id, f"you have {MAX_OPEN_REQUESTS} open requests, the maximum; wait for responses")
                return None
        # A key is chosen by the client, so it is valid only within its principal.
        key = f"{self.principal.name}/{key}" if key else ""
        reply = self._context.replies.create(self.connection, id, method, key)
        known = reply or self._context.replies.find_open(key)
        if known is not None:
            self._open[id] = known
        return reply

    async def _finish(self, reply: Reply, work: Awaitable[None]) -> None:
        try:
            await work
        except (AccordError, Unreadable) as error:
            reply.fail(error)
        except Exception as error:
            log.error("%.100r failed", reply.method, exc_info=error)
            reply.fail(error)

    def _refuse(self, id: RequestId, message: str) -> None:
        self.connection.answer(id, Failure(id, Fault(INVALID_REQUEST, message)))

    def _is_repeated(self, params: bytes) -> bool:
        """Return whether a notification was received before, on an earlier connection of the client."""
        if not self.is_resume_aware:
            return False
        key = read_text(read_object(read_head(params).meta).get("accord/key"))
        if key is None or len(key) > MAX_KEY_LENGTH:
            return False
        return not self._context.replies.note_notification(f"{self.principal.name}/{key}")

    def _fell_behind(self) -> None:
        self._context.counters.slow_clients += 1
        log.warning("a client of %s reads too slowly and was disconnected", self.principal.name)
        self._context.start(self.connection.transport.close())

    # -- initialize

    def _start_initialize(self, id: RequestId, params: bytes) -> None:
        if self._stage != "new":
            self._refuse(id, "initialize: this connection is already initialized")
            return
        self._stage = "initializing"
        self._context.start(self._initialize(id, params))

    async def _initialize(self, id: RequestId, params: bytes) -> None:
        reply = Reply(self._context.replies, self.connection, id, "initialize", "")
        resume = read_object(read_object(read_head(params).meta).get(RESUME, UNSET))
        client = read_text(resume.get("client"))
        try:
            if client is not None and len(client) > MAX_KEY_LENGTH:  # it is saved with every prompt
                raise InvalidParams(f"{RESUME}: the client's name is too long: at most {MAX_KEY_LENGTH} characters")
            self.offer = read_offer(params)
            introduction = await self._context.host.introduce(self.principal, self.offer)
        except Exception as error:
            self._stage = "new"
            reply.fail(_as_request_error(error))
            return
        self.version = introduction.version
        self._requests = ClientRequests(self._context, self._sessions, self, introduction.result)
        if client:
            self.is_resume_aware = True
            self.origin = f"{self.principal.name}/{client}"
        result = write_object(DIALECTS[self.version].extend_capabilities(introduction.result))
        if self.is_resume_aware:
            result = add_meta(result, b'"accord/resume":{}')
        self.on_initialized(self)
        reply.succeed(result)
        self._stage = "ready"
        early, self._early = self._early, []
        for action in early:
            action()


def _as_request_error(error: Exception) -> Exception:
    """Return the error for the client. It includes the reason if the agent couldn't be started."""
    if isinstance(error, (RequestFailed, Unreadable)):
        return error
    if isinstance(error, AccordError):
        return RequestFailed(f"the agent couldn't be started: {error}")
    return error
