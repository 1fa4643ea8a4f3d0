"""The client's terminals, served to the agent."""

from __future__ import annotations

from accord.schema.common.ids import SessionId, TerminalId
from accord.schema.common.mcp import EnvVariable
from accord.schema.common.numbers import Uint32, Uint64
from accord.schema.shape import UNSET, Message, NullIsEmpty, Opt, Strict


class CreateTerminalRequest(Message):
    """Starts a command in a new terminal."""

    session_id: SessionId
    command: str
    args: NullIsEmpty[list[str]] = []
    env: NullIsEmpty[list[EnvVariable]] = []
    cwd: Strict[Opt[str]] = UNSET
    output_byte_limit: Strict[Opt[Uint64]] = UNSET


class CreateTerminalResponse(Message):
    """Responds with the id of the terminal, whose command is running."""

    terminal_id: TerminalId


class TerminalOutputRequest(Message):
    """Requests the output of a terminal so far."""

    session_id: SessionId
    terminal_id: TerminalId


class TerminalExitStatus(Message):
    """The exit status of a command: a code or a signal."""

    exit_code: Opt[Uint32] = UNSET
    signal: Opt[str] = UNSET


class TerminalOutputResponse(Message):
    """The output of a terminal, and the exit status once its command has exited."""

    output: str
    truncated: bool
    exit_status: Opt[TerminalExitStatus] = UNSET


class WaitForTerminalExitRequest(Message):
    """Waits until the command exits."""

    session_id: SessionId
    terminal_id: TerminalId


class WaitForTerminalExitResponse(Message):
    """The exit status of the command."""

    exit_code: Opt[Uint32] = UNSET
    signal: Opt[str] = UNSET


class KillTerminalRequest(Message):
    """Kills the command; the terminal and its output remain."""

    session_id: SessionId
    terminal_id: TerminalId


class KillTerminalResponse(Message):
    """The command has been killed."""


class ReleaseTerminalRequest(Message):
    """Releases a terminal, and kills its command if it is still running."""

    session_id: SessionId
    terminal_id: TerminalId


class ReleaseTerminalResponse(Message):
    """The terminal has been released."""
