"""A workspace that is created on first use: most prompts need no files, no terminals and no policy."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.client.workspace import TerminalCommand, TerminalState, Workspace
from accord.errors import RequestFailed
from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import ExitStatus

if TYPE_CHECKING:
    from pathlib import Path

    from accord.client.local_workspace import LocalWorkspace


class LazyWorkspace(Workspace):
    """A workspace that `make` creates when it is first needed, if its directory is still the same one by then.

    `reads` is whether reading is offered. It is by default, although the programs have no unsaved buffers: rules that
    deny reading apply only to reads through Accord."""

    def __init__(self, cwd: Path, make: Callable[[], LocalWorkspace], *, reads: bool = True) -> None:
        self._cwd = cwd
        self._reads = reads
        self._make = make
        self._identity = _identity(cwd)
        self._made: LocalWorkspace | None = None

    @property
    def local(self) -> LocalWorkspace:
        """The workspace, created on first use."""
        if self._made is None:
            if _identity(self._cwd) != self._identity:
                raise RequestFailed(f"{self._cwd} was replaced by another directory since the start")
            self._made = self._make()
        return self._made

    def offers(self, *methods: str) -> bool:
        return super().offers(*methods) and (self._reads or "read" not in methods)

    def kill(self) -> None:
        if self._made is not None:
            self._made.kill()

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    async def __aenter__(self) -> LazyWorkspace:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def permissions(self, request: PermissionRequest) -> PermissionOption | None:
        return await self.local.permissions(request)

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return await self.local.read(session_id, path, line, limit)

    async def write(self, session_id: str, path: str, text: str) -> None:
        await self.local.write(session_id, path, text)

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        return await self.local.create_terminal(session_id, command)

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        return await self.local.terminal_output(session_id, terminal_id)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        return await self.local.wait_for_exit(session_id, terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self.local.kill_terminal(session_id, terminal_id)

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self.local.release_terminal(session_id, terminal_id)


def _identity(directory: Path) -> tuple[int, int]:
    about = os.stat(directory)
    return about.st_dev, about.st_ino
