"""Read and highlight a file around a line. Reads are bounded; call it in a thread."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accord.terminal_text import format_size, sanitize
from accord.tui.transcript.blocks.diff import highlight

if TYPE_CHECKING:
    from rich.text import Text

    from accord.model.tool import Diff, FileChange
    from accord.tui.theme import TextStyles

MAX_BYTES = 4_000_000
"""Larger files aren't read."""
AROUND = 120
"""Lines before and after the line: enough for a panel of any height, and for correct highlighting."""
_MAX_LINE_LENGTH = 400
_FIRST = 8000
_MAX_PATCH_LENGTH = 400_000


@dataclass
class FilePreview:
    """Some lines of a file, or a message that says why there are none."""

    words: str = ""
    first: int = 1
    """The number of the first of the lines."""
    lines: list[Text] = field(default_factory=list)
    line: int | None = None
    """The line to mark."""
    of: object = None
    """Identifies the file version that was read."""


def preview_file(
    path: str, line: int | None, text_styles: TextStyles, buffer: str | None = None, before: FilePreview | None = None
) -> FilePreview:
    """Return the highlighted lines around a line. `buffer` is unsaved text; `before` is the last preview, which is
    returned again if nothing has changed."""
    of = (path, line, buffer if buffer is not None else _stamp(path))
    if before is not None and before.of == of:
        return before
    text = buffer if buffer is not None else _read(path)
    seen = text if isinstance(text, FilePreview) else _around(text, path, line, text_styles)
    seen.of = of
    return seen


def _stamp(path: str) -> tuple[int, int, int]:
    """Identify the version of a file."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return 0, 0, 0
    return about.st_mtime_ns, about.st_size, about.st_ino


def _around(text: str, path: str, line: int | None, text_styles: TextStyles) -> FilePreview:
    rows = sanitize(text).split("\n")
    if rows and not rows[-1]:
        rows.pop()
    if not rows:
        return FilePreview(words="The file is empty.")
    past = line is not None and line > len(rows)
    at = min(max(line or 1, 1), len(rows))
    begin = max(at - 1 - AROUND, 0)
    chosen = [row[:_MAX_LINE_LENGTH] for row in rows[begin : at + AROUND]]
    lines = highlight(chosen, os.path.basename(path), text_styles)
    words = f"Line {line} is past the end of the file." if past else ""
    return FilePreview(words, begin + 1, lines, None if line is None or past else at)


def _read(path: str) -> str | FilePreview:
    try:
        # Check before opening: reading a pipe or a device might block forever or have side effects.
        about = os.stat(path)
        if stat.S_ISDIR(about.st_mode):
            return FilePreview(words="This is a directory.")
        if not stat.S_ISREG(about.st_mode):
            return FilePreview(words="This isn't a regular file.")
        if about.st_size > MAX_BYTES:
            return FilePreview(words=f"The file is too large to show here: {format_size(about.st_size)}.")
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            data = file.read(MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return FilePreview(words="The file doesn't exist.")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return FilePreview(words=f"Couldn't read it: {reason or error}.")
    if b"\0" in data[:_FIRST]:
        return FilePreview(words=f"This is a binary file ({format_size(len(data))}).")
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def changed_line(path: str, diffs: list[Diff]) -> int | None:
    """Find the first changed line of a file, for agents that report only the path."""
    for diff in diffs:
        change = next((each for each in diff.changes if each.path == path), None)
        if change is not None:
            return first_change(change) if change.new_text is not None else _in_patch(path, diff.given_patch or "")
    return None


def _in_patch(path: str, patch: str) -> int | None:
    from accord.tui.transcript.blocks.diff import rows_of_patch

    for name, rows in rows_of_patch(patch[:_MAX_PATCH_LENGTH]):
        if path == name or path.endswith(f"/{name.lstrip('/')}"):
            changed = (row for row in rows if row.sign in "+-")
            return next((row.new or row.old for row in changed), None)
    return None


def first_change(change: FileChange) -> int | None:
    """Return the first line that differs from the old text."""
    if change.new_text is None:
        return None
    old, new = (change.old_text or "").splitlines(), change.new_text.splitlines()
    pairs = zip(old, new, strict=False)
    return next((at for at, (before, after) in enumerate(pairs, 1) if before != after), min(len(old), len(new)) + 1)
