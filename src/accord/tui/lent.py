"""What we lend an agent: files whose old versions are kept, and commands that we run for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from accord.tui.conversation.block import Printed

if TYPE_CHECKING:
    from accord.client.workspace import Workspace
    from accord.model.tool import Terminal as AgentTerminal
    from accord.workspace.checkpoints import Checkpoints
    from accord.workspace.terminal import Terminal

SHOWN = 200_000
"""Bytes of the end of an output that are looked at to draw it."""


def end_of(terminal: AgentTerminal, *, goes_on: bool) -> Printed:
    """The last of what a terminal of the agent's own printed."""
    data = terminal.output
    skipped = data.count(b"\n", 0, len(data) - SHOWN) if len(data) > SHOWN else 0
    text = data[-SHOWN:].decode("utf-8", "replace")
    return Printed(text, False, terminal.exit, terminal.command, skipped, goes_on and terminal.exit is None)


class Lent:
    """The part of a link that knows the user's files and terminals, where the agent works with them through us."""

    def __init__(self) -> None:
        self.workspace: Workspace | None = None
        self._local: Any = None  # the files and terminals themselves, where the workspace stands for others
        self.watchers: list[Callable[[str, str], None]] = []
        """Hear of every terminal of ours that printed or ended: the session, and the terminal."""
        self.no_rewind = ""
        """Why files cannot be brought back to what they were, if so."""
        self.told_of_no_rewind = False

    @property
    def _terminals(self) -> Any:
        return getattr(self._local, "terminals", None)

    def lend(self, workspace: Workspace | None) -> None:
        """From now on the agent has these files and terminals, and what terminals print is told to the watchers.

        A workspace that is made when it is first used is made here, and with it the policy: a rule that cannot be read
        is told now, and not in the middle of a turn."""
        self.workspace = workspace
        self._local = getattr(workspace, "local", workspace)
        terminals = self._terminals
        if terminals is not None and hasattr(terminals, "on_change"):
            terminals.on_change(self._printed)

    def _printed(self, terminal: Terminal) -> None:
        for watcher in tuple(self.watchers):
            watcher(terminal.session_id, terminal.id)

    # -- files

    def checkpoints(self, session_id: str) -> Checkpoints | None:
        """Keeps what files were before each turn of a session, as far as they are changed through us. None where that
        cannot be done; then `no_rewind` may say why."""
        files = getattr(self._local, "files", None)
        if files is None or not hasattr(files, "before_change"):
            return None
        from accord.errors import AccordError
        from accord.workspace.checkpoints import Checkpoints, default_folder

        try:
            folder = default_folder(files, session_id)
        except ValueError:
            self.no_rewind = "Accord's own data lies inside this folder, where an agent could change it."
            return None
        except AccordError as error:
            self.no_rewind = str(error)
            return None
        try:
            return Checkpoints(files, folder)
        except OSError as error:
            self.no_rewind = f"{error.filename or folder}: {error.strerror or error}."
            return None

    def unsaved(self, path: str) -> str | None:
        """What is to be seen of a file and is not on the disk yet."""
        overlay = getattr(getattr(self._local, "files", None), "overlay", None)
        if not overlay:
            return None
        buffer = overlay.find(os.path.realpath(path))
        return None if buffer is None else str(buffer.text)

    # -- terminals

    def terminal(self, id: str, most: int | None = None) -> Printed | None:
        """What one of the terminals that we run for it has printed; or only the last `most` bytes of it."""
        from accord.errors import NotFound

        terminals = self._terminals
        if terminals is None:
            return None
        try:
            printed = terminals.kept(id, most)
            terminal = terminals.terminal(id)
        except NotFound:
            return None
        skipped = terminal.output.lines - printed.text.count("\n") if printed.truncated else 0
        return Printed(printed.text, printed.truncated, printed.exit, terminal.command, skipped, self.runs(id))

    def command(self, id: str) -> str | None:
        """The command of one of the terminals that we run for it."""
        from accord.errors import NotFound

        with suppress(NotFound):
            return str(self._terminals.terminal(id).command) if self._terminals is not None else None
        return None

    def runs(self, id: str) -> bool:
        """Whether we run this command for the agent, still."""
        terminals = self._terminals
        return terminals is not None and id in terminals.ids() and terminals.terminal(id).exit is None

    async def end_terminal(self, id: str) -> None:
        """Ends a command that we run; the agent hears how it ended."""
        from accord.errors import NotFound

        with suppress(NotFound):  # it has ended, and the agent has let go of it
            await self._terminals.kill(id)
