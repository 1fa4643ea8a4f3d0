"""Checkpoints of the files before each turn, if the agent changes them through the client.

A session works without them: if none can be saved, one notice tells the user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from accord.terminal_text import one_line
from accord.tui.errors import report_bug

if TYPE_CHECKING:
    from accord.tui.session.context import SessionContext
    from accord.workspace.checkpoints import Checkpoints, Restored

NO_REWIND = "Files can't be rewound here"
_MAX_NAMED = 5


class TurnCheckpoints:
    """Saves a checkpoint before each turn of a session."""

    def __init__(self, context: SessionContext) -> None:
        self.saved: Checkpoints | None = None
        """The checkpoints of this session; None if there can't be any."""
        self._context = context

    def open(self, session_id: str) -> None:
        """Start recording file changes for a session."""
        workspace = self._context.process.workspace
        try:
            self.saved = workspace.open_checkpoints(session_id)
        except Exception as error:
            self._report(report_bug(error))
            return
        if workspace.no_rewind and self.saved is None:
            self._report(workspace.no_rewind)

    async def begin_turn(self, label: str) -> None:
        """Save a checkpoint for the turn that is about to begin."""
        if self.saved is None:
            return
        try:
            await self.saved.begin(label)
        except OSError as error:
            self._report(f"{error.filename or 'its directory'}: {error.strerror or error}.")
        except Exception as error:
            self._report(report_bug(error))

    def close(self) -> None:
        if self.saved is not None:
            self.saved.close()

    def _report(self, reason: str) -> None:
        workspace = self._context.process.workspace
        workspace.no_rewind = reason
        if not workspace.has_reported_no_rewind:
            workspace.has_reported_no_rewind = True
            self._context.say("warning", NO_REWIND, reason)


def list_files(paths: list[str], cwd: str, most: int = _MAX_NAMED) -> str:
    """Name the first few files and count the others."""
    names = [one_line(os.path.relpath(path, cwd)) for path in paths[:most]]
    return f"{', '.join(names)} and {len(paths) - most} more" if len(paths) > most else ", ".join(names)


def describe_restore(report: Restored, cwd: str, *, undo: str = "") -> str:
    """Describe what happened to which files. `undo` is the command that reverts it, if there is one."""
    restored = [path for path in report.restored if path not in report.removed]
    lines = []
    if restored:
        lines.append(f"Restored: {list_files(restored, cwd)}")
    if report.removed:
        lines.append(f"Removed (didn't exist then): {list_files(report.removed, cwd)}")
    if report.conflicts:
        lines.append(f"Skipped (changed by something else): {list_files(report.conflicts, cwd)}")
    if report.lost:
        lines.append(f"Skipped (old version not saved): {list_files(report.lost, cwd)}")
    if report.failed:
        lines.append(f"Couldn't be written: {list_files(list(report.failed), cwd)}")
    if not lines:
        lines.append("No file had changed.")
    elif report.restored and undo:
        lines.append(f"“{undo}” in ctrl+p reverts this.")
    return "\n".join(lines)
