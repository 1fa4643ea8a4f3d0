"""An agent's own files and commands, used where the client offers none, and restricted to the session's directories.

Files are read and written as safely as a client would (`workspace`). A command runs as a child process of the
agent; the client shows its output as one of the agent's terminals."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from accord.agent.workspace import Output, Terminal
from accord.errors import ConnectionClosed
from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus
from accord.workspace.files import Files
from accord.workspace.output import OutputReporter, report_output
from accord.workspace.roots import OutsideWorkspace, Roots
from accord.workspace.terminals import Terminals

if TYPE_CHECKING:
    from accord.agent.session import Session


class Machine(ABC):
    """Files and commands behind `turn.files` and `turn.terminals` when the client offers none."""

    @abstractmethod
    async def read(self, path: str, line: int | None, limit: int | None, *, at: str | None = None) -> str: ...

    @abstractmethod
    async def write(self, path: str, text: str, *, at: str | None = None) -> None: ...

    @abstractmethod
    async def run(
        self,
        command: str,
        args: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        output_limit: int | None,
        *,
        at: str | None = None,
    ) -> Terminal:
        """Start a command and show it to the client."""

    @abstractmethod
    async def close(self) -> None:
        """Stop every command."""


MakeMachine = Callable[["Session"], Machine]


class Local(Machine):
    """The files and commands of this machine that one session may use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.roots: Roots = Roots(session.cwd, session.additional_directories)
        self.files: Files = Files(self.roots)
        self.terminals: Terminals = Terminals(environment=session.environment)
        self._shows: set[asyncio.Task[None]] = set()

    async def read(self, path: str, line: int | None, limit: int | None, *, at: str | None = None) -> str:
        return await self.files.read(path, line, limit, at=at)

    async def write(self, path: str, text: str, *, at: str | None = None) -> None:
        await self.files.write(path, text, at=at)

    async def run(
        self,
        command: str,
        args: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        output_limit: int | None,
        *,
        at: str | None = None,
    ) -> LocalTerminal:
        if at is None:
            at = os.path.realpath(cwd)  # noqa: ASYNC240  # a few look-ups in a warm cache
        if not self.roots.contains(at):
            raise OutsideWorkspace(f"a command starts inside the session's directories; {cwd} is not in them")
        session = self._session
        theirs = await self.terminals.create(session.id, command, args, env, cwd=cwd, at=at, output_limit=output_limit)
        terminal = LocalTerminal(session, session.new_id("term"), self.terminals, theirs)
        session.background.terminals.add(terminal.id)
        session.writer.state(TerminalPatch(id=terminal.id, command=" ".join([command, *args]), cwd=cwd))
        showing = asyncio.get_running_loop().create_task(terminal.show())
        self._shows.add(showing)
        showing.add_done_callback(self._shows.discard)
        return terminal

    async def close(self) -> None:
        """End every command and close the directories."""
        await self.terminals.close()
        if self._shows:
            await asyncio.wait(list(self._shows), timeout=1)
        self.roots.close()


class LocalTerminal(Terminal):
    """A command that the agent runs itself, with the interface of a command in a terminal of the client."""

    def __init__(self, session: Session, id: str, terminals: Terminals, inner: str) -> None:
        super().__init__(session, id)
        self._terminals = terminals
        self._inner = inner
        self._shown = asyncio.Event()

    async def output(self) -> Output:
        printed = self._terminals.output(self._inner)
        return Output(text=printed.text, truncated=printed.truncated, exit=printed.exit)

    async def wait(self) -> ExitStatus:
        status = await self._terminals.wait_for_exit(self._inner)
        await self._shown.wait()  # report its output before anything that follows from it
        return status

    async def kill(self) -> None:
        await self._terminals.kill(self._inner)

    async def release(self) -> None:
        if not self._released:
            self._released = True
            await self._terminals.release(self._inner)
            await self._shown.wait()

    async def _leave(self) -> None:
        await self.release()  # needs no request to the client, only the time to end a process

    async def _say(self, statement: TerminalPatch | TerminalData) -> None:
        await self._session.writer.state(statement)
        self._session.dialect.display_grew(self._session, self)

    async def show(self) -> None:
        """Send the command's output to the client until it exits."""
        try:
            await report_output(self._terminals.subscribe(self._inner), OutputReporter(self.id), self._say)
            await self._session.dialect.display_ended(self._session, self)
        except ConnectionClosed:
            pass  # the client is gone
        finally:
            self._session.background.terminals.discard(self.id)
            self._session.background.update()
            self._shown.set()
