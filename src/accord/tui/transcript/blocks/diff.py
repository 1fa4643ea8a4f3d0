"""Diffs: compute the rows of a change, and render them unified or side by side.

Rows come from the old and new text if known, otherwise from the agent's patch. Within a pair of changed lines, the
differing words are marked, so that a change of one letter doesn't look like a change of the whole line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text
from textual.strip import Strip

from accord.model.tool import Diff, FileChange
from accord.terminal_text import one_line, sanitize
from accord.tui.transcript.blocks.base import EDGE, MIDDLE

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.theme import TextStyles

CONTEXT = 3
MAX_READ = 8_000_000
MAX_COMPARED = 400_000
"""Characters of a file, and of its changed part, up to which texts are compared."""
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
    """The ranges that differ from the paired line."""


def rows_of(change: FileChange, context: int = CONTEXT) -> list[Row] | None:
    """Return the rows of one file's change; None when its texts are unknown or too long to compare."""
    if change.old_text is None and change.new_text is None:
        return None
    if len(change.old_text or "") + len(change.new_text or "") > MAX_READ:
        return None
    old, new = sanitize(change.old_text or "").splitlines(), sanitize(change.new_text or "").splitlines()
    above = _count_equal(old, new, context)
    old, new = old[above:], new[above:]
    below = _count_equal(old[::-1], new[::-1], context)
    old, new = old[: len(old) - below], new[: len(new) - below]
    if sum(map(len, old)) + sum(map(len, new)) > MAX_COMPARED:
        return None
    return [
        row._replace(old=row.old and row.old + above, new=row.new and row.new + above)
        for row in _diff_rows(old, new, context)
    ]


def _count_equal(old: Sequence[str], new: Sequence[str], context: int) -> int:
    """Count leading lines that are equal and too far from a change to be shown."""
    count = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return max(count - context, 0)


def _diff_rows(old: Sequence[str], new: Sequence[str], context: int) -> list[Row]:
    rows: list[Row] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        if rows:
            rows.append(Row("@", None, None, ""))
        for tag, i, j, k, m in group:
            if tag == "equal":
                rows += [Row(" ", i + at + 1, k + at + 1, old[i + at]) for at in range(j - i)]
            else:
                rows += _change_rows(old, new, (i, j), (k, m))
    return rows


def _change_rows(
    old: Sequence[str], new: Sequence[str], old_span: tuple[int, int], new_span: tuple[int, int]
) -> list[Row]:
    """Return the rows of one change. Its first lines are compared in pairs, whose differing words are marked."""
    removed, added = range(*old_span), range(*new_span)
    marks = [_marks(old[before], new[after]) for before, after in zip(removed, added, strict=False)]
    marks += [((), ())] * (max(len(removed), len(added)) - len(marks))
    return [
        *(Row("-", at + 1, None, old[at], mark[0]) for at, mark in zip(removed, marks, strict=False)),
        *(Row("+", None, at + 1, new[at], mark[1]) for at, mark in zip(added, marks, strict=False)),
    ]


def _marks(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the ranges of differing words in two lines; empty when the lines have too little in common."""
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
    """Return the files of a Git patch, each with its name and rows."""
    name, old, new = "", 0, 0
    rows: list[Row] = []
    is_inside = False
    for line in sanitize(patch).split("\n"):
        hunk = _HUNK.match(line)
        if line.startswith("diff --git "):
            if name or rows:
                yield name, _mark_words(rows)
            name, rows, is_inside = _name_in_header(line[11:]), [], False
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
        yield name, _mark_words(rows)


def _name_in_header(pair: str) -> str:
    """Return the file named by a `diff --git` header, which names it twice, usually as `a/…` and `b/…`."""
    _, is_git, name = pair.rpartition(" b/")
    half = len(pair) // 2
    return name if is_git else pair[:half] if pair[:half] == pair[half + 1 :] else pair.rpartition(" ")[2]


def _mark_words(rows: list[Row]) -> list[Row]:
    """Mark the differing words in removed lines that are followed by as many added ones."""
    marked: list[Row] = []
    for _, run in groupby(rows, key=lambda row: row.sign in "-+"):
        some = list(run)
        removed, added = ([row for row in some if row.sign == sign] for sign in "-+")
        marks = {
            id(row): mark
            for old, new in zip(removed, added, strict=False)
            for row, mark in zip((old, new), _marks(old.text, new.text), strict=True)
        }
        marked += [row._replace(marks=marks.get(id(row), ())) for row in some]
    return marked


MAX_COLORED = 100_000
SIDE_BY_SIDE = 110
"""Columns from which on a side-by-side diff fits."""


def draw(
    diff: Diff,
    text_styles: TextStyles,
    width: int,
    *,
    side_by_side: bool,
    cwd: str = "",
    context: int = CONTEXT,
    named: str = "",
) -> list[Strip]:
    """Render a diff. The name of a single file is omitted if it is part of `named`, the title above."""
    lines: list[Strip] = []
    if diff.given_patch is not None and not any(change.new_text or change.old_text for change in diff.changes):
        files = list(rows_of_patch(diff.given_patch))
        if len(files) == len(diff.changes):  # reported beside the patch, with the operation on each file
            files = [(_title(change, cwd), rows) for change, (_, rows) in zip(diff.changes, files, strict=True)]
    else:
        files = []
        for change in diff.changes:
            rows = rows_of(change, context)
            if rows is not None and change.is_fragment:
                rows = [row._replace(old=None, new=None) for row in rows]
            files.append((_title(change, cwd), [Row("@", None, None, "too long to show")] if rows is None else rows))
    for title, rows in files:
        added, removed = sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)
        head = [(one_line(title, max(width - 16, 10)), text_styles.strong)]
        if len(files) > 1 or title not in named:
            counts = [(f"  +{added}", text_styles.good), (f" -{removed}", text_styles.bad)]
            lines.append(text_styles.line(*head, *(counts if added or removed else [])))
        painted = _Painted(rows, title, text_styles)
        if side_by_side and width >= SIDE_BY_SIDE and _has_two_sides(rows):
            lines += painted.render_side_by_side(width)
        else:
            lines += painted.render_unified(width)
    return lines


def _has_two_sides(rows: list[Row]) -> bool:
    """Return whether both sides have lines; a new or deleted file has only one."""
    return any(row.sign in " -" for row in rows) and any(row.sign in " +" for row in rows)


def _title(change: FileChange, cwd: str) -> str:
    def short(path: str) -> str:
        return path[len(cwd) + 1 :] if cwd and path.startswith(f"{cwd}/") else path

    if change.old_path:
        return f"{short(change.old_path)} → {short(change.path)}"
    word = {"add": " (new)", "delete": " (deleted)", "copy": " (copy)", "move": " (moved)"}.get(change.operation, "")
    return short(change.path) + word


class _Painted:
    """Rows with syntax highlighting."""

    def __init__(self, rows: list[Row], title: str, text_styles: TextStyles) -> None:
        self._rows = rows
        self._text_styles = text_styles
        self._digits = len(str(max((row.old or row.new or 0 for row in rows), default=0)))
        self._texts = highlight([row.text for row in rows], title, text_styles)

    def render_unified(self, width: int) -> list[Strip]:
        lines: list[Strip] = []
        for row, text in zip(self._rows, self._texts, strict=True):
            if row.sign == "@":
                lines.append(self._gap(row, width))
                continue
            number = f"{(row.new if row.sign != '-' else row.old) or '':>{self._digits}} {row.sign} "
            lines += self._cell(row, text, number, width)
        return lines

    def render_side_by_side(self, width: int) -> list[Strip]:
        half = (width - 1) // 2
        lines: list[Strip] = []
        removed: list[int] = []
        added: list[int] = []

        def flush() -> None:
            for at in range(max(len(removed), len(added))):
                left = self._half(removed[at], "old", half) if at < len(removed) else []
                right = self._half(added[at], "new", half) if at < len(added) else []
                lines.extend(self._join_halves(left, right, half))
            removed.clear()
            added.clear()

        for at, row in enumerate(self._rows):
            if row.sign == "-":
                removed.append(at)
            elif row.sign == "+":
                added.append(at)
            else:
                flush()
                if row.sign == "@":
                    lines.append(self._gap(row, width))
                else:
                    lines.extend(self._join_halves(self._half(at, "old", half), self._half(at, "new", half), half))
        flush()
        return lines

    def _half(self, at: int, side: str, width: int) -> list[Strip]:
        row = self._rows[at]
        number = row.old if side == "old" else row.new
        return self._cell(row, self._texts[at], f"{number or '':>{self._digits}} {row.sign} ", width)

    def _join_halves(self, left: list[Strip], right: list[Strip], half: int) -> list[Strip]:
        empty = self._text_styles.line((" " * half, None))
        count = max(len(left), len(right))
        left, right = left + [empty] * (count - len(left)), right + [empty] * (count - len(right))
        bar = self._text_styles.line(("│", self._text_styles.faint + MIDDLE))
        return [Strip.join([a, bar, b]) for a, b in zip(left, right, strict=True)]

    def _cell(self, row: Row, text: Text, number: str, width: int) -> list[Strip]:
        text_styles = self._text_styles
        text, background = mark_words(text, row.sign, row.marks, text_styles)
        style = text_styles.base if background is None else text_styles.base + background
        room = max(width - len(number), 4)
        body = text_styles.draw(text, room, background) or [text_styles.line(("", background))]
        lines = []
        for at, line in enumerate(body):
            beside = text_styles.dim if background is None else background + text_styles.dim
            edge = text_styles.line((number if at == 0 else " " * len(number), beside + EDGE))
            lines.append(Strip.join([edge, line.extend_cell_length(room, style)]))
        return lines

    def _gap(self, row: Row, width: int) -> Strip:
        words = f"⋯ {row.text}" if row.text else "⋯"
        return self._text_styles.line((one_line(words, max(width - 1, 4)), self._text_styles.dim))


def _context_background(text_styles: TextStyles) -> tuple[Style | None, Style | None]:
    return None, None


def _removed_background(text_styles: TextStyles) -> tuple[Style | None, Style | None]:
    return text_styles.removed, text_styles.removed_word


def _added_background(text_styles: TextStyles) -> tuple[Style | None, Style | None]:
    return text_styles.added, text_styles.added_word


_BACKGROUNDS = {" ": _context_background, "-": _removed_background, "+": _added_background}


def mark_words(
    text: Text, sign: str, marks: Sequence[tuple[int, int]], text_styles: TextStyles
) -> tuple[Text, Style | None]:
    """Mark the differing words of a highlighted line. Return it with the background of the line."""
    background, word = _BACKGROUNDS[sign](text_styles)
    text = text.copy()
    if word is not None:
        for begin, end in marks:
            text.stylize(word, begin, end)
    return text, background


def highlight(texts: list[str], name: str, text_styles: TextStyles) -> list[Text]:
    """Highlight lines by the language of the file name."""
    whole = "\n".join(texts)
    if len(whole) > MAX_COLORED:
        return [Text(text) for text in texts]
    from rich.syntax import Syntax

    language = Syntax.guess_lexer(name.split(" ")[0])
    if language == "default":
        return [Text(text) for text in texts]
    # `highlight` sets no background: rows have their own.
    painted = Syntax("", language, theme=text_styles.code_theme).highlight(whole)
    lines = list(painted.split("\n", allow_blank=True))[: len(texts)]
    lines += [Text(text) for text in texts[len(lines) :]]
    for line in lines:
        line.end = ""
    return lines
