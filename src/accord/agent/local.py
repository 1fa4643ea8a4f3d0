"""An agent's own files and commands, where the client offers none: inside the session's roots, and nowhere else.

Files are read and written as safely as a client would (`workspace`). A command runs as a process of the agent's; what
it prints is shown to the client as a terminal of the agent's own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from accord.agent.terminals import Output, Terminal
from accord.errors import ConnectionClosed
from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus
from accord.workspace.display import Display, show
from accord.workspace.files import Files
from accord.workspace.roots import OutsideWorkspace, Roots
from accord.workspace.terminals import Terminals

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool


class Local:
    """What one session may use of the machine the agent runs on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.roots = Roots(session.cwd, session.additional_directories)
        self.files = Files(self.roots)
        self.terminals = Terminals()
        self._shows: set[asyncio.Task[None]] = set()

    async def run(
        self, command: str, args: Sequence[str], cwd: str, env: Mapping[str, str], output_limit: int | None
    ) -> LocalTerminal:
        """Starts a command, and begins to show it."""
        if not self.roots.contains(os.path.realpath(cwd)):  # noqa: ASYNC240  # a few look-ups in a warm cache
            raise OutsideWorkspace(f"a command starts inside the session's directories; {cwd} is not in them")
        session = self._session
        theirs = await self.terminals.create(session.id, command, args, env, cwd=cwd, output_limit=output_limit)
        terminal = LocalTerminal(session, session.new_id("term"), self.terminals, theirs)
        session.background.terminals.add(terminal.id)
        session.state(TerminalPatch(id=terminal.id, command=" ".join([command, *args]), cwd=cwd))
        showing = asyncio.get_running_loop().create_task(terminal.show())
        self._shows.add(showing)
        showing.add_done_callback(self._shows.discard)
        return terminal

    async def close(self) -> None:
        """Ends every command and lets go of the roots."""
        await self.terminals.close()
        if self._shows:
            await asyncio.wait(list(self._shows), timeout=1)
        self.roots.close()


class LocalTerminal(Terminal):
    """A command that the agent runs itself. It is used like one in a terminal of the client's."""

    def __init__(self, session: Session, id: str, terminals: Terminals, inner: str) -> None:
        super().__init__(session, id)
        self.shown_in: Tool | None = None
        self._terminals = terminals
        self._inner = inner
        self._shown = asyncio.Event()

    async def output(self) -> Output:
        printed = self._terminals.output(self._inner)
        return Output(text=printed.text, truncated=printed.truncated, exit=printed.exit)

    async def wait(self) -> ExitStatus:
        status = await self._terminals.wait_for_exit(self._inner)
        await self._shown.wait()  # what it printed is told before anything that follows from it
        return status

    async def kill(self) -> None:
        await self._terminals.kill(self._inner)

    async def release(self) -> None:
        if not self._released:
            self._released = True
            await self._terminals.release(self._inner)
            await self._shown.wait()

    async def _leave(self) -> None:
        await self.release()  # here nobody is asked: it takes as long as ending a process

    async def _say(self, statement: TerminalPatch | TerminalData) -> None:
        await self._session.state(statement)
        self._session._side.dialect.display_grew(self._session, self)

    async def show(self) -> None:
        """Tells the client what is printed, until the command ends."""
        try:
            await show(self._terminals.subscribe(self._inner), Display(self.id), self._say)
            await self._session._side.dialect.display_ended(self._session, self)
        except ConnectionClosed:
            pass  # nobody is left to be told
        finally:
            self._session.background.terminals.discard(self.id)
            self._session.background.changed()
            self._shown.set()
