"""Describe the lines of a text that are most like a passage that wasn't found."""

from __future__ import annotations

from collections.abc import Sequence

from accord.coder.tools.edits.lines import find_lines, simplify
from accord.coder.tools.text import cut

MAX_COMPARED_LINES = 20_000
"""The number of lines among which a similar one is looked for."""
MAX_COMPARED_CHARACTERS = 300
MAX_SHOWN_LINES = 12
MAX_NAMED = 8
"""The most special characters that are named."""
LEAST_SIMILARITY = 0.5
PART_WEIGHT = 0.7
MIN_PART = 6
MIN_NEW = 3
"""Shorter new text may be in the file by accident."""


def describe_nearest(text: str, old: str, new: str) -> str:
    """Name the most similar lines, so that the next attempt succeeds."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not text.strip():
        return "The file is empty"
    wanted = old.strip("\n").split("\n")
    if number := _find_whole_lines(lines, new):
        return f"The file already contains the new text, at line {number}; the edit may have been made"
    if found := _describe_disguised(lines, wanted):
        return found
    # The longest line is the most characteristic.
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    sought = _pairs(wanted[anchor])
    best, score = 0, 0.0
    for index, line in enumerate(lines[:MAX_COMPARED_LINES]):
        pairs = _pairs(line)
        if pairs and sought:
            common = len(sought & pairs)
            # Of a part of a line, most pairs are in that line, whatever else it has.
            part = PART_WEIGHT * common / len(sought) if len(sought) >= MIN_PART else 0.0
            similarity = max(2 * common / (len(sought) + len(pairs)), part)
            if similarity > score:
                best, score = index, similarity
    if score < LEAST_SIMILARITY:
        return "Nothing similar is in the file; read it again, it may have changed"
    first = max(0, best - min(anchor, MAX_SHOWN_LINES // 2))
    last = min(len(lines), first + min(len(wanted), MAX_SHOWN_LINES))
    shown = "\n".join(cut(line, MAX_COMPARED_CHARACTERS) for line in lines[first : max(last, best + 1)])
    where = f"line {first + 1} is" if last - first <= 1 else f"lines {first + 1} to {max(last, best + 1)} are"
    return f"In the file, {where} the most similar:\n{shown}"


def _find_whole_lines(lines: Sequence[str], new: str) -> int:
    """Return the line number at which the file already contains the new text; 0 if it doesn't. Only whole lines count:
    a part of a line may occur for other reasons."""
    wanted = [line.strip() for line in new.strip().split("\n")]
    if len(new.strip()) <= MIN_NEW:
        return 0
    starts = find_lines([line.strip() for line in lines], wanted)
    return starts[0] + 1 if starts else 0


def _describe_disguised(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """Explain that a part of a line would match with the file's special characters; empty if it wouldn't."""
    part = simplify(wanted[0])
    if len(wanted) != 1 or not part:
        return ""
    found = [number for number, line in enumerate(lines[:MAX_COMPARED_LINES], 1) if part in simplify(line)]
    if not found or any(wanted[0].strip() in lines[number - 1] for number in found):
        return ""
    if len(found) > 1:
        places = ", ".join(map(str, found[:MAX_NAMED])) + (" and others" if len(found) > MAX_NAMED else "")
        return f"Lines {places} have it, but differ in special characters or spacing. Give one whole line"
    line = cut(lines[found[0] - 1], MAX_COMPARED_CHARACTERS)
    special = sorted({f"U+{ord(char):04X}" for char in line + wanted[0] if not char.isascii()})
    why = f"in special characters ({', '.join(special[:MAX_NAMED])})" if special else "in spacing"
    return f"Line {found[0]} has it, but differs {why}. Give the whole line, which then matches:\n{line}"


def _pairs(line: str) -> set[str]:
    """Return the pairs of neighboring characters, whose overlap measures similarity in linear time."""
    line = line.strip()[:MAX_COMPARED_CHARACTERS]
    return {line[index : index + 2] for index in range(len(line) - 1)} or ({line} if line else set())
