"""Positions in long messages, and places to split them: between paragraphs, lines or words."""

from __future__ import annotations

import re
from typing import NamedTuple

from accord.model.content import TextContent
from accord.transcript.message import Piece

MAX_DRAWN = 1_000_000
"""Characters of one message to render at all. The editor shows the rest."""
Position = tuple[int, int]
"""A position in a message: a number of whole pieces, and of characters of the next."""
_MAX_SPLIT_DISTANCE = 2000
_MARK = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_RULE = re.compile(r" {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


class SkippedPart(NamedTuple):
    """A skipped part of a message, rendered when the user scrolls there."""

    row: int
    """The line that shows the gap."""
    start: Position
    end: Position
    start_fence: str = ""
    end_fence: str = ""
    """The opening lines of the code block or table in which the gap starts, and of the one in which it ends."""


def text_of_piece(piece: Piece) -> str | None:
    """Return the text of a piece; None for other content."""
    return piece if isinstance(piece, str) else piece.text if isinstance(piece, TextContent) else None


def between(pieces: list[Piece], start: Position, end: Position) -> str:
    """Return the text from one position to another; requires that all pieces are text."""
    if start[0] == end[0]:
        return (text_of_piece(pieces[start[0]]) or "")[start[1] : end[1]] if start[0] < len(pieces) else ""
    parts = [text_of_piece(piece) or "" for piece in pieces[start[0] : end[0]]]
    parts[0] = parts[0][start[1] :]
    if end[1]:
        parts.append((text_of_piece(pieces[end[0]]) or "")[: end[1]])
    return "".join(parts)


def onwards(pieces: list[Piece], place: Position, most: int) -> tuple[str, Position]:
    """Return up to `most` characters after a position, ending before other content, and the end position."""
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


def back(pieces: list[Piece], place: Position, count: int) -> Position:
    """Return the position `count` characters before another."""
    index, inside = place
    while count > inside:
        count -= inside
        index -= 1
        inside = len(text_of_piece(pieces[index]) or "")
    return index, inside - count


def cut_near(text: str, at: int, fence: str = "") -> tuple[int, str]:
    """Find a place to split at or soon after `at`, preferably between paragraphs, lines or words. Also return the
    opening of the code block or table that is open there. `fence` is what is open at the start of the text."""
    cut = _cut(text, at)
    fence = fence_in(text[:cut], fence)
    if fence and "\n" not in fence and text.startswith("\n\n", cut - 2):
        cut -= 1  # in code, blank lines count
    return cut, fence


def _cut(text: str, at: int) -> int:
    if at <= 0:
        return 0
    for end in ("\n\n", "\n", " "):
        found = text.find(end, at, at + _MAX_SPLIT_DISTANCE)
        if 0 <= found < len(text) - len(end):
            return found + len(end)
    return min(at, len(text))


def fence_in(text: str, fence: str = "") -> str:
    """Return the start of what is open at the end of a text: the first line of a code block, or two lines of a table.

    `fence` is what is open at its start."""
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
    """Return the first two lines of the table that a text ends in; empty if its last line isn't a table row."""
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
