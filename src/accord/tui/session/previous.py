"""The saved state of a session that another one continues: its transcript and the output of its commands.

The agent process and its connection can be released."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accord.model.tool import TerminalRef, ToolCall
from accord.tui.agent.workspace import CommandOutput

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.session.controller import SessionController

MAX_CHARACTERS = 16_000_000
"""How much command output is saved, the newest first."""


class Output(NamedTuple):
    """The output of a command, and the end of it that is drawn."""

    whole: CommandOutput
    end: CommandOutput


class PreviousSession(NamedTuple):
    """A session that is over."""

    id: str | None
    transcript: Transcript | None
    printed: dict[str, Output]

    def terminal(self, id: str) -> CommandOutput | None:
        """Return the output of a command."""
        return self.printed[id].whole if id in self.printed else None

    def terminal_end(self, id: str) -> CommandOutput | None:
        """Return the end of a command's output."""
        return self.printed[id].end if id in self.printed else None


def save_session(controller: SessionController) -> PreviousSession | None:
    """Save the transcript and outputs of a session, including the sessions it continued."""
    if controller.session is None:
        return controller.previous
    printed: dict[str, Output] = {}
    room = MAX_CHARACTERS
    for item in reversed(controller.session.transcript.timeline):
        for id in terminals_of(item) if isinstance(item, ToolCall) else ():
            whole, end = controller.terminal(id), controller.terminal_end(id)
            if whole is not None and end is not None and len(whole.text) <= room:
                room -= len(whole.text)
                printed[id] = Output(whole._replace(is_running=False), end._replace(is_running=False))
    return PreviousSession(controller.session.id, controller.session.transcript, printed)


def terminals_of(call: ToolCall) -> set[str]:
    """Return the terminals that a tool call shows."""
    return {each.terminal_id for each in call.content if isinstance(each, TerminalRef)}
