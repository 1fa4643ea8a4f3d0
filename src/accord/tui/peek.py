"""A look into a file around a line, bounded: for a thread beside the event loop."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accord.tui.conversation.diff import coloured
from accord.tui.plain import plain, size_of

if TYPE_CHECKING:
    from rich.text import Text

    from accord.model.tool import Diff, FileChange
    from accord.tui.look import Look

MOST_BYTES = 4_000_000
"""Files that are larger are not read."""
AROUND = 120
"""Lines before and after the line that are kept: enough for a panel of any height, and for the colours to be right."""
_LONGEST = 400
_FIRST = 8000
_LONGEST_PATCH = 400_000


@dataclass
class Peek:
    """Some lines of a file, or words about why there are none."""

    words: str = ""
    first: int = 1
    """The number of the first of the lines."""
    lines: list[Text] = field(default_factory=list)
    line: int | None = None
    """The line that is meant."""
    of: object = None
    """What this is a look at."""


def peek(path: str, line: int | None, look: Look, buffer: str | None = None, before: Peek | None = None) -> Peek:
    """The lines around a line, coloured. `buffer` is what is on somebody's screen and not saved; `before` is what was
    seen last, which is given again when nothing has changed since."""
    of = (path, line, buffer if buffer is not None else _stamp(path))
    if before is not None and before.of == of:
        return before
    text = buffer if buffer is not None else _read(path)
    seen = text if isinstance(text, Peek) else _around(text, path, line, look)
    seen.of = of
    return seen


def _stamp(path: str) -> tuple[int, int, int]:
    """Changes when the file does."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return 0, 0, 0
    return about.st_mtime_ns, about.st_size, about.st_ino


def _around(text: str, path: str, line: int | None, look: Look) -> Peek:
    rows = plain(text).split("\n")
    if rows and not rows[-1]:
        rows.pop()
    if not rows:
        return Peek(words="The file is empty.")
    past = line is not None and line > len(rows)
    at = min(max(line or 1, 1), len(rows))
    begin = max(at - 1 - AROUND, 0)
    chosen = [row[:_LONGEST] for row in rows[begin : at + AROUND]]
    shown = coloured(chosen, os.path.basename(path), look)
    words = f"Line {line} is past the end of the file." if past else ""
    return Peek(words, begin + 1, shown, None if line is None or past else at)


def _read(path: str) -> str | Peek:
    try:
        # A pipe or a device is looked at before it is opened: reading might wait for ever, or do something.
        about = os.stat(path)
        if stat.S_ISDIR(about.st_mode):
            return Peek(words="This is a directory.")
        if not stat.S_ISREG(about.st_mode):
            return Peek(words="This is no ordinary file.")
        if about.st_size > MOST_BYTES:
            return Peek(words=f"The file is too large to be shown here: {size_of(about.st_size)}.")
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            data = file.read(MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return Peek(words="There is no such file now.")
    except (OSError, ValueError) as error:
        return Peek(words=f"It cannot be read: {getattr(error, 'strerror', None) or error}.")
    if b"\0" in data[:_FIRST]:
        return Peek(words=f"This is not text ({size_of(len(data))}).")
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def changed_line(path: str, diffs: list[Diff]) -> int | None:
    """Where the changes of a file begin, for agents that tell only the file."""
    for diff in diffs:
        change = next((each for each in diff.changes if each.path == path), None)
        if change is not None:
            return first_change(change) if change.new_text is not None else _in_patch(path, diff.given_patch or "")
    return None


def _in_patch(path: str, patch: str) -> int | None:
    from accord.tui.conversation.rows import rows_of_patch

    for name, rows in rows_of_patch(patch[:_LONGEST_PATCH]):
        if path == name or path.endswith(f"/{name.lstrip('/')}"):
            changed = (row for row in rows if row.sign in "+-")
            return next((row.new or row.old for row in changed), None)
    return None


def first_change(change: FileChange) -> int | None:
    """The first line of the new text that differs from the old one, where both are known."""
    if change.new_text is None:
        return None
    old, new = (change.old_text or "").splitlines(), change.new_text.splitlines()
    pairs = zip(old, new, strict=False)
    return next((at for at, (before, after) in enumerate(pairs, 1) if before != after), min(len(old), len(new)) + 1)
