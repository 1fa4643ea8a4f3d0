"""Scripted files and commands that replace the agent's own.

Version 2 has no methods for a client's files and terminals: agents use the machine that they run on. In tests that
would be the developer's machine, so an agent in the same process gets the files and commands of the
`ScriptedClient`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from accord.agent.local_machine import Machine
from accord.agent.session import Session
from accord.agent.workspace import DisplayTerminal, Output, Terminal
from accord.client.workspace import TerminalCommand
from accord.model.tool import ExitStatus

if TYPE_CHECKING:
    from accord.agent.tool import Tool
    from accord.testing.script import ScriptedClient


class ScriptedMachine(Machine):
    """The script's files and commands, for one session of an agent."""

    def __init__(self, session: Session, script: ScriptedClient) -> None:
        self._session = session
        self._script = script
        self._terminals: list[ScriptedTerminal] = []

    async def read(self, path: str, line: int | None, limit: int | None, *, at: str | None = None) -> str:
        return await self._script.read(self._session.id, path, line, limit)

    async def write(self, path: str, text: str, *, at: str | None = None) -> None:
        await self._script.write(self._session.id, path, text)

    async def run(
        self,
        command: str,
        args: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        output_limit: int | None,
        *,
        at: str | None = None,
    ) -> ScriptedTerminal:
        request = TerminalCommand(command=command, args=list(args), env=dict(env), cwd=cwd, output_limit=output_limit)
        inner = await self._script.create_terminal(self._session.id, request)
        shown = self._session.display_terminal(" ".join([command, *args]), cwd=cwd)
        terminal = ScriptedTerminal(self._session, shown, self._script, inner)
        self._terminals.append(terminal)
        await terminal.begin()
        return terminal

    async def close(self) -> None:
        for terminal in self._terminals:
            await terminal.release()


class ScriptedTerminal(Terminal):
    """A scripted command, displayed to the client like a command that the agent runs itself."""

    def __init__(self, session: Session, shown: DisplayTerminal, script: ScriptedClient, inner: str) -> None:
        super().__init__(session, shown.id)
        self._shown = shown
        self._script = script
        self._inner = inner
        self._end_shown = False

    @property
    def shown_in(self) -> Tool | None:
        return self._shown.shown_in

    @shown_in.setter
    def shown_in(self, tool: Tool | None) -> None:
        self._shown.shown_in = tool

    async def begin(self) -> None:
        """Send its output, and its exit status if it has exited."""
        state = await self.output()
        if state.text:
            await self._shown.write(state.text)
        await self._tell_end(state.exit)

    async def output(self) -> Output:
        state = await self._script.terminal_output(self._session.id, self._inner)
        return Output(text=state.output, truncated=state.truncated, exit=state.exit)

    async def wait(self) -> ExitStatus:
        status = await self._script.wait_for_exit(self._session.id, self._inner)
        await self._tell_end(status)
        return status

    async def kill(self) -> None:
        await self._script.kill_terminal(self._session.id, self._inner)
        await self._tell_end((await self.output()).exit)

    async def release(self) -> None:
        if not self._released:
            self._released = True
            await self.kill()  # it has already exited
            await self._script.release_terminal(self._session.id, self._inner)

    async def _leave(self) -> None:
        await self.release()

    async def _tell_end(self, status: ExitStatus | None) -> None:
        if status is not None and not self._end_shown:
            self._end_shown = True
            await self._shown.exit(status.code, status.signal)
