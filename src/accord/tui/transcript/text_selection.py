"""Text selection in the transcript: its range, its text, and the cells to highlight.

A position is an item, one of its lines, and a character of that line's text; gutters and images have no text.
Each end is anchored to the text around it: when an item is rendered again and its lines move, the selection moves with
them, or is dropped with the text it covered. Independent of widgets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.tui.transcript.blocks.base import GUTTER, edge_of
from accord.tui.transcript.images.kitty import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from accord.tui.transcript.layout import Layout

_WORD = re.compile(r"[\w/~.@#$%&?=+\-]*[\w/]")
_IMAGE = re.compile("[▀ ]*▀[▀ ]*$")
_MARKUP = re.compile(r"[*_`~\\]+")
_PREFIX_LENGTH = 12
_OVERLAP = 16
LEFT, RIGHT = 0, 1


class Position(NamedTuple):
    """A character in the transcript."""

    item: int
    row: int
    at: int


class Anchor(NamedTuple):
    """One end of a selection, with what is needed to find it again after a redraw."""

    place: Position
    prefix: str
    """The text of its line up to the position."""
    around: tuple[str, str, str]
    """The text of the line above, the line itself, and the line below."""
    size: int
    """Lines the item had."""


class TextSelection(NamedTuple):
    """A range of text, both ends included."""

    first: Anchor
    last: Anchor
    side: int
    """The selected column of a side-by-side diff."""


# -- lines


def split_parts(line: Strip, side: int) -> Iterator[tuple[Segment, bool]]:
    """Return the segments of a line, and whether each is selectable. In a side-by-side diff, only one column is."""
    has_columns = any(edge_of(segment) == "middle" for segment in line)
    column = 0
    for segment in line:
        edge = edge_of(segment)
        column += edge == "middle"
        yield segment, not edge and (not has_columns or column == side)


def find_side(line: Strip, cell: int) -> int:
    """Return the column of a side-by-side diff that a cell is in."""
    start = 0
    for segment in line:
        start += segment.cell_length
        if edge_of(segment) == "middle":
            return int(cell >= start)
    return RIGHT


def line_text(line: Strip, side: int) -> str:
    """Return the selectable text of a line."""
    text = "".join(segment.text for segment, is_text in split_parts(line, side) if is_text)
    return "" if _is_image(text) else text.rstrip()


def is_image_line(line: Strip) -> bool:
    """Return whether a line is part of an image."""
    return _is_image("".join(segment.text for segment in line if not edge_of(segment)))


def _is_image(text: str) -> bool:
    return _IMAGE.match(text) is not None or is_placeholder(text[:1])


def find_character(line: Strip, cell: int, side: int) -> int:
    """Return the index of the character at a cell: 0 to the left of the text, one past the last to its right."""
    start = count = 0
    length = len(line_text(line, side))
    for segment, is_text in split_parts(line, side):
        if not is_text:
            start += segment.cell_length
            continue
        for character in segment.text:
            start += cell_len(character)
            if cell < start:
                return min(count, length)
            count += 1
    return length


def find_cells(line: Strip, start: int, end: int, side: int) -> tuple[int, int]:
    """Return the range of cells that some characters of a line occupy."""
    cell = count = 0
    begin = finish = -1
    for segment, is_text in split_parts(line, side):
        if not is_text:
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


def highlight(line: Strip, start: int, end: int, style: Style) -> Strip:
    """Apply a style to some cells of a line."""
    width = line.cell_length
    middle = Segment.apply_style(line.crop(start, end), None, style)
    return Strip([*line.crop(0, start), *middle, *line.crop(end, width)], width)


# -- selecting


def anchor_at(layout: Layout, place: Position, side: int) -> Anchor:
    """Anchor a position to the text around it."""
    lines = layout.blocks.lines(place.item)
    place = place._replace(row=max(0, min(place.row, len(lines) - 1)))
    around = _lines_around(lines, place.row, side)
    return Anchor(place, around[1][: max(place.at + 1, _PREFIX_LENGTH)], around, len(lines))


def _lines_around(lines: Sequence[Strip], row: int, side: int) -> tuple[str, str, str]:
    above, at, below = (
        line_text(lines[each], side) if 0 <= each < len(lines) else "" for each in range(row - 1, row + 2)
    )
    return above, at, below


def select_range(layout: Layout, one: Position, other: Position, side: int = RIGHT) -> TextSelection:
    """Select from one position to another, in either order."""
    first, last = sorted([one, other])
    return TextSelection(anchor_at(layout, first, side), anchor_at(layout, last, side), side)


def select_word(layout: Layout, place: Position, side: int = RIGHT) -> TextSelection:
    """Select the word, path or URL at a position, or a single character."""
    lines = layout.blocks.lines(place.item)
    text = line_text(lines[place.row], side) if place.row < len(lines) else ""
    for found in _WORD.finditer(text):
        if found.start() <= place.at < found.end():
            return select_range(layout, place._replace(at=found.start()), place._replace(at=found.end() - 1), side)
    return select_range(layout, place, place, side)


def select_paragraph(layout: Layout, place: Position, side: int = RIGHT) -> TextSelection:
    """Select the line at a position, with the lines it wraps into."""
    lines = layout.blocks.lines(place.item)
    source = _Source(layout, place.item, side)
    top = bottom = min(place.row, len(lines) - 1)
    while top > 0 and source.glue(lines[top - 1], lines[top]) is not None:
        top -= 1
    while bottom + 1 < len(lines) and source.glue(lines[bottom], lines[bottom + 1]) is not None:
        bottom += 1
    end = max(len(line_text(lines[bottom], side)) - 1, 0)
    return select_range(layout, Position(place.item, top, 0), Position(place.item, bottom, end), side)


def reanchor(layout: Layout, selection: TextSelection) -> TextSelection | None:
    """Find a selection again after lines moved; None when its text is gone."""
    first, last = (_find_anchor(layout, each, selection.side) for each in (selection.first, selection.last))
    gone = first is None or last is None or first.place > last.place
    return None if gone or first is None or last is None else selection._replace(first=first, last=last)


def _find_anchor(layout: Layout, anchor: Anchor, side: int) -> Anchor | None:
    item, row, _ = anchor.place
    if item >= len(layout.timeline):
        return None
    lines = layout.blocks.cached_lines(item)
    if lines is None:
        return anchor  # not rendered, so it can't have moved visibly
    grown = len(lines) - anchor.size

    def similarity(at: int) -> tuple[int, int]:
        alike = sum(one == other for one, other in zip(_lines_around(lines, at, side), anchor.around, strict=True))
        return alike, -min(abs(at - row), abs(at - row - grown))

    if row < len(lines) and line_text(lines[row], side).startswith(anchor.prefix):
        if not grown:
            return anchor
        if similarity(row)[0] == len(anchor.around):
            return anchor._replace(size=len(lines))
    selected_text = enumerate(line_text(line, side) for line in lines)
    rows = [at for at, text in selected_text if text.startswith(anchor.prefix) and bool(text) == bool(anchor.prefix)]
    if not rows:
        return None
    return anchor_at(layout, anchor.place._replace(row=max(rows, key=similarity)), side)


# -- the selected text


def selected_cells(
    layout: Layout, rows: Sequence[tuple[int, int]], selection: TextSelection
) -> dict[int, tuple[int, int]]:
    """Return the selected cells by row of the window. `rows` has the item and line of each row."""
    found = {}
    first, last = selection.first.place, selection.last.place
    for y, (index, row) in enumerate(rows):
        if first[:2] <= (index, row) <= last[:2]:
            line = layout.visible_lines[y][0]
            text = line_text(line, selection.side)
            start = first.at if (index, row) == first[:2] else 0
            end = min(last.at + 1, len(text)) if (index, row) == last[:2] else len(text)
            begin, finish = find_cells(line, start, end, selection.side)
            if finish == begin and not text and (index, row) < last[:2] and not is_image_line(line):
                begin, finish = GUTTER, GUTTER + 1  # make the selection visible on an empty line
            if finish > begin:
                found[y] = (begin, finish)
    return found


def selected_text(layout: Layout, selection: TextSelection) -> str:
    """Return the text of a selection, with wrapped lines joined again."""
    first, last = selection.first.place, selection.last.place
    parts = []
    for index in range(first.item, last.item + 1):
        lines = layout.blocks.lines(index) if index in (first.item, last.item) else layout.blocks.cached_lines(index)
        if lines is None:
            parts.append(layout.blocks.get(index).text())
            continue
        begin = first.row if index == first.item else 0
        end = last.row if index == last.item else len(lines) - 1
        parts.append(_join_lines(layout, index, begin, end, selection))
    return "\n".join(parts).strip("\n")


def _join_lines(layout: Layout, index: int, begin: int, end: int, selection: TextSelection) -> str:
    first, last = selection.first.place, selection.last.place
    lines, source = layout.blocks.lines(index), _Source(layout, index, selection.side)
    text = ""
    before: Strip | None = None
    for row in range(begin, min(end + 1, len(lines))):
        words = line_text(lines[row], selection.side)
        if not words and is_image_line(lines[row]):
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
    """The source text of an item, to tell wrapped lines from line breaks of the author."""

    def __init__(self, layout: Layout, index: int, side: int) -> None:
        self._side = side
        self._block = layout.blocks.get(index)
        self._text: str | None = None

    def glue(self, above: Strip, below: Strip) -> str | None:
        """Return what separated two rendered lines before wrapping (a space or nothing); None for a real line break."""
        left, right = line_text(above, self._side), line_text(below, self._side).lstrip()
        if not left or not right:
            return None
        edges = sum(segment.cell_length for segment, is_text in split_parts(above, self._side) if not is_text)
        room = self._block.context.width + GUTTER - edges
        if cell_len(left) + cell_len(right.split(" ", 1)[0]) < room - 1:
            return None  # the next word would have fit, so the line break is the author's
        if self._text is None:
            self._text = _MARKUP.sub("", self._block.text())
        left, right = _MARKUP.sub("", left)[-_OVERLAP:].lstrip(), _MARKUP.sub("", right)[:_OVERLAP].rstrip()
        return next((glue for glue in (" ", "") if f"{left}{glue}{right}" in self._text), None)
