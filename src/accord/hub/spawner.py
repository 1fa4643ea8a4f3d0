"""Spawners, which start agent processes for the hub."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Protocol

from accord.hub.principal import Principal
from accord.transports.base import Transport
from accord.transports.subprocess import SubprocessTransport


class Spawner(Protocol):
    """Starts agent processes: local ones, in a sandbox, in a container, elsewhere."""

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        """Start an agent process for a principal. Raises `LaunchError`."""

    def describe(self) -> str:
        """Describe the command, for messages and logs."""


class CommandSpawner:
    """Starts a command on this machine. `env` is its whole environment (None: ours)."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._argv = list(argv)
        self._env = env

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        """Start the command in a directory. The principal makes no difference."""
        return await SubprocessTransport.launch(self._argv, cwd=cwd, env=self._env)

    def describe(self) -> str:
        """Return the command line."""
        return shlex.join(self._argv)
