"""Changes to files as lines: unified, or old and new beside each other.

Rows come from the texts where they are known and from a patch where not; see rows.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.strip import Strip

from accord.model.tool import Diff, FileChange
from accord.tui.conversation.block import EDGE, MIDDLE
from accord.tui.conversation.rows import CONTEXT, Row, rows_of, rows_of_patch
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.look import Look

MOST_COLOURED = 100_000
SIDE_BY_SIDE = 110
"""Columns from which old and new have room beside each other."""


def draw(
    diff: Diff,
    look: Look,
    width: int,
    *,
    side_by_side: bool,
    cwd: str = "",
    context: int = CONTEXT,
    named: str = "",
) -> list[Strip]:
    """All of a diff as lines. A single file whose name is part of `named`, which stands above, is not named again."""
    lines: list[Strip] = []
    if diff.given_patch is not None and not any(change.new_text or change.old_text for change in diff.changes):
        files = list(rows_of_patch(diff.given_patch))
        if len(files) == len(diff.changes):  # told beside the patch, and better: what happens to each file
            files = [(_title(change, cwd), rows) for change, (_, rows) in zip(diff.changes, files, strict=True)]
    else:
        files = []
        for change in diff.changes:
            rows = rows_of(change, context)
            files.append((_title(change, cwd), [Row("@", None, None, "too long to show")] if rows is None else rows))
    for title, rows in files:
        added, removed = sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows)
        head = [(one_line(title, max(width - 16, 10)), look.strong)]
        if len(files) > 1 or title not in named:
            lines.append(look.line(*head, (f"  +{added}", look.good), (f" -{removed}", look.bad)))
        painted = _Painted(rows, title, look)
        if side_by_side and width >= SIDE_BY_SIDE and _has_two_sides(rows):
            lines += painted.beside(width)
        else:
            lines += painted.unified(width)
    return lines


def _has_two_sides(rows: list[Row]) -> bool:
    """Whether there is something on both sides; a file that is new or goes has but one."""
    return any(row.sign in " -" for row in rows) and any(row.sign in " +" for row in rows)


def _title(change: FileChange, cwd: str) -> str:
    def short(path: str) -> str:
        return path[len(cwd) + 1 :] if cwd and path.startswith(f"{cwd}/") else path

    if change.old_path:
        return f"{short(change.old_path)} → {short(change.path)}"
    word = {"add": " (new)", "delete": " (deleted)", "copy": " (copy)", "move": " (moved)"}.get(change.operation, "")
    return short(change.path) + word


class _Painted:
    """Rows with the colours of their language."""

    def __init__(self, rows: list[Row], title: str, look: Look) -> None:
        self._rows = rows
        self._look = look
        self._digits = len(str(max((row.old or row.new or 0 for row in rows), default=0)))
        self._texts = coloured([row.text for row in rows], title, look)

    def unified(self, width: int) -> list[Strip]:
        lines: list[Strip] = []
        for row, text in zip(self._rows, self._texts, strict=True):
            if row.sign == "@":
                lines.append(self._gap(row, width))
                continue
            number = f"{(row.new if row.sign != '-' else row.old) or '':>{self._digits}} {row.sign} "
            lines += self._cell(row, text, number, width)
        return lines

    def beside(self, width: int) -> list[Strip]:
        half = (width - 1) // 2
        lines: list[Strip] = []
        gone: list[int] = []
        come: list[int] = []

        def flush() -> None:
            for at in range(max(len(gone), len(come))):
                left = self._half(gone[at], "old", half) if at < len(gone) else []
                right = self._half(come[at], "new", half) if at < len(come) else []
                lines.extend(self._joined(left, right, half))
            gone.clear()
            come.clear()

        for at, row in enumerate(self._rows):
            if row.sign == "-":
                gone.append(at)
            elif row.sign == "+":
                come.append(at)
            else:
                flush()
                if row.sign == "@":
                    lines.append(self._gap(row, width))
                else:
                    lines.extend(self._joined(self._half(at, "old", half), self._half(at, "new", half), half))
        flush()
        return lines

    def _half(self, at: int, side: str, width: int) -> list[Strip]:
        row = self._rows[at]
        number = row.old if side == "old" else row.new
        return self._cell(row, self._texts[at], f"{number or '':>{self._digits}} {row.sign} ", width)

    def _joined(self, left: list[Strip], right: list[Strip], half: int) -> list[Strip]:
        empty = self._look.line((" " * half, None))
        count = max(len(left), len(right))
        left, right = left + [empty] * (count - len(left)), right + [empty] * (count - len(right))
        bar = self._look.line(("│", self._look.faint + MIDDLE))
        return [Strip.join([a, bar, b]) for a, b in zip(left, right, strict=True)]

    def _cell(self, row: Row, text: Text, number: str, width: int) -> list[Strip]:
        look = self._look
        ground, word = _GROUNDS[row.sign](look)
        text = text.copy()
        if word is not None:
            for begin, end in row.marks:
                text.stylize(word, begin, end)
        style = look.base if ground is None else look.base + ground
        room = max(width - len(number), 4)
        body = look.draw(text, room, ground) or [look.line(("", ground))]
        lines = []
        for at, line in enumerate(body):
            beside = look.dim if ground is None else ground + look.dim
            edge = look.line((number if at == 0 else " " * len(number), beside + EDGE))
            lines.append(Strip.join([edge, line.extend_cell_length(room, style)]))
        return lines

    def _gap(self, row: Row, width: int) -> Strip:
        words = f"⋯ {row.text}" if row.text else "⋯"
        return self._look.line((one_line(words, max(width - 1, 4)), self._look.dim))


def _ground_none(look: Look) -> tuple[Style | None, Style | None]:
    return None, None


def _ground_gone(look: Look) -> tuple[Style | None, Style | None]:
    return look.removed, look.removed_word


def _ground_come(look: Look) -> tuple[Style | None, Style | None]:
    return look.added, look.added_word


_GROUNDS = {" ": _ground_none, "-": _ground_gone, "+": _ground_come}


def coloured(texts: list[str], name: str, look: Look) -> list[Text]:
    """Each line with the colours of the language that the file's name tells."""
    whole = "\n".join(texts)
    if len(whole) > MOST_COLOURED:
        return [Text(text) for text in texts]
    from rich.syntax import Syntax

    language = Syntax.guess_lexer(name.split(" ")[0])
    if language == "default":
        return [Text(text) for text in texts]
    painted = Syntax("", language, theme=look.code_theme).highlight(whole)  # on the ground of its row
    lines = list(painted.split("\n", allow_blank=True))[: len(texts)]
    lines += [Text(text) for text in texts[len(lines) :]]
    for line in lines:
        line.end = ""
    return lines
