"""Finds and starts what a target names."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from accord.errors import LaunchError
from accord.transports.base import Transport


class Launched(NamedTuple):
    """A transport to the agent, and, for an agent in this process, the work of serving it."""

    transport: Transport
    serving: Coroutine[Any, Any, None] | None = None


async def launch(target: Any, cwd: str, env: Mapping[str, str] | None) -> Launched:
    """Starts a command, joins an `Agent` object in memory, or takes a transport as it is, or as a function gives it."""
    if isinstance(target, Transport):
        return Launched(target)
    if inspect.iscoroutinefunction(target):
        return Launched(await target())
    if isinstance(target, (str, Sequence)):
        return Launched(await _start(command_of(target, cwd, env), cwd))
    return _in_memory(target)


class Command(NamedTuple):
    """What to start, and in which environment."""

    argv: list[str]
    env: dict[str, str] | None


def command_of(target: str | Sequence[str], cwd: str, env: Mapping[str, str] | None) -> Command:
    """A list of words as it is; a string by its name in the configuration, else as a command line."""
    if not isinstance(target, str):
        return Command([str(word) for word in target], None if env is None else {**os.environ, **env})
    from pathlib import Path

    from accord.config.environment import environment
    from accord.config.resolve import resolve
    from accord.config.settings import load
    from accord.policy.trust import Trust

    found = resolve(target, load(Path(cwd), trusted=Trust().trusts(cwd)).settings)
    return Command(found.argv, environment(found.environment, {**found.env, **(env or {})}))


async def _start(command: Command, cwd: str) -> Transport:
    from accord.transports.subprocess import SubprocessTransport

    return await SubprocessTransport.launch(command.argv, cwd=cwd, env=command.env)


async def log_in_by_terminal(command: Command, cwd: str, args: Sequence[str], env: Mapping[str, str]) -> bool:
    """Runs the agent's own program on our terminal, with the arguments and variables of a login method.

    Ending with status 0 is success; anything else, or being interrupted, is not."""
    variables = {**(os.environ if command.env is None else command.env), **env}
    try:
        process = await asyncio.create_subprocess_exec(*command.argv, *args, cwd=cwd, env=variables)
    except OSError as error:
        raise LaunchError(f"the login of {command.argv[0]} cannot be started: {error.strerror}") from None
    try:
        return await process.wait() == 0
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise


def _in_memory(target: Any) -> Launched:
    from accord.agent.agent import Agent
    from accord.agent.side import AgentSide
    from accord.transports.memory import pair

    if not isinstance(target, Agent):
        raise LaunchError(
            f"cannot connect to {type(target).__name__}: give a command, a list of arguments, an Agent or a Transport",
            stage="resolve",
        )
    ours, theirs = pair()
    return Launched(ours, AgentSide(target, theirs).serve())
