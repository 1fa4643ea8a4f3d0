"""What a client lets an agent use of its own: files and terminals (version 1).

Subclass it and write what is to be offered: reading, writing, or terminals (all five methods). What is not written is
not offered."""

from __future__ import annotations

from accord.errors import MethodNotFound
from accord.model.noun import Noun
from accord.model.tool import ExitStatus


class TerminalCommand(Noun):
    """A command that an agent wants to run."""

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    output_limit: int | None = None


class TerminalState(Noun):
    """What a terminal printed so far, and how its command ended if it has."""

    output: str
    truncated: bool = False
    exit: ExitStatus | None = None


class Workspace:
    """Files and terminals served to an agent."""

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """The text of a file, from a line on (counted from 1), at most `limit` lines. Raise `NotFound` for no file."""
        raise MethodNotFound("files are not offered")

    async def write(self, session_id: str, path: str, text: str) -> None:
        """Writes a file, creating it when it is not there."""
        raise MethodNotFound("files are not offered")

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        """Starts a command and gives the id of its terminal at once."""
        raise MethodNotFound("terminals are not offered")

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        raise MethodNotFound("terminals are not offered")

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        raise MethodNotFound("terminals are not offered")

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        raise MethodNotFound("terminals are not offered")

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        raise MethodNotFound("terminals are not offered")

    def offers(self, *methods: str) -> bool:
        """Whether the author wrote all of these."""
        return all(getattr(type(self), method) is not getattr(Workspace, method) for method in methods)


TERMINAL_METHODS = ("create_terminal", "terminal_output", "wait_for_exit", "kill_terminal", "release_terminal")
