"""Replacing passages of a text: each found exactly once, or else nothing is changed and the model is told why.

A passage that is written with plain line feeds also matches where the file has carriage returns before them, and what
takes its place gets the file's own line ends. A passage that has carriage returns itself is taken to the letter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from accord.coder.tools.base import ToolFault
from accord.coder.tools.text import counted, shortened
from accord.model.noun import Noun

MAX_NAMED = 12
"""How many lines a fault names."""
MAX_COMPARED = 5_000
"""In how many lines a similar passage is looked for."""


class Edit(Noun):
    """One replacement."""

    old: Annotated[
        str,
        Meta(
            description="The text to replace, copied exactly from the file, indentation included. It must occur "
            "exactly once, so add neighbouring lines until it does."
        ),
    ]
    new: Annotated[str, Meta(description="What to put in its place; an empty text removes it.")]
    all: Annotated[bool, Meta(description="Replace every occurrence instead of exactly one.")] = False


class Replaced(NamedTuple):
    """A text with its replacements."""

    text: str
    lines: list[int]
    """Where they begin, in the new text as it was after each."""


def replaced(text: str, edits: Sequence[Edit], path: str) -> Replaced:
    """Makes all replacements, one after the other. Raises `ToolFault` when one cannot be made."""
    if not edits:
        raise ToolFault("there are no edits; give at least one")
    lines: list[int] = []
    changed = text
    for number, edit in enumerate(edits, 1):
        which = f"edit {number} of {len(edits)}: " if len(edits) > 1 else ""
        try:
            changed, places = _one(changed, edit, path)
        except ToolFault as fault:
            raise ToolFault(f"{which}{fault}\n{path} was not changed") from None
        lines += places
    if changed == text:
        raise ToolFault(f"the edits would leave {path} as it is; nothing was changed")
    return Replaced(changed, lines)


def _one(text: str, edit: Edit, path: str) -> tuple[str, list[int]]:
    if not edit.old:
        raise ToolFault("old is empty; name a passage, or use write_file to write the whole file")
    if edit.old == edit.new:
        raise ToolFault("old and new are the same")
    pattern = _pattern(edit.old)
    starts = [match.start() for match in re.finditer(f"(?={pattern})", text)]
    if not starts:
        raise ToolFault(f"the text {_quoted(edit.old)} was not found in {path}. {_hint(text, edit.old)}")
    if len(starts) > 1 and not edit.all:
        places = _named([_line(text, start) for start in starts])
        raise ToolFault(
            f"the text {_quoted(edit.old)} occurs {len(starts):,} times in {path}, at {places}; "
            "add neighbouring lines until it occurs once, or say all=true"
        )
    pieces: list[str] = []
    lines: list[int] = []
    done = 0
    line = 1
    for match in re.finditer(pattern, text):
        before = text[done : match.start()]
        new = _with_ends(edit, match.group(), text)
        pieces += [before, new]
        line += before.count("\n")
        lines.append(line)
        line += new.count("\n")
        done = match.end()
    return "".join(pieces) + text[done:], lines


def _pattern(old: str) -> str:
    if "\r" in old:
        return re.escape(old)
    return r"\r?\n".join(map(re.escape, old.split("\n")))


def _with_ends(edit: Edit, found: str, text: str) -> str:
    """The new passage with the line ends of the one it replaces, or of the file where that has none."""
    if "\r" in edit.old or "\r" in edit.new:
        return edit.new
    return with_ends_of(edit.new, found if "\n" in found else text)


def with_ends_of(new: str, old: str) -> str:
    """A text written with plain line feeds, with the line ends that another one mostly has."""
    ends = old.count("\r\n")
    if "\r" in new or not ends or ends * 2 <= old.count("\n"):
        return new
    return new.replace("\n", "\r\n")


# -- saying what is wrong


def _hint(text: str, old: str) -> str:
    """What comes nearest, so that the next attempt can be right."""
    theirs = text.split("\n")[:MAX_COMPARED]
    wanted = [line.strip() for line in old.strip("\n").split("\n")]
    for start in _by_whitespace(theirs, wanted):
        found = "\n".join(theirs[start : start + len(wanted)])
        return f"Lines {start + 1} to {start + len(wanted)} differ from it only in white space:\n{shortened(found)}"
    longest = max(wanted, key=len)
    stripped = [line.strip() for line in theirs]
    close = difflib.get_close_matches(longest[:300], {line[:300] for line in stripped if line}, n=1, cutoff=0.7)
    if not close:
        return "Read the file again: it may have changed"
    number = next(index for index, line in enumerate(stripped, 1) if line[:300] == close[0])
    if close[0] == longest[:300]:
        return f"Line {number} is in it, but the lines around it differ: read the file there again"
    return f"The nearest is line {number}: {_quoted(close[0])}"


def _by_whitespace(theirs: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    stripped = [line.strip() for line in theirs]
    for start in range(len(stripped) - len(wanted) + 1):
        if stripped[start] == wanted[0] and stripped[start : start + len(wanted)] == list(wanted):
            yield start


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _named(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:MAX_NAMED]))
    more = f" and {counted(len(lines) - MAX_NAMED, 'more place')}" if len(lines) > MAX_NAMED else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def _quoted(text: str) -> str:
    first, *rest = text.strip("\n").split("\n")
    return repr(first[:80] + ("…" if rest or len(first) > 80 else ""))
