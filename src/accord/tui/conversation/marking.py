"""Text that is marked with the mouse: from where to where, what it says, and which cells are painted.

A place is an item, one of its lines, and a character of what that line says; bars at the left and pictures say nothing.
Places are kept by what is written there: when an item is drawn anew its lines may move, and the mark goes with them, or
goes away with what it marked. Nothing here knows of widgets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.tui.conversation.block import GUTTER, edge_of
from accord.tui.conversation.picture_kitty import is_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from accord.tui.conversation.layout import Layout

_WORD = re.compile(r"[\w/~.@#$%&?=+\-]*[\w/]")
_PICTURE = re.compile("[▀ ]*▀[▀ ]*$")
_MARKUP = re.compile(r"[*_`~\\]+")
_KNOWN_BY = 12
_NEAR = 16
LEFT, RIGHT = 0, 1


class Place(NamedTuple):
    """A character in the conversation."""

    item: int
    row: int
    at: int


class Mark(NamedTuple):
    """An end of what is marked, and how to find it again."""

    place: Place
    known_by: str
    """What its line says up to it."""
    around: tuple[str, str, str]
    """What the line above it, the line itself and the line below it say."""
    size: int
    """How many lines the item had."""


class Marked(NamedTuple):
    """What is marked: both ends belong to it."""

    first: Mark
    last: Mark
    side: int
    """In which column, where there are two."""


# -- lines


def parts_of(line: Strip, side: int) -> Iterator[tuple[Segment, bool]]:
    """The parts of a line, and whether each says something; of two columns only one does, the left or the right."""
    has_columns = any(edge_of(segment) == "middle" for segment in line)
    column = 0
    for segment in line:
        edge = edge_of(segment)
        column += edge == "middle"
        yield segment, not edge and (not has_columns or column == side)


def side_at(line: Strip, cell: int) -> int:
    """In which column of a line a cell is."""
    start = 0
    for segment in line:
        start += segment.cell_length
        if edge_of(segment) == "middle":
            return int(cell >= start)
    return RIGHT


def saying(line: Strip, side: int) -> str:
    """What a line says."""
    text = "".join(segment.text for segment, says in parts_of(line, side) if says)
    return "" if _is_picture(text) else text.rstrip()


def is_picture(line: Strip) -> bool:
    """Whether a line is one of a picture."""
    return _is_picture("".join(segment.text for segment in line if not edge_of(segment)))


def _is_picture(text: str) -> bool:
    return _PICTURE.match(text) is not None or is_place(text[:1])


def character_at(line: Strip, cell: int, side: int) -> int:
    """Which character of what a line says is in a cell: the first left of it all, one past the last right of it."""
    start = count = 0
    length = len(saying(line, side))
    for segment, says in parts_of(line, side):
        if not says:
            start += segment.cell_length
            continue
        for character in segment.text:
            start += cell_len(character)
            if cell < start:
                return min(count, length)
            count += 1
    return length


def cells_of(line: Strip, start: int, end: int, side: int) -> tuple[int, int]:
    """The cells of some characters of what a line says."""
    cell = count = 0
    begin = finish = -1
    for segment, says in parts_of(line, side):
        if not says:
            cell += segment.cell_length
            continue
        for character in segment.text:
            if count == start:
                begin = cell
            cell += cell_len(character)
            count += 1
            if count == end:
                finish = cell
    begin = cell if begin < 0 else begin
    return begin, max(finish, begin)


def painted(line: Strip, start: int, end: int, style: Style) -> Strip:
    """The line with some of its cells in another style."""
    width = line.cell_length
    middle = Segment.apply_style(line.crop(start, end), None, style)
    return Strip([*line.crop(0, start), *middle, *line.crop(end, width)], width)


# -- marking


def mark_of(layout: Layout, place: Place, side: int) -> Mark:
    """Remembers a place by what is written there."""
    lines = layout.lines(place.item)
    place = place._replace(row=max(0, min(place.row, len(lines) - 1)))
    around = _around(lines, place.row, side)
    return Mark(place, around[1][: max(place.at + 1, _KNOWN_BY)], around, len(lines))


def _around(lines: Sequence[Strip], row: int, side: int) -> tuple[str, str, str]:
    above, at, below = (saying(lines[each], side) if 0 <= each < len(lines) else "" for each in range(row - 1, row + 2))
    return above, at, below


def between(layout: Layout, one: Place, other: Place, side: int = RIGHT) -> Marked:
    """What is marked from one place to another, whichever comes first."""
    first, last = sorted([one, other])
    return Marked(mark_of(layout, first, side), mark_of(layout, last, side), side)


def word_at(layout: Layout, place: Place, side: int = RIGHT) -> Marked:
    """The word at a place, a path or an address included; else the character."""
    lines = layout.lines(place.item)
    text = saying(lines[place.row], side) if place.row < len(lines) else ""
    for found in _WORD.finditer(text):
        if found.start() <= place.at < found.end():
            return between(layout, place._replace(at=found.start()), place._replace(at=found.end() - 1), side)
    return between(layout, place, place, side)


def paragraph_at(layout: Layout, place: Place, side: int = RIGHT) -> Marked:
    """The line at a place, with those that it goes on in."""
    lines = layout.lines(place.item)
    source = _Source(layout, place.item, side)
    top = bottom = min(place.row, len(lines) - 1)
    while top > 0 and source.glue(lines[top - 1], lines[top]) is not None:
        top -= 1
    while bottom + 1 < len(lines) and source.glue(lines[bottom], lines[bottom + 1]) is not None:
        bottom += 1
    end = max(len(saying(lines[bottom], side)) - 1, 0)
    return between(layout, Place(place.item, top, 0), Place(place.item, bottom, end), side)


def anchored(layout: Layout, marked: Marked) -> Marked | None:
    """What is marked, where it is now; None when it is gone."""
    first, last = (_found(layout, each, marked.side) for each in (marked.first, marked.last))
    gone = first is None or last is None or first.place > last.place
    return None if gone or first is None or last is None else marked._replace(first=first, last=last)


def _found(layout: Layout, mark: Mark, side: int) -> Mark | None:
    item, row, _ = mark.place
    if item >= len(layout.timeline):
        return None
    lines = layout.drawn(item)
    if lines is None:
        return mark  # what is not drawn has not moved, as far as anyone can see
    grown = len(lines) - mark.size

    def likeness(at: int) -> tuple[int, int]:
        alike = sum(one == other for one, other in zip(_around(lines, at, side), mark.around, strict=True))
        return alike, -min(abs(at - row), abs(at - row - grown))

    if row < len(lines) and saying(lines[row], side).startswith(mark.known_by):
        if not grown:
            return mark
        if likeness(row)[0] == len(mark.around):
            return mark._replace(size=len(lines))
    said = enumerate(saying(line, side) for line in lines)
    rows = [at for at, text in said if text.startswith(mark.known_by) and bool(text) == bool(mark.known_by)]
    if not rows:
        return None
    return mark_of(layout, mark.place._replace(row=max(rows, key=likeness)), side)


# -- what is marked


def spans(layout: Layout, rows: Sequence[tuple[int, int]], marked: Marked) -> dict[int, tuple[int, int]]:
    """Which cells of the lines in the window are marked; `rows` says which line of which item each is."""
    found = {}
    first, last = marked.first.place, marked.last.place
    for y, (index, row) in enumerate(rows):
        if first[:2] <= (index, row) <= last[:2]:
            line = layout.picture[y][0]
            text = saying(line, marked.side)
            start = first.at if (index, row) == first[:2] else 0
            end = min(last.at + 1, len(text)) if (index, row) == last[:2] else len(text)
            begin, finish = cells_of(line, start, end, marked.side)
            if finish == begin and not text and (index, row) < last[:2] and not is_picture(line):
                begin, finish = GUTTER, GUTTER + 1  # an empty line is seen to be marked too
            if finish > begin:
                found[y] = (begin, finish)
    return found


def said(layout: Layout, marked: Marked) -> str:
    """What is marked, as text: lines that were broken to fit are whole again."""
    first, last = marked.first.place, marked.last.place
    parts = []
    for index in range(first.item, last.item + 1):
        lines = layout.lines(index) if index in (first.item, last.item) else layout.drawn(index)
        if lines is None:
            parts.append(layout.block(index).text())
            continue
        begin = first.row if index == first.item else 0
        end = last.row if index == last.item else len(lines) - 1
        parts.append(_joined(layout, index, begin, end, marked))
    return "\n".join(parts).strip("\n")


def _joined(layout: Layout, index: int, begin: int, end: int, marked: Marked) -> str:
    first, last = marked.first.place, marked.last.place
    lines, source = layout.lines(index), _Source(layout, index, marked.side)
    text = ""
    before: Strip | None = None
    for row in range(begin, min(end + 1, len(lines))):
        words = saying(lines[row], marked.side)
        if not words and is_picture(lines[row]):
            continue
        if (index, row) == last[:2]:
            words = words[: last.at + 1]
        if (index, row) == first[:2]:
            words = words[first.at :]
        glue = source.glue(before, lines[row]) if before is not None else ""
        text += words if before is None else f"{glue}{words.lstrip()}" if glue is not None else f"\n{words}"
        before = lines[row]
    return text


class _Source:
    """What an item says in its own words, to tell lines that were broken to fit from lines that were meant."""

    def __init__(self, layout: Layout, index: int, side: int) -> None:
        self._side = side
        self._block = layout.block(index)
        self._text: str | None = None

    def glue(self, above: Strip, below: Strip) -> str | None:
        """What stood between two lines before one was broken; None if two were meant."""
        left, right = saying(above, self._side), saying(below, self._side).lstrip()
        if not left or not right:
            return None
        edges = sum(segment.cell_length for segment, says in parts_of(above, self._side) if not says)
        room = self._block.setting.width + GUTTER - edges
        if cell_len(left) + cell_len(right.split(" ", 1)[0]) < room - 1:
            return None  # the next word would have fitted
        if self._text is None:
            self._text = _MARKUP.sub("", self._block.text())
        left, right = _MARKUP.sub("", left)[-_NEAR:].lstrip(), _MARKUP.sub("", right)[:_NEAR].rstrip()
        return next((glue for glue in (" ", "") if f"{left}{glue}{right}" in self._text), None)
