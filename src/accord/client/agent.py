"""A connected agent: what it offers, its sessions, and whatever else can be asked of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union

import msgspec

from accord.client.dialect import Dialect, Place
from accord.client.handlers import Handlers
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.workspace import Workspace
from accord.connection.connection import Connection
from accord.connection.dispatch import Routes, log
from accord.connection.handshake import INITIALIZE, agreed_version, version_to_retry
from accord.connection.limits import Deadline, Limits
from accord.errors import (
    AuthRequired,
    CapabilityError,
    ConnectionClosed,
    DeadlineExceeded,
    InvalidParams,
    NotFound,
    RequestFailed,
)
from accord.model.requests import AuthMethod, Implementation, McpServer
from accord.model.session import SessionInfo
from accord.schema.method import Method
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.connection.connection import Trouble

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

LoginChoice = Union[AuthMethod, str, None]
Login = Callable[[list[AuthMethod]], Union[LoginChoice, Awaitable[LoginChoice]]]
"""Chooses how to log in, when an agent demands it: a method, its id, or None to give up."""

DEADLINES: dict[str, float | None] = {"first byte": 60, "initialize": 60, "session": 120, "login": None, "call": 120}
"""How long a machine may take, by the name of the wait. People and turns have no deadline."""

_EARLY_UPDATES = 10_000
_EARLY_SESSIONS = 100


class ConnectedAgent:
    """An agent at the other end of a connection, past the handshake."""

    dialect: Dialect
    offers: AgentOffers

    def __init__(
        self,
        transport: Transport,
        *,
        cwd: str,
        versions: frozenset[int],
        unstable: bool,
        handlers: Handlers,
        workspace: Workspace | None,
        mcp_servers: Sequence[McpServer],
        login: Login | None,
        info: Implementation,
        deadlines: Mapping[str, float | None],
        limits: Limits | None = None,
    ) -> None:
        self.connection = Connection(transport, side="client", limits=limits)
        self.cwd = cwd
        self.unstable = unstable
        self.handlers = handlers
        self.workspace = workspace
        self.mcp_servers = list(mcp_servers)
        self.sessions: dict[str, Session] = {}
        self.client_info = info
        self._versions = versions
        self._login = login
        self._deadlines = {**DEADLINES, **deadlines}
        self._early: dict[str, list[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- beginning and end

    async def open(self) -> None:
        """Starts the connection and agrees on a version."""
        self.connection.start(Routes({}))
        try:
            await self._handshake(max(self._versions))
        except BaseException:
            await self.connection.close()
            raise
        self.spawn(self._mourn())

    async def _handshake(self, version: int, *, again: bool = True) -> None:
        from accord.client.hello import hello

        params: Any = hello(version, self)
        try:
            answer = await self.connection.call(INITIALIZE, params, deadline=self.deadline("initialize"))
        except RequestFailed as error:
            lower = version_to_retry(error, self._versions, version)
            if lower is None or not again:
                raise
            await self._handshake(lower, again=False)
            return
        except DeadlineExceeded as error:
            if not self.connection.heard:
                error.stage = "first byte"
            raise
        decoded = msgspec.json.decode(answer)
        agreed = agreed_version(decoded, self._versions)
        self.dialect = _dialect(agreed)(self)
        self.offers = self.dialect.offers(decoded)
        self.connection.speak(self.dialect.routes(), null_ids=agreed == 1)

    async def _mourn(self) -> None:
        """When the connection ends, every session learns why."""
        await self.connection.wait_ended()
        error = self.connection.closed_error("session")
        for session in list(self.sessions.values()):
            session._over(error)

    async def close(self) -> None:
        """Ends the connection, and the agent with it if it was started here."""
        for session in list(self.sessions.values()):
            session._over(ConnectionClosed("the connection was closed here"))
        await self.connection.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=2)

    async def __aenter__(self) -> ConnectedAgent:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    # -- who it is

    @property
    def version(self) -> int:
        """The protocol version that was agreed."""
        return self.offers.version

    @property
    def name(self) -> str:
        info = self.offers.info
        return (info.title or info.name) if info is not None else self.connection.transport.describe()

    @property
    def auth_methods(self) -> list[AuthMethod]:
        return self.offers.auth_methods

    # -- sessions

    async def new_session(
        self,
        cwd: str | None = None,
        *,
        mcp_servers: Sequence[McpServer] | None = None,
        additional_directories: Sequence[str] = (),
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Begins a session."""
        self.offers.need("sessions", "sessions")
        place = self._place(cwd, mcp_servers, additional_directories, meta)
        made: list[Session] = []

        async def begin() -> None:
            await self.dialect.new_session(place, lambda id, answer: made.append(self.register(id, place.cwd, answer)))

        await self._after_login(begin)
        return made[0]

    async def load_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session and reads its whole history into the transcript."""
        self.offers.need("load", "to load sessions")
        return await self._open_session(id, self._place(cwd, **_filled(place)), replay=True)

    async def resume_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session without its history."""
        self.offers.need("resume", "to resume sessions")
        return await self._open_session(id, self._place(cwd, **_filled(place)), replay=False)

    async def _open_session(self, id: str, place: Place, *, replay: bool) -> Session:
        session = self.sessions.get(id) or Session(self, id, place.cwd)
        known = id in self.sessions
        self.sessions[id] = session
        session.transcript.replaying = replay
        self._tell_early(session)

        async def begin() -> None:
            await self.dialect.open_session(id, place, replay=replay, then=lambda answer: self._opened(session, answer))

        try:
            await self._after_login(begin)
        except BaseException:
            session.transcript.replaying = False
            if not known:
                self.sessions.pop(id, None)
            raise
        return session

    def _opened(self, session: Session, answer: Any) -> None:
        session.transcript.replaying = False
        self.dialect.settle(session, answer)

    async def fork_session(self, id: str, *, cwd: str | None = None, **place: Any) -> Session:
        """Begins a session with the history of another (unstable)."""
        self._need_unstable("session/fork")
        self.offers.need("fork", "to fork sessions")
        where = self._place(cwd, **_filled(place))
        made: list[Session] = []

        async def begin() -> None:
            await self.dialect.fork_session(
                id, where, lambda new, answer: made.append(self.register(new, where.cwd, answer))
            )

        await self._after_login(begin)
        return made[0]

    async def list_sessions(self, cwd: str | None = None, *, archived: str | None = None) -> AsyncIterator[SessionInfo]:
        """The agent's sessions, page after page."""
        self.offers.need("list", "to list sessions")
        cursor: str | None = None
        while True:
            page, cursor = await self.dialect.list_sessions(cwd, cursor, archived)
            for info in page:
                yield info
            if cursor is None:
                return

    async def close_session(self, id: str) -> None:
        """Closes a session by id. One that is not open counts as closed."""
        self.offers.need("close", "to close sessions")
        try:
            await self.dialect.close_session(id)
        except NotFound:
            log.debug("session %s was not open any more", id)

    async def delete_session(self, id: str) -> None:
        """Makes the agent forget a stored session. One that is not there counts as deleted."""
        self.offers.need("delete", "to delete sessions")
        try:
            await self.dialect.delete_session(id)
        except NotFound:
            log.debug("session %s was not there any more", id)

    # -- logging in

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Logs in by one of the agent's methods; by the first that it carries out itself unless one is named."""
        usable = [each for each in self.auth_methods if each.kind == "agent"]
        id = method.id if isinstance(method, AuthMethod) else method
        chosen = next((each for each in usable if id is None or each.id == id), None)
        if chosen is None:
            names = ", ".join(each.id for each in usable) or "none"
            raise CapabilityError(f"the agent has no login method {id or ''!r} of its own; it has: {names}")
        await self.dialect.login(chosen.id)

    async def logout(self) -> None:
        self.offers.need("logout", "to log out")
        await self.dialect.logout()

    async def log_in_again(self) -> bool:
        """After "authentication required": logs in as the user's handler says; False when it gives up."""
        if self._login is None or not self.auth_methods:
            return False
        choice = self._login(self.auth_methods)
        if not isinstance(choice, (AuthMethod, str)) and choice is not None:
            choice = await choice
        if choice is None:
            return False
        await self.login(choice)
        return True

    async def _after_login(self, attempt: Callable[[], Awaitable[None]]) -> None:
        """Does something, and once more after a login if the agent demands one."""
        try:
            await attempt()
        except AuthRequired:
            if not await self.log_in_again():
                raise
            await attempt()

    # -- anything else

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks something that the protocol does not know; such names begin with an underscore."""
        wanted: Method[Any, Any] = Method(name=method, served_by="agent", params=object, result=object)
        return await self.connection.call(wanted, {} if params is None else params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Tells something that the protocol does not know."""
        told: Method[Any, Any] = Method(name=method, served_by="agent", params=object)
        return self.connection.tell(told, {} if params is None else params)

    async def call(self, method: Method[P, R], params: P) -> R:
        """Calls any method of the agreed version in its own words; see `accord.v1` and `accord.v2`."""
        if method.unstable:
            self._need_unstable(method.name)
        return await self.connection.call(method, params)

    def on_trouble(self, report: Callable[[Trouble], None]) -> None:
        """Reports stray lines, oversized messages and the like, which no caller waits for."""
        self.connection.on_trouble = report

    # -- underneath

    def deadline(self, stage: str) -> Deadline | None:
        seconds = self._deadlines.get(stage)
        return None if seconds is None else Deadline(stage, seconds)

    def check_open(self, method: str) -> None:
        if not self.connection.is_open:
            raise self.connection.closed_error(method)

    def register(self, id: str, cwd: str, answer: Any) -> Session:
        """A session is known from now on; what came for it before its answer is delivered now."""
        session = self.sessions[id] = Session(self, id, cwd)
        self.dialect.settle(session, answer)
        self._tell_early(session)
        return session

    def _tell_early(self, session: Session) -> None:
        for update in self._early.pop(session.id, ()):
            session.receive(update, 0)

    def update(self, params: Any) -> None:
        """An update of some session. For one that is not known yet it is kept, within bounds."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            session.receive(params.update, self.connection.message_size)
            return
        early = self._early.setdefault(params.session_id, [])
        if len(early) < _EARLY_UPDATES:
            early.append(params.update)
        if len(self._early) > _EARLY_SESSIONS:
            self._early.pop(next(iter(self._early)))

    def session_of(self, id: str) -> Session:
        """The session that a request of the agent's names."""
        session = self.sessions.get(id)
        if session is None:
            raise NotFound(f"this client has no session {id[:80]!r}", data={"sessionId": id})
        return session

    def forget(self, session: Session) -> None:
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs something in the background for as long as the connection lasts."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._reaped)

    def _reaped(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None and not isinstance(task.exception(), ConnectionClosed):
            log.error("something in the background failed", exc_info=task.exception())

    def _need_unstable(self, what: str) -> None:
        if not self.unstable:
            raise CapabilityError(f"{what} is unstable; connect with unstable=True to use it")

    def _place(
        self,
        cwd: str | None,
        mcp_servers: Sequence[McpServer] | None,
        additional_directories: Sequence[str],
        meta: dict[str, Any] | None,
    ) -> Place:
        where = os.path.abspath(cwd) if cwd is not None else self.cwd
        directories: list[str] = []
        for directory in map(os.path.abspath, additional_directories):
            if directory != where and directory not in directories:
                directories.append(directory)
        if directories:
            self.offers.need("additional_directories", "additional directories")
        servers = list(self.mcp_servers if mcp_servers is None else mcp_servers)
        for server in servers:
            if server.transport not in self.offers.mcp:
                raise CapabilityError(f"the agent cannot reach MCP server {server.name!r} over {server.transport}")
            if server.transport == "stdio" and not os.path.isabs(server.command):
                raise InvalidParams(f"MCP server {server.name!r}: the command must be an absolute path")
        return Place(where, directories, servers, meta)

    def __repr__(self) -> str:
        return f"<agent {self.name}, version {self.version}>"


def _filled(place: dict[str, Any]) -> dict[str, Any]:
    return {"mcp_servers": None, "additional_directories": (), "meta": None, **place}


def _dialect(version: int) -> type[Dialect]:
    """One version's vocabulary is loaded only when it is spoken."""
    if version == 1:
        from accord.client.v1 import V1

        return V1
    from accord.client.v2 import V2

    return V2
