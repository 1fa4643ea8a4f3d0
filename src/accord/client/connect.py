"""`connect()`: from a target to a connected agent."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from accord.client.agent import ConnectedAgent
from accord.client.handlers import Elicitations, Handlers, Permissions
from accord.client.launch import Launched, command_of, launch, log_in_by_terminal
from accord.client.login import Login, TerminalLogin
from accord.client.workspace import Workspace
from accord.connection.limits import Limits
from accord.connection.tap import Watcher
from accord.errors import LocalProtocolError
from accord.model.requests import AuthMethod, Implementation, McpServer
from accord.transports.base import Transport
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.agent import Agent

Target = Union[str, Sequence[str], Transport, Callable[[], Awaitable[Transport]], "Agent"]


def connect(
    target: Target,
    *,
    cwd: str | os.PathLike[str] = ".",
    workspace: Workspace | None = None,
    permissions: Permissions | None = None,
    elicitation: Elicitations | None = None,
    mcp_servers: Sequence[McpServer] = (),
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
    watch: Watcher | None = None,
) -> Connecting:
    """Connects to an agent: a configured name, a command line, a list of arguments, an `Agent` object, a transport, or
    an async function that gives one.

    Use what it gives with `async with` (the agent is ended with the block), or await it and call `close()`.

    `env` is added to the environment of a command. `workspace` is what the agent may use of ours; `permissions` and
    `elicitation` answer what it asks: without them it is refused. While version 2 is a draft, only version 1 is offered
    unless `versions` says otherwise. `login` chooses a login method when the agent demands one; the call that failed is
    then made again. `terminal_login` lets it use methods that run the agent's program on our terminal, by a function of
    yours if you give one. `restart` starts an agent that died again and resumes its sessions; `ConnectionChanged`
    events tell. `extensions` maps methods that the protocol does not know to handlers. `deadlines` overrides how long
    machines may take, by the name of the wait (`accord.client.agent.DEADLINES`). `watch` is shown every line that goes
    over the wire, from the first one on, also after a restart."""
    where = os.path.abspath(os.fspath(cwd))

    is_command = isinstance(target, (str, Sequence))
    can_start = is_command or inspect.iscoroutinefunction(target)

    async def relaunch() -> Launched:
        return await launch(target, where, env)

    async def log_in(method: AuthMethod) -> bool:
        assert isinstance(target, (str, Sequence))
        return await log_in_by_terminal(command_of(target, where, env), where, method.args, method.env)

    own_login = log_in if terminal_login and is_command else None

    async def begin() -> ConnectedAgent:
        if not versions or not set(versions) <= {1, 2}:
            raise LocalProtocolError(f"versions is {sorted(versions)}; it may hold 1 and 2")
        launched = await relaunch()
        agent = ConnectedAgent(
            launched.transport,
            cwd=where,
            versions=frozenset(versions),
            unstable=unstable,
            handlers=Handlers(permissions, elicitation, extensions),
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
        )
        await agent.open(launched.serving)
        return agent

    return Connecting(begin)


class Connecting:
    """A connection about to be made: await it, or use it with `async with`."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin = begin
        self._agent: ConnectedAgent | None = None

    def __await__(self) -> Generator[Any, None, ConnectedAgent]:
        return self._begin().__await__()  # type: ignore[no-any-return]

    async def __aenter__(self) -> ConnectedAgent:
        self._agent = await self._begin()
        return self._agent

    async def __aexit__(self, *exc: object) -> None:
        if self._agent is not None:
            await self._agent.close()
