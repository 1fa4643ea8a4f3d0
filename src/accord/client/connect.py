"""`connect()`: from a target to a connected agent."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, Union

from accord.client import arguments
from accord.client.agent import DEADLINES, ConnectedAgent
from accord.client.handlers import Elicitations, Handlers, Permissions
from accord.client.launch import Launched, RemoteSettings, command_of, is_url, launch, log_in_by_terminal
from accord.client.logins import Login, TerminalLogin
from accord.client.offered_servers import ServerLike
from accord.client.workspace import Workspace
from accord.connection.diagnostics import Watcher
from accord.connection.limits import Limits
from accord.errors import InvalidValue, UsageError, end_at_author
from accord.model.record import Meta
from accord.model.requests import AuthMethod, Implementation
from accord.transports.base import Transport
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.remote.resuming_transport import Retry
    from accord.transports.http.options import HttpOptions


class ConnectOptions(TypedDict, total=False):
    """The options of `connect`, for functions that pass them on."""

    cwd: str | os.PathLike[str]
    workspace: Workspace | None
    permissions: Permissions | None
    elicitation: Elicitations | None
    elicitation_modes: Collection[str]
    mcp_servers: Sequence[ServerLike]
    env: Mapping[str, str] | None
    versions: Collection[int]
    unstable: bool
    login: Login | None
    terminal_login: bool | TerminalLogin
    restart: bool
    extensions: Mapping[str, Callable[[Any], Any]] | None
    deadlines: Mapping[str, float | None] | None
    limits: Limits | None
    info: Implementation | None
    meta: Meta | None
    capability_meta: Meta | None
    watch: Watcher | None
    token: str | None
    http: HttpOptions | None
    reconnect: Retry | None


Target = Union[str, Sequence[str], Transport, Callable[[], Awaitable[Transport]], "Agent"]


def connect(
    target: Target,
    *,
    cwd: str | os.PathLike[str] = ".",
    workspace: Workspace | None = None,
    permissions: Permissions | None = None,
    elicitation: Elicitations | None = None,
    elicitation_modes: Collection[str] = ("form", "url"),
    mcp_servers: Sequence[ServerLike] = (),
    env: Mapping[str, str] | None = None,
    versions: Collection[int] = (1,),
    unstable: bool = False,
    login: Login | None = None,
    terminal_login: bool | TerminalLogin = False,
    restart: bool = False,
    extensions: Mapping[str, Callable[[Any], Any]] | None = None,
    deadlines: Mapping[str, float | None] | None = None,
    limits: Limits | None = None,
    info: Implementation | None = None,
    meta: Meta | None = None,
    capability_meta: Meta | None = None,
    watch: Watcher | None = None,
    token: str | None = None,
    http: HttpOptions | None = None,
    reconnect: Retry | None = None,
) -> Connecting:
    """Connect to an agent: a configured name, a command line, a list of arguments, a URL, an `Agent` object, a
    transport, or an async function that returns one.

    Use the result with `async with` (the agent is stopped at the end of the block), or await it and call `close()`.

    `cwd` is the directory of a command and the default directory of sessions; `env` is added to the environment of a
    command. `workspace` provides files and terminals to the agent. `permissions` and `elicitation` answer its requests,
    which are otherwise rejected; `elicitation_modes` are the modes that the `elicitation` handler supports. While
    version 2 is a draft, only version 1 is offered unless `versions` says otherwise.

    `login` chooses a login method when the agent requires a login; the failed call is then repeated. `terminal_login`
    allows methods that run a program in our terminal, with your function if you pass one. `restart` restarts an agent
    that exits and reopens its sessions; `ConnectionChanged` events report that.

    `extensions` maps methods that the protocol doesn't define to handlers. `deadlines` overrides how long the agent may
    take, by the name of the wait (`accord.client.agent.DEADLINES`). `meta` is the `_meta` of `initialize`,
    `capability_meta` that of our capabilities. `watch` is called with every line on the wire, starting with the first
    one, also after a restart.

    For remote agents (`https://…`, `wss://…`): `token` is the server's token, which is otherwise looked up; `http` has
    headers, certificates and a proxy; `reconnect` sets how long to try to restore a lost connection. Such a connection
    is restored without a restart; `Disconnected` and `Resumed` events report that."""
    _check_target(target)
    where = os.path.abspath(arguments.check_directory("cwd", cwd))
    arguments.check_workspace(workspace)
    arguments.check_handler("permissions", permissions, "accord.allow_all", "request")
    arguments.check_handler("elicitation", elicitation, "lambda form: {}", "question")
    arguments.check_handler("login", login, "lambda methods: methods[0]", "methods")
    arguments.check_handler("watch", watch, "print", "direction", "line")
    if inspect.iscoroutinefunction(watch):
        raise InvalidValue("watch is an async function; it must be a plain one", argument="watch")
    arguments.check_elicitation_modes(elicitation_modes)
    arguments.check_record("limits", limits, Limits, "accord.Limits(…)")
    arguments.check_record("info", info, Implementation, "accord.Implementation(name=…, version=…)")
    arguments.check_record("meta", meta, dict, "a dict")
    arguments.check_record("capability_meta", capability_meta, dict, "a dict")
    arguments.check_versions(versions)
    arguments.check_mcp_servers(mcp_servers)
    arguments.check_environment(env)
    arguments.check_deadlines(deadlines or {}, DEADLINES)
    arguments.check_extensions(extensions)

    is_command = isinstance(target, (str, Sequence)) and not is_url(target)
    can_start = isinstance(target, (str, Sequence)) or inspect.iscoroutinefunction(target)

    async def relaunch() -> Launched:
        return await launch(target, where, env, RemoteSettings(token, http, reconnect))

    async def log_in(method: AuthMethod) -> bool:
        assert isinstance(target, (str, Sequence))
        return await log_in_by_terminal(command_of(target, where, env), where, method)

    own_login = log_in if terminal_login and is_command else None

    async def begin() -> ConnectedAgent:
        launched = await relaunch()
        agent = ConnectedAgent(
            launched.transport,
            cwd=where,
            versions=frozenset(versions),
            unstable=unstable,
            handlers=Handlers(permissions, elicitation, extensions, elicitation_modes),
            workspace=workspace,
            mcp_servers=mcp_servers,
            login=login,
            info=info or Implementation(name="accord", version=__version__),
            deadlines=deadlines or {},
            limits=limits,
            relaunch=relaunch if can_start else None,
            restart=restart,
            terminal_login=terminal_login if callable(terminal_login) else own_login,
            watch=watch,
            meta=meta,
            capability_meta=capability_meta,
        )
        agent.is_remote = is_url(target)
        await agent.open(launched.serving)
        return agent

    return Connecting(begin)


def _check_target(target: Any) -> None:
    """Check an agent in this process. Other targets are checked when they are started."""
    if isinstance(target, (str, Sequence, Transport)) or inspect.iscoroutinefunction(target):
        return
    from accord.agent.agent import Agent
    from accord.agent.definition import check_agent

    if isinstance(target, Agent) or (isinstance(target, type) and issubclass(target, Agent)):
        check_agent(target, Agent, "connect")


class Connecting:
    """A connection that is about to be opened: await it, or use it with `async with`."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, ConnectedAgent]]) -> None:
        self._begin = begin
        self._agent: ConnectedAgent | None = None

    def __await__(self) -> Generator[Any, None, ConnectedAgent]:
        return self._begin().__await__()

    async def __aenter__(self) -> ConnectedAgent:
        self._agent = await self._begin()
        return self._agent

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._agent is not None:
            await self._agent.close()
        if error is not None:
            end_at_author(error)

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __enter__(self) -> NoReturn:
            raise UsageError(
                "connect() needs “async with”: async with accord.connect(…) as agent; without asyncio, use "
                "accord.sync.connect"
            )

        def __exit__(self, *exc: object) -> None: ...

        def __getattr__(self, name: str) -> NoReturn:
            if not name.startswith("_") and name in dir(ConnectedAgent):
                raise UsageError(
                    f"connect() hasn't been awaited, so there is no .{name} yet; write “async with accord.connect(…) "
                    "as agent”"
                )
            raise AttributeError(f"'Connecting' object has no attribute {name!r}")
