"""Finds and starts the agent that a target names."""

from __future__ import annotations

import asyncio
import inspect
import os
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from accord.errors import LaunchError
from accord.model.requests import AuthMethod
from accord.model.values import short
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.remote.resuming_transport import Retry
    from accord.transports.http.options import HttpOptions

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*://)")


class Launched(NamedTuple):
    """A transport to the agent, and for an agent in this process the coroutine that serves it."""

    transport: Transport
    serving: Coroutine[Any, Any, None] | None = None


class RemoteSettings(NamedTuple):
    """Settings for reaching a remote agent."""

    token: str | None = None
    http: HttpOptions | None = None
    reconnect: Retry | None = None


async def launch(
    target: Any, cwd: str, env: Mapping[str, str] | None, remote: RemoteSettings | None = None
) -> Launched:
    """Start a command, connect to a URL or to an `Agent` object in memory, or use a transport as it is."""
    if isinstance(target, Transport):
        return Launched(target)
    if inspect.iscoroutinefunction(target):
        given = await target()
        return given if isinstance(given, Launched) else Launched(given)
    if is_url(target):
        return Launched(await _open_url(target, remote or RemoteSettings()))
    if isinstance(target, str) and (scheme := _SCHEME.match(target)):
        raise LaunchError(
            f"can't connect to {short(target)}: {scheme[1]} isn't supported; use http, https, ws or wss",
            stage="resolve",
        )
    if isinstance(target, (str, Sequence)):
        return Launched(await _start(command_of(target, cwd, env), cwd))
    return _in_memory(target)


class Command(NamedTuple):
    """A command to start, and its environment."""

    argv: list[str]
    env: dict[str, str] | None


def command_of(target: str | Sequence[str], cwd: str, env: Mapping[str, str] | None) -> Command:
    """Resolve a command: a list of arguments as it is; a string as a configured name, otherwise as a command line."""
    if not isinstance(target, str):
        return Command([str(word) for word in target], None if env is None else {**os.environ, **env})
    from pathlib import Path

    from accord.config.agents import resolve
    from accord.config.environment import environment
    from accord.config.settings import load
    from accord.policy.trust import Trust

    found = resolve(target, load(Path(cwd), trusted=Trust().trusts(cwd)).settings)
    return Command(found.argv, environment(found.environment, {**found.env, **(env or {})}))


async def _start(command: Command, cwd: str) -> Transport:
    from accord.transports.subprocess import SubprocessTransport

    return await SubprocessTransport.launch(command.argv, cwd=cwd, env=command.env)


def is_url(target: Any) -> bool:
    """Return whether a target is the URL of a remote agent: `http` and `https`, or `ws` and `wss` for WebSocket."""
    return isinstance(target, str) and target.lstrip().lower().startswith(("http://", "https://", "ws://", "wss://"))


async def _open_url(url: str, remote: RemoteSettings) -> Transport:
    from accord.remote.target import open_url

    return await open_url(url, token=remote.token, options=remote.http, retry=remote.reconnect)


async def log_in_by_terminal(command: Command, cwd: str, method: AuthMethod) -> bool:
    """Run the program of a login method in our terminal: the agent's own (`command`), or the one that the method names.

    Only exit status 0 counts as success."""
    from accord.process.python import environment_for

    argv = [*(command.argv if method.command is None else [method.command]), *method.args]
    variables = environment_for(argv, {**(os.environ if command.env is None else command.env), **method.env}, cwd)
    try:
        process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, env=variables)
    except OSError as error:
        raise LaunchError(f"couldn't start the login program {argv[0]}: {error.strerror}") from None
    try:
        return await process.wait() == 0
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise


def is_agent(target: object) -> bool:
    """Return whether this is an agent of this process."""
    from accord.agent.agent import Agent

    return isinstance(target, Agent)


def _in_memory(target: Any) -> Launched:
    from accord.agent.agent import Agent
    from accord.agent.side import AgentSide
    from accord.transports.memory import pair

    if not isinstance(target, Agent):
        raise LaunchError(
            f"can't connect to {short(target)}; pass a command line, a list of arguments, a URL, an Agent or a "
            "Transport; for a proxy, accord.proxy.chain(proxy, agent)",
            stage="resolve",
        )
    ours, theirs = pair()
    return Launched(ours, AgentSide(target, theirs).serve())


_INCOMING_METHODS = ("SESSION_UPDATE", "SESSION_REQUEST_PERMISSION", "ELICITATION_CREATE")
_CALLED_METHODS = ("INITIALIZE", "SESSION_NEW", "SESSION_PROMPT")


def preload(version: int) -> None:
    """Import a version's types and build the decoders that a client needs first.

    A connection does this when the version is agreed, which takes as long as a short response. Callers that are waiting
    for an agent to start can do it in the meantime."""
    methods: Any
    if version == 1:
        import accord.client.v1.dialect
        from accord.schema.v1 import methods
    else:
        import accord.client.v2.dialect  # noqa: F401
        from accord.schema.v2 import methods
    for name in _INCOMING_METHODS:
        msgspec.json.Decoder(getattr(methods, name).params)
    for name in _CALLED_METHODS:
        msgspec.json.Decoder(getattr(methods, name).result)
