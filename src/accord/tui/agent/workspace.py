"""The user's files and terminals, as far as the agent uses them through the client."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from accord.client.local_workspace import LocalWorkspace
    from accord.model.tool import ExitStatus
    from accord.model.tool import Terminal as AgentTerminal
    from accord.workspace.checkpoints import Checkpoints
    from accord.workspace.terminal import Terminal

MAX_DRAWN_BYTES = 200_000
"""How much of the end of an output is read to draw it."""


class CommandOutput(NamedTuple):
    """The output of a terminal, and the exit status of its command once it has exited."""

    text: str
    is_truncated: bool
    exit: ExitStatus | None
    command: str | None = None
    skipped: int = 0
    """Lines before the text that are left out."""
    is_running: bool = False
    """Whether the command is known to be running, even if the tool call that started it has ended."""


@lru_cache(maxsize=64)
def unwrap_shell(command: str) -> str:
    """Return the line that a shell runs, as the user knows it from the tool call's title; else the command itself."""
    if " -c " not in command[:40]:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[0].endswith("sh") and words[1] == "-c" else command


def last_output(terminal: AgentTerminal, *, is_running: bool) -> CommandOutput:
    """Return the end of the output of a terminal that the agent runs itself."""
    data = terminal.output
    skipped = data.count(b"\n", 0, len(data) - MAX_DRAWN_BYTES) if len(data) > MAX_DRAWN_BYTES else 0
    text = data[-MAX_DRAWN_BYTES:].decode("utf-8", "replace")
    return CommandOutput(text, False, terminal.exit, terminal.command, skipped, is_running and terminal.exit is None)


class AgentWorkspace:
    """Checkpoints, unsaved buffers and terminals of the workspace that one agent uses; empty until it has one."""

    def __init__(self) -> None:
        self.watchers: list[Callable[[str, str], None]] = []
        """Called with the session and the terminal when a terminal that we run printed something or exited."""
        self.no_rewind: str = ""
        """Why files can't be rewound, if so."""
        self.has_reported_no_rewind = False
        self.local: LocalWorkspace | None = None
        """The files and terminals themselves."""

    def attach(self, local: LocalWorkspace) -> None:
        """Use these files and terminals from now on."""
        self.local = local
        local.terminals.on_change(self._on_change)

    def kill(self) -> None:
        """Kill all terminals at once."""
        if self.local is not None:
            self.local.kill()

    async def close(self) -> None:
        if self.local is not None:
            await self.local.close()

    def _on_change(self, terminal: Terminal) -> None:
        for watcher in tuple(self.watchers):
            watcher(terminal.session_id, terminal.id)

    # -- files

    def open_checkpoints(self, session_id: str) -> Checkpoints | None:
        """Save the files before each turn of a session, as far as they are changed through us. Return None if that
        isn't possible; `no_rewind` may say why."""
        if self.local is None:
            return None
        from accord.errors import AccordError
        from accord.workspace.checkpoints import Checkpoints, default_directory

        files = self.local.files
        try:
            directory = default_directory(files, session_id)
        except ValueError:
            self.no_rewind = "Accord's own data is inside this directory, where an agent could change it."
            return None
        except AccordError as error:
            self.no_rewind = str(error)
            return None
        try:
            return Checkpoints(files, directory)
        except OSError as error:
            self.no_rewind = f"{error.filename or directory}: {error.strerror or error}."
            return None

    def unsaved_text(self, path: str) -> str | None:
        """Return the text of a buffer that isn't saved to disk yet."""
        if self.local is None or not self.local.files.overlay:
            return None
        buffer = self.local.files.overlay.find(os.path.realpath(path))
        return None if buffer is None else str(buffer.text)

    # -- terminals

    def has_terminal(self, id: str) -> bool:
        """Return whether we run, or ran, this terminal for the agent."""
        return self._find(id) is not None

    def terminal(self, id: str, most: int | None = None) -> CommandOutput | None:
        """Return the output of a terminal that we run, or only the last `most` bytes of it."""
        terminal = self._find(id)
        if self.local is None or terminal is None:
            return None
        printed = self.local.terminals.read_output(id, most)
        skipped = terminal.output.lines - printed.text.count("\n") if printed.truncated else 0
        return CommandOutput(
            printed.text, printed.truncated, printed.exit, unwrap_shell(terminal.command), skipped, self.is_running(id)
        )

    def command(self, id: str) -> str | None:
        """Return the command of a terminal that we run."""
        terminal = self._find(id)
        return unwrap_shell(terminal.command) if terminal is not None else None

    def is_running(self, id: str) -> bool:
        """Return whether a command that we run for the agent is still running."""
        terminals = self.local.terminals if self.local is not None else None
        return terminals is not None and id in terminals.ids() and terminals.terminal(id).exit is None

    async def end_terminal(self, id: str) -> None:
        """End a command that we run; the agent gets its exit status."""
        from accord.errors import NotFound

        if self.local is not None:
            with suppress(NotFound):  # it has ended, and the agent has released it
                await self.local.terminals.kill(id)

    def _find(self, id: str) -> Terminal | None:
        from accord.errors import NotFound

        with suppress(NotFound):
            return self.local.terminals.terminal(id) if self.local is not None else None
        return None
