"""The requests of one client about sessions: permission checks, and their handling."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import UNSET, Raw

from accord.errors import INVALID_REQUEST, InvalidParams, MethodNotFound, NotFound, RequestFailed
from accord.hub.agent_host import DIALECTS
from accord.hub.agent_process import MCP_MESSAGE
from accord.hub.agent_sessions import AgentSessions
from accord.hub.attachment import Subscriber
from accord.hub.context import Context
from accord.hub.event_log import SessionRecord
from accord.hub.mcp_relay import McpRelay
from accord.hub.principal import Role, lower_role
from accord.hub.raw_params import decode, read_head, read_object, read_text, remove_meta
from accord.hub.reply import Reply
from accord.hub.session import OUR_KEYS, HubSession
from accord.hub.session_factory import SessionFactory, with_cursor
from accord.hub.session_registry import SessionRegistry

log: logging.Logger = logging.getLogger("accord")

_ROLES: dict[str, Role] = {"controller": "driver", "observer": "watcher"}
_HISTORIES = ("full", "pending_only", "none")
MAX_SHARES = 1000
MAX_NAME_LENGTH = 200


class Requester(Subscriber, Protocol):
    """The client, as its requests see it."""

    mcp: list[McpRelay]
    """The relays to sessions that it offers MCP servers to."""

    def holding_back(self, session_id: str) -> AbstractContextManager[None]:
        """Hold back the client's messages about a session until it is attached."""


class ClientRequests:
    """Handles a client's messages after `initialize`. `result` is its agent's response to that request.

    The client's principal is authenticated; nothing that the client sends gives it more rights."""

    def __init__(self, context: Context, sessions: SessionRegistry, client: Requester, result: dict[str, Raw]) -> None:
        self._context = context
        self._sessions = sessions
        self._client = client
        self._agent = result
        self._factory = SessionFactory(context, sessions)
        self._agents_own = AgentSessions(context, sessions, client, result)

    def handle(self, reply: Reply, params: bytes) -> Awaitable[None] | None:
        """Handle a request. Returns the work that remains, if it has to wait for something."""
        handle = _HANDLERS.get(reply.method, ClientRequests._relay)
        return handle(self, reply, params)

    # -- sessions

    async def _new_session(self, reply: Reply, params: bytes) -> None:
        self._check_can_drive()
        self._check_accepting()
        await self._factory.create(self._client, reply, params)

    async def _fork_session(self, reply: Reply, params: bytes) -> None:
        self._check_can_drive()
        self._check_accepting()
        self._check_offered(reply, "fork")
        record, role = self._sessions.find_record(self._read_id(params), self._client.principal)
        self._check_version(record)
        if role == "watcher":
            raise RequestFailed("you may only watch this session; only a driver can fork it", code=INVALID_REQUEST)
        source, _ = await self._find(params)
        try:
            await self._factory.fork(self._client, source, reply, params)
        except BaseException:
            await self._sessions.close_if_unused(source)
            raise

    async def _open_session(self, reply: Reply, params: bytes) -> None:
        fields = read_object(params)
        wanted = DIALECTS[self._client.version].read_open(reply.method, fields, read_object(fields.get("_meta", UNSET)))
        try:
            session, role = await self._find_compatible(params)
        except NotFound:
            with self._client.holding_back(self._read_id(params)):
                session = await self._agents_own.adopt(self._read_id(params), params, wanted, reply)
        else:
            session.mcp.offer(self._client, params)
            self._client.note_mcp(session.mcp)
            await self._attach_to(session, role, wanted.history, wanted.cursor)
        reply.succeed(with_cursor(bytes(session.record.result), self._client, session))
        self._context.commits.then(lambda _: session.send_requests(self._client))

    async def _attach(self, reply: Reply, params: bytes) -> None:
        fields = read_object(params)
        wanted, history = decode(fields.get("role")) or "controller", decode(fields.get("historyPolicy")) or "full"
        if wanted not in _ROLES or history not in _HISTORIES:
            raise InvalidParams("role must be controller or observer, historyPolicy must be full, pending_only or none")
        session, role = await self._find_compatible(params)
        await self._attach_to(session, lower_role(role, _ROLES[wanted]), "full" if history == "full" else "none")
        reply.succeed({"cursor": session.history.cursor})
        self._context.commits.then(lambda _: session.send_requests(self._client))

    async def _attach_to(self, session: HubSession, role: Role, history: str, cursor: str = "") -> None:
        with self._client.holding_back(session.id):
            await session.attach(self._client, role, history, cursor)

    def _detach(self, reply: Reply, params: bytes) -> None:
        session, _ = self._find_open(params)
        session.detach(self._client.connection)
        reply.succeed(b"{}")

    async def _list(self, reply: Reply, params: bytes) -> None:
        reply.succeed(await self._agents_own.list(params))

    async def _close_session(self, reply: Reply, params: bytes) -> None:
        session, _ = self._find_open(params)
        session.clients.check_drives(self._client.connection)
        session.detach(self._client.connection)
        if not session.has_clients:  # otherwise only this client leaves
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
        record, _ = self._sessions.find_record(self._read_id(params), self._client.principal)
        session = self._sessions.open.get(record.id)
        is_asked = session is not None and bool(session.requests)
        is_busy = session is not None and session.is_busy
        reply.succeed(DIALECTS[record.version].describe_status(session is not None, is_busy=is_busy, is_asked=is_asked))

    async def _share(self, reply: Reply, params: bytes) -> None:
        """Share a session with another principal or with everyone (`*`). Without a role, stop sharing it."""
        fields = read_object(params)
        name, granted = read_text(fields.get("principal")), read_text(fields.get("role"))
        if not name or len(name) > MAX_NAME_LENGTH or granted not in (None, "driver", "watcher"):
            raise InvalidParams("principal is required; role must be driver or watcher, or be left out to stop sharing")
        session = await self._find_owned(params, "share")
        others = session.record.shared_with.keys() - {name}
        if granted is not None and len(others) >= MAX_SHARES:
            raise RequestFailed(
                f"this session is shared with {MAX_SHARES} principals already; share it with everyone (*)"
            )
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
        session.clients.check_drives(self._client.connection)
        self._check_accepting()
        name = self._client.principal.name
        self._context.budgets.check_turn(name, lambda: self._sessions.count_turns(name), self._context.log)
        session.prompt(self._client, params, reply)

    def _relay(self, reply: Reply, params: bytes) -> Awaitable[None] | None:
        """Forward any other request to the agent, of its session or outside sessions."""
        self._check_can_drive()
        if read_head(params).session_id is UNSET:
            return self._relay_outside(reply, params)
        session, _ = self._find_open(params)
        session.clients.check_drives(self._client.connection)
        session.relay(self._client, reply.method, params, reply)
        return None

    async def _relay_outside(self, reply: Reply, params: bytes) -> None:
        process = await self._context.host.lobby(self._client.principal, self._client.offer)
        process.add_outside_user(self._client.connection)
        sent = remove_meta(params, *OUR_KEYS)
        source = (self._client.connection, reply.id)
        id = process.relay(reply.method, sent, reply.finish, source, sender=self._client.principal.name)
        reply.on_cancel = lambda: process.connection.cancel(id)

    def notify(self, method: str, params: bytes) -> None:
        if not self._client.principal.can_drive:
            return
        if method == MCP_MESSAGE:
            any(relay.notify(self._client, params) for relay in self._client.mcp)
            return
        if read_head(params).session_id is UNSET:
            self._context.start(self._notify_outside(method, params))
            return
        try:
            session, _ = self._find_open(params)
            session.clients.check_drives(self._client.connection)
        except RequestFailed as error:
            log.debug("%.100r was ignored: %s", method, error)
            return
        if method == "session/cancel":
            session.cancel(self._client, params)
        else:
            session.relay_notification(self._client, method, params)

    async def _notify_outside(self, method: str, params: bytes) -> None:
        process = await self._context.host.lobby(self._client.principal, self._client.offer)
        process.notify(method, remove_meta(params, *OUR_KEYS), self._client.principal.name)

    # -- checks

    def _read_id(self, params: bytes) -> str:
        id = read_head(params).session_id
        if id is UNSET:
            raise InvalidParams("sessionId is missing", data={"path": "sessionId"})
        return id

    async def _find(self, params: bytes) -> tuple[HubSession, Role]:
        return await self._sessions.find(self._read_id(params), self._client.principal)

    async def _find_compatible(self, params: bytes) -> tuple[HubSession, Role]:
        # Check everything before a session is opened: if a check failed later, nothing would close it again.
        self._check_version(self._sessions.find_record(self._read_id(params), self._client.principal)[0])
        return await self._find(params)

    async def _find_owned(self, params: bytes, action: str) -> HubSession:
        self._check_owns(*self._sessions.find_record(self._read_id(params), self._client.principal), action)
        session, _ = await self._sessions.find(self._read_id(params), self._client.principal, is_brief=True)
        return session

    def _find_open(self, params: bytes) -> tuple[HubSession, Role]:
        return self._sessions.find_open(self._read_id(params), self._client.principal)

    def _check_offered(self, reply: Reply, capability: str) -> None:
        if not DIALECTS[self._client.version].offers(self._agent, capability):
            raise MethodNotFound(f"Method not found: {reply.method}")

    def _check_version(self, record: SessionRecord) -> None:
        if record.version != self._client.version:
            theirs = record.version
            raise RequestFailed(
                f"this session uses protocol version {theirs}, but your client uses version {self._client.version}"
            )

    def _check_owns(self, record: SessionRecord, role: Role, action: str) -> None:
        if role != "admin" and record.owner != self._client.principal.name:
            raise RequestFailed(f"only the owner of a session or an admin can {action} it", code=INVALID_REQUEST)
        self._check_can_drive()

    def _check_can_drive(self) -> None:
        if not self._client.principal.can_drive:
            raise RequestFailed("a watcher can't do that; connect with a driver's token", code=INVALID_REQUEST)

    def _check_accepting(self) -> None:
        if self._context.is_draining:
            raise RequestFailed("the server is shutting down; try again later")
        if self._context.commits.error is not None:
            raise self._context.commits.error


_HANDLERS: dict[str, Callable[[ClientRequests, Reply, bytes], Awaitable[None] | None]] = {
    "session/new": ClientRequests._new_session,
    "session/load": ClientRequests._open_session,
    "session/resume": ClientRequests._open_session,
    "session/attach": ClientRequests._attach,
    "session/detach": ClientRequests._detach,
    "session/list": ClientRequests._list,
    "session/close": ClientRequests._close_session,
    "session/delete": ClientRequests._delete_session,
    "session/prompt": ClientRequests._prompt,
    "session/fork": ClientRequests._fork_session,
    "session/archive": ClientRequests._archive_session,
    "session/unarchive": ClientRequests._archive_session,
    "session/status": ClientRequests._report_status,
    "_accord/share": ClientRequests._share,
    "_accord/ping": ClientRequests._ping,
}
"""Requests that the hub handles itself. All others go to the agent."""
