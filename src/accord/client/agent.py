"""A connected agent: its capabilities, sessions, logins, and extension requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from accord.client.arguments import Directory, check_session_id
from accord.client.background_tasks import BackgroundTasks
from accord.client.dialect import Dialect
from accord.client.handlers import Handlers
from accord.client.initialize import negotiate
from accord.client.interruptions import Interruptions
from accord.client.listener import Listener
from accord.client.logins import Login, Logins, TerminalLogin
from accord.client.offered_servers import ServerLike
from accord.client.offers import AgentOffers
from accord.client.providers import Providers
from accord.client.restarts import Relaunch, Restarts
from accord.client.session import Session
from accord.client.session_list import SessionList, list_sessions
from accord.client.session_registry import SessionRegistry
from accord.client.workspace import Workspace
from accord.connection.connection import Connection
from accord.connection.diagnostics import Watcher
from accord.connection.dispatch import Routes, log
from accord.connection.handshake import agreed_version
from accord.connection.limits import Deadline, Limits
from accord.errors import CapabilityError, ConnectionClosed, InvalidValue, NotFound, RemoteProtocolError
from accord.model.account import ApiType, AuthStatus, Provider
from accord.model.record import Meta
from accord.model.requests import AuthMethod, Implementation, SystemPrompt
from accord.model.values import extension as check_extension
from accord.model.values import short
from accord.schema.method import Method
from accord.schema.repair import Unreadable
from accord.transcript.events import AgentEvent
from accord.transports.base import Transport, check_thread

if TYPE_CHECKING:
    from accord.connection.connection import Problem

P = TypeVar("P")
R = TypeVar("R")

DEADLINES: dict[str, float | None] = {
    "first byte": 60,
    "initialize": 60,
    "session": 120,
    "call": 120,
    "cancel": 30,
    "login": None,
    "extension": None,
}
"""Deadlines in seconds, by the name of the wait. Waiting for users and turns has no deadline."""


class ConnectedAgent:
    """An agent at the other end of a connection, after the handshake."""

    dialect: Dialect
    """The negotiated version."""
    offers: AgentOffers
    """The agent's capabilities."""

    def __init__(
        self,
        transport: Transport,
        *,
        cwd: str,
        versions: frozenset[int],
        unstable: bool,
        handlers: Handlers,
        workspace: Workspace | None,
        mcp_servers: Sequence[ServerLike],
        login: Login | None,
        info: Implementation,
        deadlines: Mapping[str, float | None],
        limits: Limits | None = None,
        relaunch: Relaunch | None = None,
        restart: bool = False,
        terminal_login: TerminalLogin | None = None,
        watch: Watcher | None = None,
        meta: Meta | None = None,
        capability_meta: Meta | None = None,
    ) -> None:
        self.cwd = cwd
        self.versions = versions
        """The versions that may be negotiated."""
        self.unstable = unstable
        self.handlers = handlers
        self.workspace = workspace
        self.client_info = info
        self.meta: Meta | None = meta
        self.capability_meta: Meta = capability_meta or {}
        self.connection: Connection = Connection(transport, side="client", limits=limits)
        self.registry: SessionRegistry = SessionRegistry(self, mcp_servers)
        self.logins: Logins = Logins(self, login, terminal_login)
        self._providers = Providers(self)
        self.restarts: Restarts = Restarts(self, relaunch, after_exit=restart)
        self.interruptions: Interruptions = Interruptions(self)
        self.tasks: BackgroundTasks = BackgroundTasks()
        self.is_closed: bool = False
        """Whether `close` was called."""
        self.is_remote: bool = False
        """Whether the agent is reached by a URL, so it can't be assumed to run on this machine."""
        self._watch = watch
        self._limits = limits
        self._deadlines = {
            stage: None if seconds is None else Deadline(stage, seconds)
            for stage, seconds in {**DEADLINES, **deadlines}.items()
        }
        self._listeners: list[Listener[AgentEvent]] = []
        self._has_ended = False
        """Whether the connection has ended for good: no restart replaces it."""

    # -- starting and closing

    async def open(self, serving: Coroutine[Any, Any, None] | None = None) -> None:
        """Start the connection and negotiate the version. `serving` runs an agent in this process."""
        if serving is not None:
            self.tasks.spawn_final(serving, logs_errors=True)
        try:
            await self._handshake()
        except BaseException:
            await self.close()
            raise

    async def use(self, transport: Transport) -> None:
        """Continue over another transport: the agent was restarted."""
        report = self.connection.on_problem
        self.connection = Connection(transport, side="client", limits=self._limits)
        self.connection.on_problem = report
        try:
            await self._handshake()
        except BaseException:
            await self.connection.close()
            raise
        self._has_ended = False

    async def _handshake(self) -> None:
        if self._watch is not None:
            self.connection.watch(self._watch)
        self.connection.transport.report_interruptions(self.interruptions.report)
        self.connection.start(Routes({}))
        response = await negotiate(self)
        agreed = agreed_version(response, self.versions)
        self.dialect = _load_dialect(agreed)(self)
        try:
            self.offers = self.dialect.offers(response)
        except Unreadable as error:
            raise RemoteProtocolError(f"initialize: the agent's response can't be read: {error}") from None
        if self.workspace is not None:
            self.workspace.on_version(agreed)
        self.connection.speak(self.dialect.routes(), null_ids=agreed == 1)
        self.tasks.spawn(self._watch_for_end(self.connection))

    async def _watch_for_end(self, connection: Connection) -> None:
        """When the connection ends, restart the agent or end its sessions."""
        await connection.wait_ended()
        if connection is not self.connection or connection is self.restarts.replaced or self.is_closed:
            return
        error = connection.closed_error("session")
        if self.restarts.can_restart:
            await self.restarts.restart(error)
            return
        for session in list(self.sessions.values()):
            session.end(connection.closed_error("session/prompt", is_open=True) if session.busy else error)
        self._finish_events()

    def end(self, error: ConnectionClosed) -> None:
        """End all sessions and events: the connection is closed for good."""
        self.registry.end_all(error)
        self._finish_events()

    def _finish_events(self) -> None:
        self._has_ended = True
        for listener in self._listeners:
            listener.finish()

    async def close(self) -> None:
        """Close the connection, and stop the agent if it was started here."""
        self.is_closed = True
        self.end(ConnectionClosed("the connection was closed here"))
        await self.connection.close()
        await self.tasks.close()

    async def __aenter__(self) -> ConnectedAgent:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    # -- about the agent

    @property
    def version(self) -> int:
        """The negotiated protocol version."""
        return self.offers.version

    @property
    def name(self) -> str:
        """The agent's title or name, or how it was started if it has none."""
        info = self.offers.info
        return (info.title or info.name) if info is not None else self.connection.transport.describe()

    @property
    def mcp_servers(self) -> list[ServerLike]:
        """The MCP servers of sessions that aren't given their own."""
        return self.registry.mcp_servers

    def events(self) -> Listener[AgentEvent]:
        """Listen to events that don't belong to a session: changes of the login, pages that the user has finished, and
        lost and resumed connections to a remote agent. Close the iterator when done. It ends with the connection,
        unless the agent is restarted."""
        listener = Listener(self._listeners, self.connection.backlog)
        if self._has_ended:
            listener.finish()
        else:
            self._listeners.append(listener)
        return listener

    # -- sessions

    @property
    def sessions(self) -> dict[str, Session]:
        """The open sessions by id, those of subagents included."""
        return self.registry.open

    async def new_session(
        self,
        cwd: Directory | None = None,
        *,
        mcp_servers: Sequence[ServerLike] | None = None,
        additional_directories: Sequence[Directory] = (),
        system_prompt: SystemPrompt | str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Create a session."""
        self.offers.need("sessions", "sessions")
        setup = self.registry.setup(cwd, mcp_servers, additional_directories, system_prompt, meta)
        return await self.registry.create(setup)

    async def fork_session(
        self,
        id: str,
        cwd: Directory | None = None,
        *,
        mcp_servers: Sequence[ServerLike] | None = None,
        additional_directories: Sequence[Directory] = (),
        system_prompt: SystemPrompt | str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Create a session with the history of another one (unstable)."""
        self.need_unstable("session/fork")
        self.offers.need("fork", "to fork sessions")
        setup = self.registry.setup(cwd, mcp_servers, additional_directories, system_prompt, meta)
        return await self.registry.fork(id, setup)

    async def load_session(
        self,
        id: str,
        cwd: Directory | None = None,
        *,
        mcp_servers: Sequence[ServerLike] | None = None,
        additional_directories: Sequence[Directory] = (),
        system_prompt: SystemPrompt | str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Open a stored session and read its whole history into the transcript."""
        self.offers.need("load", "to load sessions")
        setup = self.registry.setup(cwd, mcp_servers, additional_directories, system_prompt, meta)
        return await self.registry.reopen(id, setup, replay=True)

    async def resume_session(
        self,
        id: str,
        cwd: Directory | None = None,
        *,
        mcp_servers: Sequence[ServerLike] | None = None,
        additional_directories: Sequence[Directory] = (),
        system_prompt: SystemPrompt | str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Session:
        """Open a stored session without its history."""
        self.offers.need("resume", "to resume sessions")
        setup = self.registry.setup(cwd, mcp_servers, additional_directories, system_prompt, meta)
        return await self.registry.reopen(id, setup, replay=False)

    def list_sessions(self, cwd: Directory | None = None, *, archived: str | None = None) -> SessionList:
        """List the agent's sessions, page by page: those of one directory, or all."""
        return SessionList(list_sessions(self, cwd, archived))

    async def close_session(self, id: str) -> None:
        """Close a session by id. Succeeds if it isn't open."""
        self.offers.need("close", "to close sessions")
        try:
            await self.dialect.close_session(check_session_id(id))
        except NotFound:
            log.debug("session %s was already closed", id)
        self.registry.end(id)

    async def delete_session(self, id: str) -> None:
        """Delete a stored session. Succeeds if it doesn't exist."""
        self.offers.need("delete", "to delete sessions")
        try:
            await self.dialect.delete_session(check_session_id(id))
        except NotFound:
            log.debug("session %s was already deleted", id)
        self.registry.end(id)

    async def archive_session(self, id: str) -> None:
        """Archive a session, which closes it (unstable)."""
        self.need_unstable("session/archive")
        self.offers.need("archive", "to archive sessions")
        await self.dialect.archive_session(check_session_id(id), True)
        self.registry.archived.add(id)
        self.registry.end(id)

    async def unarchive_session(self, id: str) -> None:
        """Move an archived session back to the list (unstable)."""
        self.need_unstable("session/unarchive")
        self.offers.need("archive", "to archive sessions")
        await self.dialect.archive_session(check_session_id(id), False)
        self.registry.archived.discard(id)

    async def session_status(self, id: str) -> str:
        """Return whether a session is `open` or `saved` at the agent (unstable). Unknown statuses count as saved."""
        self.need_unstable("session/status")
        self.offers.need("status", "to report a session's status")
        return "open" if await self.dialect.session_status(check_session_id(id)) == "open" else "saved"

    async def set_title(self, id: str, title: str) -> str:
        """Set a session's title, whether or not it is open (unstable). Returns the title that the agent saved."""
        self.need_unstable("session/set_title")
        self.offers.need("title", "to set titles")
        saved = await self.dialect.set_title(check_session_id(id), title)
        session = self.sessions.get(id)
        if session is not None:
            session.push(session.transcript.set_info(title=saved))
        return saved

    # -- logins and providers

    @property
    def auth_methods(self) -> list[AuthMethod]:
        """The agent's login methods."""
        return self.offers.auth_methods

    @property
    def usable_logins(self) -> list[AuthMethod]:
        """The usable login methods: those that the agent handles, then terminal logins if a terminal is available."""
        return self.logins.usable

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Log in with one of the agent's methods, or with the first usable one.

        A method of the kind `terminal` runs a program in a terminal and reconnects if it succeeds."""
        await self.logins.login(method)

    async def logout(self) -> None:
        """Log out."""
        self.offers.need("logout", "to log out")
        await self.dialect.logout()

    async def auth_status(self) -> AuthStatus:
        """Return the state of the login and the known accounts (unstable).

        A state that the protocol doesn't define counts as `unknown`."""
        self.need_unstable("auth/status")
        self.offers.need("auth_status", "to report the state of the login")
        return await self.dialect.auth_status()

    async def list_providers(self) -> list[Provider]:
        """List the providers of the agent's model (unstable)."""
        return await self._providers.list()

    async def set_provider(
        self,
        id: str,
        *,
        api_type: ApiType,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        meta: Meta | None = None,
    ) -> None:
        """Configure a provider (unstable). Replaces its previous configuration."""
        await self._providers.set(id, api_type, base_url, headers, meta)

    async def disable_provider(self, id: str) -> None:
        """Disable a provider (unstable). One that was listed as required can't be disabled."""
        await self._providers.disable(id)

    async def reconnect(self) -> None:
        """Restart the agent and reopen all sessions."""
        await self.restarts.reconnect()

    # -- other methods

    async def request(self, method: str, params: Any = None) -> Any:
        """Send a request that the protocol doesn't define; its name should start with an underscore."""
        check_extension(method, params)
        extension: Method[Any, Any] = Method(name=method, served_by="agent", params=object, result=object)
        deadline = self.deadline("extension")
        return await self.connection.call(extension, {} if params is None else params, deadline=deadline)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Send a notification that the protocol doesn't define."""
        check_extension(method, params)
        extension: Method[Any, Any] = Method(name=method, served_by="agent", params=object)
        return self.connection.tell(extension, {} if params is None else params)

    async def call(self, method: Method[P, R], params: P) -> R:
        """Call any method of the negotiated version with its own types; see `accord.v1` and `accord.v2`."""
        if not isinstance(method, Method):
            raise InvalidValue(
                f"method is {short(method)}; it must be a method of accord.v{self.version}.methods; for a name, use "
                "agent.request(name, params)",
                argument="method",
            )
        if method.unstable:
            self.need_unstable(method.name)
        return await self.connection.call(method, params)

    def on_problem(self, report: Callable[[Problem], None]) -> None:
        """Report stray output, oversized messages and other problems that no caller waits for."""
        self.connection.on_problem = report

    # -- for the library

    def push(self, event: AgentEvent, size: int) -> None:
        """Publish an event that doesn't belong to a session. `size` is that of its message, for back-pressure."""
        for listener in self._listeners:
            listener.push(event, size)

    def deadline(self, stage: str) -> Deadline | None:
        """Return the deadline of a stage, such as `initialize`; None if it has none."""
        return self._deadlines.get(stage)

    def check_open(self, method: str) -> None:
        """Raise `ConnectionClosed` if the connection is closed; `method` is for the message."""
        check_thread(self.connection.thread)
        if not self.connection.is_open:
            raise self.connection.closed_error(method)

    def need_unstable(self, what: str) -> None:
        """Raise `CapabilityError` unless the connection was made with `unstable=True`."""
        if not self.unstable:
            raise CapabilityError(f"{what} is unstable; connect with unstable=True to use it")

    def __repr__(self) -> str:
        return f"<agent {self.name}, version {self.version}>"


def _load_dialect(version: int) -> type[Dialect]:
    """Import the dialect of a version; the other version's types are never loaded."""
    if version == 1:
        from accord.client.v1.dialect import V1

        return V1
    from accord.client.v2.dialect import V2

    return V2
