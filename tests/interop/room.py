"""A workspace of real files and real processes, for agents that are trusted: those of the tests."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from accord import ExitStatus, NotFound, Workspace
from accord.client.workspace import TerminalCommand, TerminalState


class Room(Workspace):
    """Lends what lies in one folder, and runs commands in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.processes: dict[str, Process] = {}
        self.released = 0

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        try:
            lines = Path(path).read_text().splitlines(keepends=True)  # noqa: ASYNC240 (small files, one agent)
        except FileNotFoundError:
            raise NotFound(f"there is no file {path}") from None
        start = (line or 1) - 1
        return "".join(lines[start : None if limit is None else start + limit])

    async def write(self, session_id: str, path: str, text: str) -> None:
        Path(path).write_text(text)  # noqa: ASYNC240 (as above)

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        process = await asyncio.create_subprocess_exec(
            command.command,
            *command.args,
            cwd=command.cwd,
            env={**os.environ, **command.env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        id = f"terminal-{len(self.processes) + self.released + 1}"
        self.processes[id] = Process(process)
        return id

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        process = self.processes[terminal_id]
        return TerminalState(output=process.output.decode("utf-8", "replace"), exit=process.status)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        return await asyncio.shield(self.processes[terminal_id].ending)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self.processes[terminal_id].kill()

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        self.released += 1
        await self.processes.pop(terminal_id).kill()


class Process:
    """One process whose output is kept."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""
        self.status: ExitStatus | None = None
        self.ending = asyncio.ensure_future(self._watch())

    async def _watch(self) -> ExitStatus:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            self.output += data
        code = await self.process.wait()
        self.status = ExitStatus(code=code) if code >= 0 else ExitStatus(signal=f"{-code}")
        return self.status

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.ending
