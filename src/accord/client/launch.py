"""Finds and starts what a target names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from accord.errors import LaunchError
from accord.transports.base import Transport


class Launched(NamedTuple):
    """A transport to the agent, and, for an agent in this process, the work of serving it."""

    transport: Transport
    serving: Coroutine[Any, Any, None] | None = None


async def launch(target: Any, cwd: str, env: Mapping[str, str] | None) -> Launched:
    """Starts a command, joins an `Agent` object in memory, or takes a transport as it is."""
    if isinstance(target, Transport):
        return Launched(target)
    if isinstance(target, str):
        return Launched(await _command(_words(target), cwd, env))
    if isinstance(target, Sequence):
        return Launched(await _command([str(word) for word in target], cwd, env))
    return _in_memory(target)


def _words(line: str) -> list[str]:
    if line.startswith(("http://", "https://", "ws://", "wss://")):
        raise LaunchError(
            f"{line}: agents behind a URL cannot be reached by this version; start one by its command", stage="resolve"
        )
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise LaunchError(f"{line!r} is no command line: {error}", command=line, stage="resolve") from None
    if not words:
        raise LaunchError("the command line of the agent is empty", stage="resolve")
    return words


async def _command(words: list[str], cwd: str, env: Mapping[str, str] | None) -> Transport:
    from accord.transports.subprocess import SubprocessTransport

    return await SubprocessTransport.launch(words, cwd=cwd, env=None if env is None else {**os.environ, **env})


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
