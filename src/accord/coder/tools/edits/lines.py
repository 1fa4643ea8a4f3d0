"""Find lines in a text, also without regard to typographic characters, Unicode normalization and spacing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_NORMALIZED = 500
"""Longer lines are compared without Unicode normalization, whose time is quadratic for hostile text."""
_TYPOGRAPHIC = {
    **dict.fromkeys(map(ord, "‘’‚‛′´`"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF], None),
    ord("…"): "...",
}
_RUN = re.compile(r"\s+")


def simplify(line: str) -> str:
    """Simplify a line for comparison: no typographic characters, composed, with single spaces."""
    if not line.isascii():
        if len(line) <= MAX_NORMALIZED:
            line = unicodedata.normalize("NFC", line)
        line = line.translate(_TYPOGRAPHIC)
    return _RUN.sub(" ", line).strip()


def find_lines(keys: Sequence[str], wanted: Sequence[str], *, first: int = 0, most: int = 1) -> list[int]:
    """Find every place of a sequence of lines, overlapping occurrences included (Knuth, Morris and Pratt)."""
    borders = [0] * len(wanted)
    length = 0
    for index in range(1, len(wanted)):
        while length and wanted[index] != wanted[length]:
            length = borders[length - 1]
        length += wanted[index] == wanted[length]
        borders[index] = length
    found: list[int] = []
    length = 0
    for index in range(first, len(keys)):
        while length and (length == len(wanted) or keys[index] != wanted[length]):
            length = borders[length - 1]
        length += keys[index] == wanted[length]
        if length == len(wanted):
            found.append(index - length + 1)
            if len(found) == most:
                break
    return found
