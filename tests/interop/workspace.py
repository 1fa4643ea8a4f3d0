"""A workspace for tests: real files of one directory, and real commands."""

from __future__ import annotations

from pathlib import Path

from accord import ExitStatus, Workspace
from accord.client.workspace import TerminalCommand, TerminalState
from accord.workspace.files import Files
from accord.workspace.roots import Roots
from accord.workspace.terminals import Terminals


class RealWorkspace(Workspace):
    """A directory, and terminals that start in it. Use it with `async with`: commands end with the block."""

    def __init__(self, root: Path) -> None:
        self._roots = Roots(str(root))
        self._files = Files(self._roots, sync=False)
        self._terminals = Terminals()

    async def __aenter__(self) -> RealWorkspace:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._terminals.close()
        self._roots.close()

    @property
    def open_terminals(self) -> list[str]:
        return self._terminals.ids()

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return await self._files.read(path, line, limit)

    async def write(self, session_id: str, path: str, text: str) -> None:
        await self._files.write(path, text)

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        return await self._terminals.create(
            session_id,
            command.command,
            command.args,
            command.env,
            cwd=command.cwd or "/",
            output_limit=command.output_limit,
        )

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        printed = self._terminals.output(terminal_id)
        return TerminalState(output=printed.text, truncated=printed.truncated, exit=printed.exit)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        return await self._terminals.wait_for_exit(terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._terminals.kill(terminal_id)

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._terminals.release(terminal_id)
