"""Terminals that the agent runs, and the client only displays."""

from __future__ import annotations

from typing import Annotated

import msgspec

from accord.schema.common.ids import SessionId, TerminalId
from accord.schema.common.numbers import Int64
from accord.schema.common.octets import octets
from accord.schema.shape import UNSET, Message, Opt, Patch
from accord.schema.v2.values import AbsolutePath, Base64

Cells = Annotated[int, msgspec.Meta(ge=1, le=0xFFFF)]


class TerminalCancelCapabilities(Message):
    """Declares that the command of this terminal can be stopped."""


class TerminalCapabilities(Message):
    """Lists the capabilities of a terminal for the client."""

    cancel: Opt[TerminalCancelCapabilities] = UNSET


class TerminalSize(Message):
    """The size of a terminal in characters."""

    cols: Cells
    rows: Cells


class TerminalExitStatus(Message):
    """The command has exited, with its exit status if known."""

    exit_code: Opt[Int64] = UNSET
    signal: Opt[str] = UNSET


class TerminalOutput(Message):
    """All output of a terminal so far."""

    data: Base64


class TerminalUpdate(Message, tag_field="sessionUpdate", tag="terminal_update"):
    """Changes some fields of a terminal; a new id starts a new terminal."""

    terminal_id: TerminalId
    command: Patch[str] = UNSET
    cwd: Patch[AbsolutePath] = UNSET
    output: Patch[TerminalOutput] = UNSET
    exit_status: Patch[TerminalExitStatus] = UNSET
    size: Patch[TerminalSize] = UNSET
    capabilities: Patch[TerminalCapabilities] = UNSET


class TerminalOutputChunk(Message, tag_field="sessionUpdate", tag="terminal_output_chunk"):
    """New output of a terminal. Each chunk is separate base64, and may end inside a character."""

    terminal_id: TerminalId
    data: Base64

    def __post_init__(self) -> None:
        # Output with missing bytes would look complete, so reject (and count) the chunk instead.
        if octets(self.data) is None:
            raise ValueError("data is not base64")


class CancelTerminalRequest(Message):
    """Asks the agent to stop the command of a terminal, whose next update reports the exit."""

    session_id: SessionId
    terminal_id: TerminalId


class CancelTerminalResponse(Message):
    """The agent is stopping the command."""
