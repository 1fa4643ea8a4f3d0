"""What was done when files were brought back, in words: which of them, and how to take it back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from accord.tui.keys import DEEDS
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.workspace.checkpoints import Restored

_MOST_NAMED = 5


def named(paths: list[str], cwd: str, most: int = _MOST_NAMED) -> str:
    """The first of some files by their names, and how many more there are."""
    names = [one_line(os.path.relpath(path, cwd)) for path in paths[:most]]
    return f"{', '.join(names)} and {len(paths) - most} more" if len(paths) > most else ", ".join(names)


def what_was_restored(report: Restored, cwd: str, *, can_undo: bool) -> str:
    """What became of which files."""
    back = [path for path in report.restored if path not in report.removed]
    parts = []
    if back:
        parts.append(f"{named(back, cwd)}: {'as it was' if len(back) == 1 else 'as they were'}")
    if report.removed:
        then = "it was not there then" if len(report.removed) == 1 else "they were not there then"
        parts.append(f"{named(report.removed, cwd)}: removed, since {then}")
    if report.conflicts:
        parts.append(f"{named(report.conflicts, cwd)}: left alone, since somebody else changed it")
    if report.lost:
        parts.append(f"{named(report.lost, cwd)}: left alone, since what it was is not kept")
    if not parts:
        parts.append("Every file was like that already.")
    elif report.restored and can_undo:
        undo = next(deed for deed in DEEDS if deed.action == "undo_rewind")
        parts.append(f"“{undo.title}” in ctrl+p takes this back.")
    return "\n".join(parts)
