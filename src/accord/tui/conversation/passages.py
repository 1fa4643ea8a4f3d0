"""Where a long text may be cut so that its parts can be drawn apart, and what of it was not drawn yet."""

from __future__ import annotations

import re
from typing import NamedTuple

from accord.model.content import TextContent
from accord.transcript.message import Piece

Place = tuple[int, int]
"""A place in a message: so many whole pieces, and so many characters of the next."""
_NEAR = 2000
_MARK = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_RULE = re.compile(r" {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


class Gap(NamedTuple):
    """A part of a message that was passed over. Its text is drawn when somebody scrolls there."""

    row: int
    """The line that stands for it."""
    start: Place
    end: Place
    start_fence: str = ""
    end_fence: str = ""
    """What opened the code block or the table which the gap begins in, and the one which it ends in, if it does."""


def text_of_piece(piece: Piece) -> str | None:
    """The text of a piece; None for anything else."""
    return piece if isinstance(piece, str) else piece.text if isinstance(piece, TextContent) else None


def between(pieces: list[Piece], start: Place, end: Place) -> str:
    """The text from one place to another; there must be nothing but text."""
    if start[0] == end[0]:
        return (text_of_piece(pieces[start[0]]) or "")[start[1] : end[1]] if start[0] < len(pieces) else ""
    parts = [text_of_piece(piece) or "" for piece in pieces[start[0] : end[0]]]
    parts[0] = parts[0][start[1] :]
    if end[1]:
        parts.append((text_of_piece(pieces[end[0]]) or "")[: end[1]])
    return "".join(parts)


def onwards(pieces: list[Piece], place: Place, most: int) -> tuple[str, Place]:
    """The text after a place, so many characters at most and up to the next thing that is no text; and its end."""
    index, inside = place
    parts = []
    while index < len(pieces) and most > 0 and (text := text_of_piece(pieces[index])) is not None:
        some = text[inside : inside + most]
        parts.append(some)
        most -= len(some)
        inside += len(some)
        if inside >= len(text):
            index, inside = index + 1, 0
    return "".join(parts), (index, inside)


def back(pieces: list[Piece], place: Place, count: int) -> Place:
    """The place so many characters before another."""
    index, inside = place
    while count > inside:
        count -= inside
        index -= 1
        inside = len(text_of_piece(pieces[index]) or "")
    return index, inside - count


def cut_near(text: str, at: int, fence: str = "") -> tuple[int, str]:
    """Where to cut, at or soon after a place: between paragraphs, else between lines, words, or just there; and what
    opened the code block or the table which is open there. `fence` is what is open at the beginning."""
    cut = _cut(text, at)
    fence = fence_in(text[:cut], fence)
    if fence and "\n" not in fence and text.startswith("\n\n", cut - 2):
        cut -= 1  # blank lines of code are lines
    return cut, fence


def _cut(text: str, at: int) -> int:
    if at <= 0:
        return 0
    for end in ("\n\n", "\n", " "):
        found = text.find(end, at, at + _NEAR)
        if 0 <= found < len(text) - len(end):
            return found + len(end)
    return min(at, len(text))


def fence_in(text: str, fence: str = "") -> str:
    """The line that opened the code block which is still open at the end of a text, the two lines that opened the
    table, or nothing. `fence` is what was open at its beginning."""
    table, code = (fence, "") if "\n" in fence else ("", fence)
    for found in _MARK.finditer(text):
        line = _FENCE.match(text, found.start())
        assert line is not None
        if not code:
            code = line[0].rstrip("\r")
        elif line[1].startswith(code.strip()[0] * _marks(code)) and not line[2].strip():
            code = ""
    return code or _table_in(text, table)


def _table_in(text: str, table: str) -> str:
    """The two lines that opened the table whose row is the last line of a text; nothing when that is no row."""
    begin = len(text)
    if not text.endswith("\n"):
        return table if not text else ""
    while begin > 0:
        before = text.rfind("\n", 0, begin - 1) + 1
        if "|" not in text[before : begin - 1]:
            break
        begin = before
    head, _, rest = text[begin:].partition("\n")
    rule = rest.partition("\n")[0]
    if rule and _RULE.fullmatch(rule):
        return f"{head}\n{rule}"
    return table if begin == 0 else ""


def _marks(fence: str) -> int:
    words = fence.strip()
    return len(words) - len(words.lstrip(words[0]))
