"""Shell commands of the user in the project directory, shown in the transcript as they run.

They run among the terminals of the agent's workspace, so that they are supervised and end with the client. The policy
isn't asked: it decides about the agent's actions, and this is the user's own. The agent learns nothing about them."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from accord.errors import AccordError
from accord.model.tool import TerminalRef
from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.model.tool import ExitStatus
    from accord.tui.session.context import SessionContext
    from accord.workspace.terminals import Terminals

MAX_GIVEN_BYTES = 100_000
"""How much of the end of an output is given to the agent."""
SHELL_CALL = "accord/shell/"
"""The beginning of the ids of calls for the user's commands. No agent's id begins like this."""
_numbers = count(1)


class ShellError(AccordError):
    """A command can't be run. The message says why."""


class Finished(NamedTuple):
    """A command that has ended, and its output."""

    line: str
    output: str
    is_truncated: bool
    exit: ExitStatus

    @property
    def status(self) -> str:
        return f"signal {self.exit.signal}" if self.exit.signal else f"exit status {self.exit.code}"

    def describe(self) -> str:
        """Return the command and its output as text for a prompt."""
        output = self.output.strip("\n") or "(no output)"
        fence = "`" * max(3, _longest_run(output) + 1)
        note = "the end of its output" if self.is_truncated else "its output"
        return f"I ran `{self.line}` ({self.status}); {note}:\n{fence}\n{output}\n{fence}"


class ShellCommands:
    """The user's commands of one session."""

    def __init__(self, context: SessionContext) -> None:
        self.running: list[str] = []
        """The terminals of the commands that run now."""
        self.last: Finished | None = None
        """The command that ended last."""
        self._context = context

    async def run(self, line: str) -> Finished:
        """Run a command line and wait until it has ended. Raises `ShellError`."""
        from accord.workspace.command import build_environment, shell_command

        session, terminals = self._context.session, self._terminals
        if session is None or terminals is None:
            raise ShellError("Shell commands need an open session: start the agent first.")
        shell, *words = shell_command(build_environment(None, {}, pty=False))
        cwd = str(self._context.process.host.cwd)
        terminal = await terminals.create(session.id, shell, [*words, line], cwd=cwd)
        self.running.append(terminal)
        id = f"{SHELL_CALL}{next(_numbers)}/{os.urandom(4).hex()}"
        transcript = session.transcript
        title = f"! {one_line(line, 200)}"
        session.push(transcript.patch_tool(id, announced=True, title=title, kind="execute", status="in_progress"))
        session.push(transcript.append_tool_content(id, TerminalRef(terminal_id=terminal)))
        try:
            exit = await terminals.wait_for_exit(terminal)
        finally:
            self.running.remove(terminal)
        status = "completed" if exit.code == 0 else "cancelled" if exit.signal else "failed"
        session.push(transcript.patch_tool(id, status=status))
        printed = terminals.read_output(terminal, MAX_GIVEN_BYTES)
        await terminals.release(terminal)  # its output stays, as long as there is room
        self.last = Finished(line, printed.text, printed.truncated, exit)
        return self.last

    async def stop(self) -> None:
        """End all commands that run."""
        terminals = self._terminals
        for terminal in list(self.running):
            if terminals is not None:
                await terminals.kill(terminal)

    @property
    def _terminals(self) -> Terminals | None:
        local = self._context.process.workspace.local
        return local.terminals if local is not None else None


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = current = 0
    for each in text:
        current = current + 1 if each == "`" else 0
        longest = max(longest, current)
    return longest
