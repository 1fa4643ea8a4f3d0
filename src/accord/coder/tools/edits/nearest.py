"""Describe the lines of a text that are most like a passage that wasn't found."""

from __future__ import annotations

MAX_COMPARED_LINES = 20_000
"""The number of lines among which a similar one is looked for."""
MAX_COMPARED_CHARACTERS = 300
MAX_SHOWN_LINES = 12
LEAST_SIMILARITY = 0.5


def describe_nearest(text: str, old: str, new: str) -> str:
    """Name the most similar lines, so that the next attempt succeeds."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not text.strip():
        return "The file is empty"
    wanted = old.strip("\n").split("\n")
    if len(new.strip()) > 3 and (start := text.find(new.strip("\n"))) >= 0:
        number = text.count("\n", 0, start) + 1
        return f"The file already contains the new text, at line {number}; the edit may have been made"
    # The longest line is the most characteristic.
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    sought = _pairs(wanted[anchor])
    best, score = 0, 0.0
    for index, line in enumerate(lines[:MAX_COMPARED_LINES]):
        pairs = _pairs(line)
        if pairs and sought:
            similarity = 2 * len(sought & pairs) / (len(sought) + len(pairs))
            if similarity > score:
                best, score = index, similarity
    if score < LEAST_SIMILARITY:
        return "Nothing similar is in the file; read it again, it may have changed"
    first = max(0, best - min(anchor, MAX_SHOWN_LINES // 2))
    last = min(len(lines), first + min(len(wanted), MAX_SHOWN_LINES))
    shown = "\n".join(line[:MAX_COMPARED_CHARACTERS] for line in lines[first : max(last, best + 1)])
    where = f"line {first + 1} is" if last - first <= 1 else f"lines {first + 1} to {max(last, best + 1)} are"
    return f"In the file, {where} the most similar:\n{shown}"


def _pairs(line: str) -> set[str]:
    """The pairs of neighboring characters, whose overlap measures similarity in linear time."""
    line = line.strip()[:MAX_COMPARED_CHARACTERS]
    return {line[index : index + 2] for index in range(len(line) - 1)} or ({line} if line else set())
