"""A connected agent: what it offers, its sessions, and whatever else can be asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from accord.client.dialect import Dialect
from accord.client.early import Early
from accord.client.handlers import Handlers
from accord.client.login import Login, Logins, TerminalLogin
from accord.client.offers import AgentOffers
from accord.client.reviving import Relaunch, Reviving
from accord.client.session import Session
from accord.client.sessions import Sessions
from accord.client.workspace import Workspace
from accord.connection.connection import Connection
from accord.connection.dispatch import Routes, log
from accord.connection.handshake import INITIALIZE, agreed_version, version_to_retry
from accord.connection.limits import Deadline, Limits
from accord.connection.tap import Watcher
from accord.errors import (
    UNSUPPORTED_VERSION,
    CapabilityError,
    ConnectionClosed,
    DeadlineExceeded,
    NotFound,
    RequestFailed,
    VersionError,
)
from accord.model.requests import Implementation, McpServer
from accord.schema.method import Method
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.connection.connection import Trouble

P = TypeVar("P")
R = TypeVar("R")

DEADLINES: dict[str, float | None] = {
    "first byte": 60,
    "initialize": 60,
    "session": 120,
    "call": 120,
    "login": None,
    "extension": None,
}
"""How long a machine may take, by the name of the wait. People and turns have no deadline."""

_FAREWELL = 5.0
"""How long an agent in this process may take to stop."""


class ConnectedAgent(Reviving, Logins, Sessions):
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
        relaunch: Relaunch | None = None,
        restart: bool = False,
        terminal_login: TerminalLogin | None = None,
        watch: Watcher | None = None,
    ) -> None:
        self.connection = Connection(transport, side="client", limits=limits)
        self.relaunch = relaunch
        self.restart = restart
        self.terminal_login = terminal_login
        self._watch = watch
        self._limits = limits
        self._closed = False
        self._tries = 0
        self._since = 0.0
        self.cwd = cwd
        self.unstable = unstable
        self.handlers = handlers
        self.workspace = workspace
        self.mcp_servers = list(mcp_servers)
        self.sessions: dict[str, Session] = {}
        self.client_info = info
        self.early = Early()
        self._versions = versions
        self._login = login
        self._deadlines = {
            stage: None if seconds is None else Deadline(stage, seconds)
            for stage, seconds in {**DEADLINES, **deadlines}.items()
        }
        self._tasks: set[asyncio.Task[Any]] = set()
        self._duties: set[asyncio.Task[Any]] = set()
        self._serving: asyncio.Task[None] | None = None

    # -- beginning and end

    async def open(self, serving: Coroutine[Any, Any, None] | None = None) -> None:
        """Starts the connection and agrees on a version. `serving` is the work of an agent in this process."""
        if serving is not None:
            self._serving = asyncio.get_running_loop().create_task(serving)
            self._serving.add_done_callback(self._reaped)
        try:
            await self.shake_hands()
        except BaseException:
            await self.close()
            raise

    async def shake_hands(self) -> None:
        """Starts the connection that is there now and agrees on a version."""
        if self._watch is not None:
            self.connection.watch(self._watch)
        self.connection.start(Routes({}))
        await self._handshake(max(self._versions))
        self.spawn(self._mourn(self.connection))

    async def _handshake(self, version: int, *, again: bool = True) -> None:
        from accord.client.hello import hello

        try:
            answer = await self._say_hello(hello(version, self))
        except RequestFailed as error:
            lower = version_to_retry(error, self._versions, version)
            if lower is None or not again:
                if error.code == UNSUPPORTED_VERSION:
                    ours = " and ".join(map(str, sorted(self._versions)))
                    raise VersionError(f"the agent speaks none of our protocol versions ({ours}): {error}") from error
                raise
            await self._handshake(lower, again=False)
            return
        decoded = msgspec.json.decode(answer)
        agreed = agreed_version(decoded, self._versions)
        self.dialect = _dialect(agreed)(self)
        self.offers = self.dialect.offers(decoded)
        self.connection.speak(self.dialect.routes(), null_ids=agreed == 1)

    async def _say_hello(self, params: Any) -> Any:
        """Awaits the agent's answer; before that, that it says anything at all."""
        asking = asyncio.ensure_future(self.connection.call(INITIALIZE, params, deadline=self.deadline("initialize")))
        first = self.deadline("first byte")
        try:
            await asyncio.wait([asking], timeout=first.seconds if first is not None else None)
            if not asking.done() and not self.connection.heard and first is not None:
                words = self.connection.transport.last_words()
                tail = f'; its last words: "{words}"' if words else ""
                raise DeadlineExceeded(
                    f"{self.connection.transport.describe()} said nothing within {first.seconds:g} s of initialize"
                    f" (stage first byte){tail}",
                    stage=first.stage,
                    seconds=first.seconds,
                )
            return await asking
        except DeadlineExceeded as error:
            if not self.connection.first_stray:
                raise
            said = f"{error}; what it printed is no message: {self.connection.first_stray}"
            raise DeadlineExceeded(said, stage=error.stage, seconds=error.seconds) from None
        finally:
            asking.cancel()

    async def _mourn(self, connection: Connection) -> None:
        """When the connection ends, every session learns why; or it is made anew, if that was asked for."""
        await connection.wait_ended()
        if connection is not self.connection or connection is self.left or self._closed:
            return
        error = connection.closed_error("session")
        if self.restart and self.relaunch is not None:
            await self.revive(error)
            return
        for session in list(self.sessions.values()):
            session._over(error)

    async def close(self) -> None:
        """Ends the connection, and the agent with it if it was started here."""
        self._closed = True
        for session in list(self.sessions.values()):
            session._over(ConnectionClosed("the connection was closed here"))
        await self.connection.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        duties = [*self._duties, *([self._serving] if self._serving is not None else [])]
        if duties:
            _, late = await asyncio.wait(duties, timeout=_FAREWELL)
            for task in late:
                task.cancel()
        here = asyncio.current_task()
        tasks = [task for task in [*tasks, *duties] if task is not here]
        if tasks:
            await asyncio.wait(tasks, timeout=2)

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

    # -- anything else

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks something that the protocol does not know; such names begin with an underscore."""
        wanted: Method[Any, Any] = Method(name=method, served_by="agent", params=object, result=object)
        deadline = self.deadline("extension")
        return await self.connection.call(wanted, {} if params is None else params, deadline=deadline)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Tells something that the protocol does not know."""
        told: Method[Any, Any] = Method(name=method, served_by="agent", params=object)
        return self.connection.tell(told, {} if params is None else params)

    async def call(self, method: Method[P, R], params: P) -> R:
        """Calls any method of the agreed version in its own words; see `accord.v1` and `accord.v2`."""
        if method.unstable:
            self.need_unstable(method.name)
        return await self.connection.call(method, params)

    def on_trouble(self, report: Callable[[Trouble], None]) -> None:
        """Reports stray lines, oversized messages and the like, which no caller waits for."""
        self.connection.on_trouble = report

    # -- underneath

    def deadline(self, stage: str) -> Deadline | None:
        return self._deadlines.get(stage)

    def check_open(self, method: str) -> None:
        if not self.connection.is_open:
            raise self.connection.closed_error(method)

    def need_unstable(self, what: str) -> None:
        if not self.unstable:
            raise CapabilityError(f"{what} is unstable; connect with unstable=True to use it")

    def update(self, params: Any) -> None:
        """An update of some session."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            session.receive(params.update, self.connection.message_size)
        else:
            self.early.keep(params.session_id, params.update, self.connection.message_size)

    def session_of(self, id: str) -> Session:
        """The session that a request of the agent's names."""
        session = self.sessions.get(id)
        if session is None:
            raise NotFound(f"this client has no session {id[:80]!r}", data={"sessionId": id})
        return session

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs something in the background for as long as the connection lasts."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._reaped)

    def see_to(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs something that must be done before this side is gone."""
        task = asyncio.get_running_loop().create_task(work)
        self._duties.add(task)
        task.add_done_callback(self._duties.discard)

    def _reaped(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None and not isinstance(task.exception(), ConnectionClosed):
            log.error("something in the background failed", exc_info=task.exception())

    def __repr__(self) -> str:
        return f"<agent {self.name}, version {self.version}>"


def _dialect(version: int) -> type[Dialect]:
    """One version's vocabulary is loaded only when it is spoken."""
    if version == 1:
        from accord.client.v1 import V1

        return V1
    from accord.client.v2 import V2

    return V2
