"""Comments on lines of a change or a plan, and the prompt that sends them back to the agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TICKS = re.compile("`+")
_MAX_QUOTED = 12
"""Lines of a comment that are quoted; of longer ones, the first and the last."""


class ReviewLine(NamedTuple):
    """A line that can be commented on. `sign` is space, minus or plus; `@` marks a gap and `#` a heading."""

    sign: str
    text: str
    file: str = ""
    number: int | None = None
    """Its number in the new file, or in the old one for a removed line."""
    marks: tuple[tuple[int, int], ...] = ()
    """The ranges that differ from the line that it replaces, or that replaces it."""

    @property
    def can_have_comment(self) -> bool:
        return self.sign not in "@#"


class Comment(NamedTuple):
    """A comment on consecutive lines of one file."""

    first: int
    """The position of its first line in the review."""
    last: int
    lines: tuple[ReviewLine, ...]
    text: str

    @property
    def place(self) -> str:
        """The file and the lines, as `greet.py, lines 2-3`."""
        file = self.lines[0].file
        # Lines of the old file are named only if there are no others.
        kept = [line.number for line in self.lines if line.sign != "-" and line.number is not None]
        removed = [line.number for line in self.lines if line.number is not None]
        numbers = kept or removed
        if not numbers:
            return file
        words = f"line {numbers[0]}" if min(numbers) == max(numbers) else f"lines {min(numbers)}-{max(numbers)}"
        return f"{file}, {words}" if kept else f"{file}, removed {words}"


def format_comments(comments: Sequence[Comment]) -> str:
    """Return one prompt with all comments: the file, the lines as a diff, and the comment."""
    ordered = sorted(comments, key=lambda each: (each.first, each.last))
    head = "Please address this review comment:" if len(ordered) == 1 else "Please address these review comments:"
    parts = [head]
    for number, each in enumerate(ordered, 1):
        rows = [_quote(line).rstrip() for line in _shorten(each.lines)]
        fence = "`" * max(3, 1 + max((len(run[0]) for row in rows for run in _TICKS.finditer(row)), default=0))
        quoted = "\n".join([f"{fence}diff", *rows, fence])
        title = each.place if len(ordered) == 1 else f"{number}. {each.place}"
        parts.append(f"{title}:\n{quoted}\n\n{each.text.strip()}")
    return "\n\n".join(parts)


def _shorten(lines: Sequence[ReviewLine]) -> list[ReviewLine]:
    if len(lines) <= _MAX_QUOTED:
        return list(lines)
    half = _MAX_QUOTED // 2
    return [*lines[:half], ReviewLine("…", ""), *lines[-half:]]


def _quote(line: ReviewLine) -> str:
    return f"{line.sign}{line.text}" if line.sign in "+- " else line.sign
