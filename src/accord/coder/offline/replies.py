"""Read the results of tools, and format replies: counts and names first, then fenced excerpts of limited length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from accord.coder.history import Result
from accord.coder.offline.help import list_forms
from accord.coder.offline.script import data_of

MAX_LINES = 40
"""Maximum number of lines to repeat in a reply; the tool call shows the rest."""
MAX_LINE_LENGTH = 200
MAX_HIT_LENGTH = 120

CAPABILITIES = list_forms()
"""The reply to `help`."""


class Hit(NamedTuple):
    """A place where a search found something."""

    path: str
    line: int
    text: str


class FileText(NamedTuple):
    """The text of a file, or of a part of it."""

    text: str
    first: int = 1
    """The number of its first line."""
    total: int | None = None
    """The number of lines of the file, if known."""
    is_whole: bool = True

    @property
    def next_line(self) -> int | None:
        """The number of the line to continue with; None at the end of the file."""
        after = self.first + len(self.text.split("\n")) - self.text.endswith("\n")
        return None if self.is_whole or (self.total is not None and after > self.total) else after


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def join_names(names: Sequence[str], limit: int = 5) -> str:
    """Join names for a sentence, with a count of the rest."""
    shown = [f"`{name}`" for name in names[:limit]]
    if len(names) > limit:
        return f"{', '.join(shown)} and {len(names) - limit:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def fence(text: str, language: str = "", *, limit: int = MAX_LINES, tail: bool = False) -> str:
    """Fence the first lines of a text, or its last lines with `tail`."""
    lines = text.rstrip("\n").split("\n")
    left = len(lines) - limit
    if left > 0:
        lines = lines[-limit:] if tail else lines[:limit]
    lines = [line if len(line) <= MAX_LINE_LENGTH else line[:MAX_LINE_LENGTH] + " …" for line in lines]
    if left > 0:
        note = f"… {pluralize(left, 'more line')}"
        lines = [note, *lines] if tail else [*lines, note]
    inner = "\n".join(lines)
    longest = max((len(run) for run in re.findall("`{3,}", inner)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{inner}\n{fence}"


def language_of(path: str) -> str:
    """Return the info string of a fence for a file: its extension."""
    stem, dot, end = path.replace("\\", "/").rpartition("/")[2].rpartition(".")
    return end.lower() if stem and dot and end.isalnum() else ""


def file_in(result: Result) -> FileText:
    """Return the text that `read_file` read."""
    data = data_of(result)
    return FileText(data["text"], data["line"], data["total"], data["complete"])


def hits_in(result: Result) -> list[Hit]:
    """Return the places that `search` or `outline` found."""
    return [Hit(match["name"], match["line"], match["text"]) for match in data_of(result)["matches"]]


def names_in(result: Result) -> list[str]:
    """Return the names that `list_files` found, relative to the directory. Directories end in a
    slash."""
    names: list[str] = data_of(result)["names"]
    return names


def list_hits(found: Sequence[Hit], limit: int = 12) -> str:
    """Format search hits as a list, each with its line of text."""
    lines = [f"- `{hit.path}:{hit.line}` {_line(hit.text)}".rstrip() for hit in found[:limit]]
    if len(found) > limit:
        lines.append(f"- … and {pluralize(len(found) - limit, 'more place')}")
    return "\n".join(lines)


def _line(text: str) -> str:
    text = text.strip()
    text = text if len(text) <= MAX_HIT_LENGTH else text[: MAX_HIT_LENGTH - 1].rstrip() + "…"
    if not text:
        return ""
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


def list_names(names: Sequence[str], limit: int = 30) -> str:
    """Format names as a list."""
    lines = [f"- `{name}`" for name in names[:limit]]
    if len(names) > limit:
        lines.append(f"- … and {len(names) - limit:,} more")
    return "\n".join(lines)
