"""Files and terminals that a client offers to its agent (version 1).

Subclass `Workspace` and define what to offer: reading, writing, or terminals (all five methods)."""

from __future__ import annotations

from typing import Any

from accord.errors import MethodNotFound, UsageError
from accord.model.handlers import check_handler, handlers_of
from accord.model.record import Record
from accord.model.tool import ExitStatus


class TerminalCommand(Record):
    """A command that an agent wants to run."""

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    output_limit: int | None = None


class TerminalState(Record):
    """The output of a terminal so far, and the exit status of its command if it has exited."""

    output: str
    truncated: bool = False
    exit: ExitStatus | None = None


class Workspace:
    """Files and terminals for an agent."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        handlers = handlers_of(Workspace)
        for name, value in list(vars(cls).items()):
            if name in handlers:
                check_handler(cls, name, value, handlers[name])
            elif name in _SYNONYMS:
                meant = _SYNONYMS[name]
                raise UsageError(f"{cls.__name__}.{name} is never called; rename it to “{meant}”, or to “_{name}”")

    def on_version(self, version: int) -> None:
        """Called when the protocol version is negotiated. Version 2 doesn't use workspaces; raise here to end the
        connection if yours must be used."""

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """Return the text of a file, from a line on (counted from 1), at most `limit` lines. Raise `NotFound` if it
        doesn't exist."""
        raise MethodNotFound("files are not offered")

    async def write(self, session_id: str, path: str, text: str) -> None:
        """Write a file, creating it if it doesn't exist."""
        raise MethodNotFound("files are not offered")

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        """Start a command and return the id of its terminal at once."""
        raise MethodNotFound("terminals are not offered")

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        """Return the output so far, and the exit status if the command has exited."""
        raise MethodNotFound("terminals are not offered")

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        """Wait until the command exits."""
        raise MethodNotFound("terminals are not offered")

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        """Kill the command. Its output stays available until the terminal is released."""
        raise MethodNotFound("terminals are not offered")

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        """Kill the command if it is still running, and release the terminal."""
        raise MethodNotFound("terminals are not offered")

    def offers(self, *methods: str) -> bool:
        """Return whether the author defined all of these methods."""
        return all(getattr(type(self), method) is not getattr(Workspace, method) for method in methods)


_SYNONYMS = {
    "read_file": "read",
    "read_text": "read",
    "read_text_file": "read",
    "write_file": "write",
    "write_text": "write",
    "write_text_file": "write",
}
"""Names of other SDKs, with the methods that they stand for."""
TERMINAL_METHODS = ("create_terminal", "terminal_output", "wait_for_exit", "kill_terminal", "release_terminal")
