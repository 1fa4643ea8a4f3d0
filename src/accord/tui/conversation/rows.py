"""The rows of a change: what goes, what comes, what stays around it, and which words differ.

Inside a pair of lines the words that differ are found, so that a change of one letter does not look like a change of
the whole line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from accord.model.tool import FileChange
from accord.tui.plain import plain

CONTEXT = 3
MOST_COMPARED = 400_000
"""Characters of a file past which only the patch of the agent, or a count, is shown."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_ALIKE = 0.4


class Row(NamedTuple):
    """One line of a change. `sign` is space, minus, plus, or @ for a gap."""

    sign: str
    old: int | None
    new: int | None
    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the line differs from the one it is paired with."""


def rows_of(change: FileChange, context: int = CONTEXT) -> list[Row] | None:
    """The rows of one file's change; None when its texts are not known or too long to compare."""
    if change.old_text is None and change.new_text is None:
        return None
    if len(change.old_text or "") + len(change.new_text or "") > MOST_COMPARED:
        return None
    old, new = plain(change.old_text or "").splitlines(), plain(change.new_text or "").splitlines()
    rows: list[Row] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        if rows:
            rows.append(Row("@", None, None, ""))
        for tag, i, j, k, m in group:
            if tag == "equal":
                rows += [Row(" ", i + at + 1, k + at + 1, old[i + at]) for at in range(j - i)]
            else:
                rows += _changed(old, new, (i, j), (k, m))
    return rows


def _changed(old: Sequence[str], new: Sequence[str], gone: tuple[int, int], come: tuple[int, int]) -> list[Row]:
    pairs = min(gone[1] - gone[0], come[1] - come[0])
    marks = [_marks(old[gone[0] + at], new[come[0] + at]) for at in range(pairs)]
    removed = [
        Row("-", at + 1, None, old[at], marks[at - gone[0]][0] if at - gone[0] < pairs else ()) for at in range(*gone)
    ]
    added = [
        Row("+", None, at + 1, new[at], marks[at - come[0]][1] if at - come[0] < pairs else ()) for at in range(*come)
    ]
    return [*removed, *added]


def _marks(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Where two lines differ, word by word; nowhere when they have too little in common."""
    if len(old) + len(new) > 2000:
        return (), ()
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return (), ()
    ours: list[tuple[int, int]] = []
    theirs: list[tuple[int, int]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            ours += _place(before, i, j)
            theirs += _place(after, k, m)
    return tuple(ours), tuple(theirs)


def _place(words: Sequence[str], begin: int, end: int) -> list[tuple[int, int]]:
    start = sum(map(len, words[:begin]))
    length = sum(map(len, words[begin:end]))
    return [(start, start + length)] if length else []


def rows_of_patch(patch: str) -> Iterator[tuple[str, list[Row]]]:
    """The files of a Git patch: the name of each and its rows."""
    name, old, new = "", 0, 0
    rows: list[Row] = []
    is_inside = False
    for line in plain(patch).split("\n"):
        hunk = _HUNK.match(line)
        if line.startswith("diff --git "):
            if name or rows:
                yield name, _marked(rows)
            name, rows, is_inside = _named(line[11:]), [], False
        elif hunk:
            if rows:
                rows.append(Row("@", None, None, hunk[3].strip()))
            old, new, is_inside = int(hunk[1]), int(hunk[2]), True
        elif not is_inside:
            if line.startswith("+++ ") and not name:
                name = line[4:].removeprefix("b/")
        elif line.startswith("+"):
            rows.append(Row("+", None, new, line[1:]))
            new += 1
        elif line.startswith("-"):
            rows.append(Row("-", old, None, line[1:]))
            old += 1
        elif line.startswith(" "):
            rows.append(Row(" ", old, new, line[1:]))
            old, new = old + 1, new + 1
    if name or rows:
        yield name, _marked(rows)


def _named(pair: str) -> str:
    """The file that a header names: twice, each time behind a letter, or as it is."""
    _, is_git, name = pair.rpartition(" b/")
    half = len(pair) // 2
    return name if is_git else pair[:half] if pair[:half] == pair[half + 1 :] else pair.rpartition(" ")[2]


def _marked(rows: list[Row]) -> list[Row]:
    """Rows of a patch with the words marked that differ between lines that were exchanged for one another."""
    marked: list[Row] = []
    for _, run in groupby(rows, key=lambda row: row.sign in "-+"):
        some = list(run)
        gone, come = ([row for row in some if row.sign == sign] for sign in "-+")
        marks = {
            id(row): mark
            for old, new in zip(gone, come, strict=False)
            for row, mark in zip((old, new), _marks(old.text, new.text), strict=True)
        }
        marked += [row._replace(marks=marks.get(id(row), ())) for row in some]
    return marked
