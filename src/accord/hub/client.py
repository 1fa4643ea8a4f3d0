"""A client's connection to the hub: its requests, and the sessions it is attached to."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from msgspec import UNSET, Raw

from accord.connection.relay_connection import OnAnswer, RelayConnection
from accord.errors import (
    INVALID_REQUEST,
    AccordError,
    InvalidParams,
    MethodNotFound,
    NotFound,
    RequestFailed,
)
from accord.hub.agent_host import DIALECTS, Offer, read_offer
from accord.hub.agent_process import MCP_MESSAGE
from accord.hub.agent_sessions import AgentSessions
from accord.hub.context import Context
from accord.hub.event_log import SessionRecord
from accord.hub.mcp_relay import McpRelay
from accord.hub.principal import Principal, Role, lower_role
from accord.hub.raw_params import add_meta, decode, read_head, read_object, read_text, remove_meta, write_object
from accord.hub.reply import Reply
from accord.hub.session import OUR_KEYS, HubSession
from accord.hub.session_factory import SessionFactory, with_cursor
from accord.hub.session_registry import SessionRegistry
from accord.rpc.envelope import Failure, Fault
from accord.rpc.ids import RequestId
from accord.schema.repair import Unreadable
from accord.transports.base import Transport

log: logging.Logger = logging.getLogger("accord")

MAX_KEY_LENGTH = 200
WAITING_OVERHEAD = 500
"""What a message that has to wait costs besides its params, in bytes."""
RESUME = "accord/resume"
_ROLES: dict[str, Role] = {"controller": "driver", "observer": "watcher"}
_HISTORIES = ("full", "pending_only", "none")


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
        self._factory = SessionFactory(context, sessions)
        self._agent: dict[str, Raw] = {}  # its result of `initialize`
        self._agents_own: AgentSessions
        self._stage: Literal["new", "initializing", "ready"] = "new"
        self._early: list[Callable[[], None]] = []
        self._waiting_bytes = 0  # of messages that wait for `initialize` or for a session to be attached
        self._attaching: dict[str, list[Callable[[], None]]] = {}
        self._open: dict[RequestId, Reply] = {}
        self._mcp: list[McpRelay] = []
        """The relays to sessions that this client offers MCP servers to."""
        self._requests: dict[str, Callable[[Reply, bytes], Awaitable[None] | None]] = {
            "session/new": self._new_session,
            "session/load": self._open_session,
            "session/resume": self._open_session,
            "session/attach": self._attach,
            "session/detach": self._detach,
            "session/list": self._list,
            "session/close": self._close_session,
            "session/delete": self._delete_session,
            "session/prompt": self._prompt,
            "session/fork": self._fork_session,
            "session/archive": self._archive_session,
            "session/unarchive": self._archive_session,
            "session/status": self._report_status,
            "_accord/share": self._share,
            "_accord/ping": self._ping,
        }

    # -- messages

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        if method == "initialize":
            self._start_initialize(id, params)
        elif self._stage == "new":
            self._refuse(id, f"{method[:100]} came before initialize; send initialize first")
        elif self._stage == "initializing":
            self._keep(self._early, params, lambda: self.on_request(id, method, params))
        else:
            self._behind_attach(params, lambda: self._dispatch(id, method, params))

    def on_notification(self, method: str, params: bytes) -> None:
        if self._stage == "initializing":
            self._keep(self._early, params, lambda: self.on_notification(method, params))
        elif self._stage == "ready" and not self._is_repeated(params):
            self._behind_attach(params, lambda: self._notify(method, params))

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
        waiting = self._attaching.get(id) if id is not UNSET else None
        if waiting is None:
            action()
        else:
            self._keep(waiting, params, action)

    def _keep(self, waiting: list[Callable[[], None]], params: bytes, action: Callable[[], None]) -> None:
        """Do something later. A client that makes too much wait is disconnected, as one that reads too slowly."""
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

    def _dispatch(self, id: RequestId, method: str, params: bytes) -> None:
        reply = self._create_reply(id, method, params)
        if reply is None:
            return
        handle = self._requests.get(method)
        try:
            waiting = handle(reply, params) if handle is not None else self._relay(reply, params)
        except (AccordError, Unreadable) as error:
            reply.fail(error)
            return
        except Exception as error:  # a request is owed a response, whatever is wrong with it
            log.error("%s failed", method[:100], exc_info=error)
            reply.fail(error)
            return
        if waiting is not None:
            self._context.start(self._finish(reply, waiting))

    def _create_reply(self, id: RequestId, method: str, params: bytes) -> Reply | None:
        meta = read_object(read_head(params).meta) if self.is_resume_aware else {}
        key = read_text(meta.get("accord/key"))
        if key is not None and len(key) > MAX_KEY_LENGTH:
            self._refuse(id, f"accord/key: a key has at most {MAX_KEY_LENGTH} characters")
            return None
        # A key is a name that the client made up: it only counts within its principal.
        key = f"{self.principal.name}/{key}" if key else ""
        reply = self._context.replies.create(self.connection, id, method, key)
        known = reply or self._context.replies.find_open(key)
        if known is not None:
            if len(self._open) > 100:
                self._open = {each: open for each, open in self._open.items() if not open.is_done}
            self._open[id] = known
        return reply

    async def _finish(self, reply: Reply, work: Awaitable[None]) -> None:
        try:
            await work
        except (AccordError, Unreadable) as error:
            reply.fail(error)
        except Exception as error:
            log.error("%s failed", reply.method, exc_info=error)
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
        try:
            self.offer = read_offer(params)
            introduction = await self._context.host.introduce(self.principal, self.offer)
        except Exception as error:
            self._stage = "new"
            reply.fail(_as_request_error(error))
            return
        self.version = introduction.version
        self._agent = introduction.result
        self._agents_own = AgentSessions(self._context, self._sessions, self, introduction.result)
        resume = read_object(read_object(read_head(params).meta).get(RESUME, UNSET))
        client = read_text(resume.get("client"))
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

    # -- sessions

    async def _new_session(self, reply: Reply, params: bytes) -> None:
        self._check_can_drive()
        self._check_accepting()
        await self._factory.create(self, reply, params)

    async def _fork_session(self, reply: Reply, params: bytes) -> None:
        self._check_can_drive()
        self._check_accepting()
        self._check_offered(reply, "fork")
        record, role = self._sessions.find_record(self._read_id(params), self.principal)
        self._check_version(record)
        if role == "watcher":
            raise RequestFailed("you may only watch this session; only a driver can fork it", code=INVALID_REQUEST)
        source, _ = await self._find(params)
        try:
            await self._factory.fork(self, source, reply, params)
        except BaseException:
            await self._sessions.close_if_unused(source)
            raise

    def note_mcp(self, relay: McpRelay) -> None:
        """Remember that this client offers MCP servers to a session."""
        if relay.ids and relay not in self._mcp:
            self._mcp = [*(each for each in self._mcp if not each.is_closed), relay]

    async def _open_session(self, reply: Reply, params: bytes) -> None:
        fields = read_object(params)
        wanted = DIALECTS[self.version].read_open(reply.method, fields, read_object(fields.get("_meta", UNSET)))
        try:
            session, role = await self._find_compatible(params)
        except NotFound:
            with self._holding_back(self._read_id(params)):
                session = await self._agents_own.adopt(self._read_id(params), params, wanted, reply)
        else:
            session.mcp.offer(self, params)
            self.note_mcp(session.mcp)
            await self._attach_to(session, role, wanted.history, wanted.cursor)
        reply.succeed(with_cursor(bytes(session.record.result), self, session))
        self._context.commits.then(lambda _: session.send_requests(self))

    async def _attach(self, reply: Reply, params: bytes) -> None:
        fields = read_object(params)
        wanted, history = decode(fields.get("role")) or "controller", decode(fields.get("historyPolicy")) or "full"
        if wanted not in _ROLES or history not in _HISTORIES:
            raise InvalidParams("role is controller or observer; historyPolicy is full, pending_only or none")
        session, role = await self._find_compatible(params)
        await self._attach_to(session, lower_role(role, _ROLES[wanted]), "full" if history == "full" else "none")
        reply.succeed({"cursor": session.history.cursor})
        self._context.commits.then(lambda _: session.send_requests(self))

    async def _attach_to(self, session: HubSession, role: Role, history: str, cursor: str = "") -> None:
        with self._holding_back(session.id):
            await session.attach(self, role, history, cursor)

    @contextmanager
    def _holding_back(self, session_id: str) -> Iterator[None]:
        """Let messages about a session wait until the client is attached to it."""
        self._attaching[session_id] = []
        try:
            yield
        finally:
            for action in self._attaching.pop(session_id):
                action()

    def _detach(self, reply: Reply, params: bytes) -> None:
        session, _ = self._find_open(params)
        session.detach(self.connection)
        reply.succeed(b"{}")

    async def _list(self, reply: Reply, params: bytes) -> None:
        reply.succeed(await self._agents_own.list(params))

    async def _close_session(self, reply: Reply, params: bytes) -> None:
        session, _ = self._find_open(params)
        session.check_drives(self)
        session.detach(self.connection)
        if not session.attachments:  # otherwise only this client leaves
            await self._sessions.close(session)
        reply.succeed(b"{}")

    async def _delete_session(self, reply: Reply, params: bytes) -> None:
        session = await self._find_owned(params, "delete")
        await self._agents_own.delete(session)
        await self._sessions.delete(session)
        reply.succeed(b"{}")

    async def _archive_session(self, reply: Reply, params: bytes) -> None:
        """Hide a session from default lists, or show it there again. An open session is closed first."""
        self._check_offered(reply, "archive")
        session = await self._find_owned(params, "archive")
        is_archived = reply.method == "session/archive"
        await self._agents_own.archive(session, is_archived=is_archived)
        await self._sessions.archive(session, is_archived=is_archived)
        reply.succeed(b"{}")

    def _report_status(self, reply: Reply, params: bytes) -> None:
        self._check_offered(reply, "status")
        record, _ = self._sessions.find_record(self._read_id(params), self.principal)
        session = self._sessions.open.get(record.id)
        is_asked = session is not None and bool(session.requests)
        is_busy = session is not None and session.is_busy
        reply.succeed(DIALECTS[record.version].describe_status(session is not None, is_busy=is_busy, is_asked=is_asked))

    async def _share(self, reply: Reply, params: bytes) -> None:
        """Share a session with another principal or with everyone (`*`). Without a role, stop sharing it."""
        fields = read_object(params)
        name, granted = read_text(fields.get("principal")), read_text(fields.get("role"))
        if not name or granted not in (None, "driver", "watcher"):
            raise InvalidParams("principal is required; role is driver, watcher or missing")
        session = await self._find_owned(params, "share")
        grants: dict[str | None, Role] = {"driver": "driver", "watcher": "watcher"}
        self._sessions.share(session, name, grants.get(granted))
        await self._sessions.close_if_unused(session)
        reply.succeed(b"{}")

    def _ping(self, reply: Reply, params: bytes) -> None:
        """Answer a heartbeat, after everything that was sent before it in either direction."""
        reply.succeed(b"{}")

    # -- work

    def _prompt(self, reply: Reply, params: bytes) -> None:
        session, _ = self._find_open(params)
        session.check_drives(self)
        self._check_accepting()
        name = self.principal.name
        self._context.budgets.check_turn(name, lambda: self._sessions.count_turns(name), self._context.log)
        session.prompt(self, params, reply)

    def _relay(self, reply: Reply, params: bytes) -> Awaitable[None] | None:
        """Forward any other request to the agent, of its session or outside sessions."""
        self._check_can_drive()
        if read_head(params).session_id is UNSET:
            return self._relay_outside(reply, params)
        session, _ = self._find_open(params)
        session.check_drives(self)
        session.relay(self, reply.method, params, reply)
        return None

    async def _relay_outside(self, reply: Reply, params: bytes) -> None:
        process = await self._context.host.lobby(self.principal, self.offer)
        process.add_outside_user(self.connection)
        sent = remove_meta(params, *OUR_KEYS)
        id = process.relay(reply.method, sent, reply.finish, (self.connection, reply.id))
        reply.on_cancel = lambda: process.connection.cancel(id)

    def _notify(self, method: str, params: bytes) -> None:
        if not self.principal.can_drive:
            return
        if method == MCP_MESSAGE:
            any(relay.notify(self, params) for relay in self._mcp)
            return
        if read_head(params).session_id is UNSET:
            self._context.start(self._notify_outside(method, params))
            return
        try:
            session, _ = self._find_open(params)
            session.check_drives(self)
        except RequestFailed as error:
            log.debug("%s was ignored: %s", method, error)
            return
        if method == "session/cancel":
            session.cancel(self, params)
        else:
            session.relay_notification(method, params)

    async def _notify_outside(self, method: str, params: bytes) -> None:
        process = await self._context.host.lobby(self.principal, self.offer)
        process.connection.notify(method, remove_meta(params, *OUR_KEYS))

    # -- checks

    def _read_id(self, params: bytes) -> str:
        id = read_head(params).session_id
        if id is UNSET:
            raise InvalidParams("sessionId is missing", data={"path": "sessionId"})
        return id

    async def _find(self, params: bytes) -> tuple[HubSession, Role]:
        return await self._sessions.find(self._read_id(params), self.principal)

    async def _find_compatible(self, params: bytes) -> tuple[HubSession, Role]:
        # All checks come before a session is opened: nobody would close it again.
        self._check_version(self._sessions.find_record(self._read_id(params), self.principal)[0])
        return await self._find(params)

    async def _find_owned(self, params: bytes, action: str) -> HubSession:
        self._check_owns(*self._sessions.find_record(self._read_id(params), self.principal), action)
        return (await self._find(params))[0]

    def _find_open(self, params: bytes) -> tuple[HubSession, Role]:
        return self._sessions.find_open(self._read_id(params), self.principal)

    def _check_offered(self, reply: Reply, capability: str) -> None:
        if not DIALECTS[self.version].offers(self._agent, capability):
            raise MethodNotFound(f"Method not found: {reply.method}")

    def _check_version(self, record: SessionRecord) -> None:
        if record.version != self.version:
            theirs = record.version
            raise RequestFailed(f"this session uses protocol version {theirs}, and your client version {self.version}")

    def _check_owns(self, record: SessionRecord, role: Role, action: str) -> None:
        if role != "admin" and record.owner != self.principal.name:
            raise RequestFailed(f"only the owner of a session or an admin can {action} it", code=INVALID_REQUEST)
        self._check_can_drive()

    def _check_can_drive(self) -> None:
        if not self.principal.can_drive:
            raise RequestFailed("a watcher can't do that; connect with a driver's token", code=INVALID_REQUEST)

    def _check_accepting(self) -> None:
        if self._context.is_draining:
            raise RequestFailed("the server is shutting down; try again later")
        if self._context.commits.error is not None:
            raise self._context.commits.error


def _as_request_error(error: Exception) -> Exception:
    """Return the error for the client. It includes the reason if the agent couldn't be started."""
    if isinstance(error, (RequestFailed, Unreadable)):
        return error
    if isinstance(error, AccordError):
        return RequestFailed(f"the agent couldn't be started: {error}")
    return error
