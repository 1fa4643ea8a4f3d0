"""Terminals that the agent runs and the client only shows."""

from __future__ import annotations

from typing import Annotated

import msgspec

from accord.schema.common.ids import SessionId, TerminalId
from accord.schema.common.numbers import Int64
from accord.schema.shape import UNSET, Message, Opt, Patch
from accord.schema.v2.values import AbsolutePath, Base64

Cells = Annotated[int, msgspec.Meta(ge=1, le=0xFFFF)]


class TerminalCancelCapabilities(Message):
    """Says that the command of this terminal can be stopped."""


class TerminalCapabilities(Message):
    """Lists what a client may do with a terminal."""

    cancel: Opt[TerminalCancelCapabilities] = UNSET


class TerminalSize(Message):
    """How many characters a terminal is wide and high."""

    cols: Cells
    rows: Cells


class TerminalExitStatus(Message):
    """Says that the command has ended, and as far as known how."""

    exit_code: Opt[Int64] = UNSET
    signal: Opt[str] = UNSET


class TerminalOutput(Message):
    """All bytes that a terminal has shown so far."""

    data: Base64


class TerminalUpdate(Message, tag_field="sessionUpdate", tag="terminal_update"):
    """Names a terminal and says what is new about it; a new id begins a new terminal."""

    terminal_id: TerminalId
    command: Patch[str] = UNSET
    cwd: Patch[AbsolutePath] = UNSET
    output: Patch[TerminalOutput] = UNSET
    exit_status: Patch[TerminalExitStatus] = UNSET
    size: Patch[TerminalSize] = UNSET
    capabilities: Patch[TerminalCapabilities] = UNSET


class TerminalOutputChunk(Message, tag_field="sessionUpdate", tag="terminal_output_chunk"):
    """Adds bytes to what a terminal has shown. Each chunk is base64 of its own, and may end inside a character."""

    terminal_id: TerminalId
    data: Base64


class CancelTerminalRequest(Message):
    """Asks the agent to stop the command of a terminal; its next update tells how it ended."""

    session_id: SessionId
    terminal_id: TerminalId


class CancelTerminalResponse(Message):
    """The agent is stopping the command."""
