"""Indent new lines like the lines they replace."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def indent_of(line: str) -> str:
    """Return the whitespace at the start of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


class Indentation:
    """The relation between the indentation of a passage and of the file's lines."""

    def __init__(self, passage: Sequence[str], lines: Sequence[str]) -> None:
        self._known: dict[str, str] = {}
        self.is_consistent: bool = True
        """Whether each indentation of the passage always means the same one in the file."""
        for ours, theirs in zip(passage, lines, strict=True):
            if ours.strip() and theirs.strip():
                there = indent_of(theirs)
                if self._known.setdefault(indent_of(ours), there) != there:
                    self.is_consistent = False
        self.is_same: bool = bool(self._known) and all(ours == theirs for ours, theirs in self._known.items())
        """Whether the file is indented as the passage is."""
        self._translated: dict[str, str] = dict(self._known)
        self._char = next((there[0] for there in self._known.values() if there), "")
        self._ratio = self._find_ratio()

    def _find_ratio(self) -> Fraction:
        """Return how many characters the file indents by for one in the passage: 1/4 for tabs of four spaces."""
        depths = sorted({(len(ours), len(theirs)) for ours, theirs in self._known.items()})
        if not depths:
            return Fraction(1)
        (first, there), (last, there_last) = depths[0], depths[-1]
        if last > first:
            return Fraction(max(there_last - there, 0), last - first)
        own = next((ours[0] for ours in self._known if ours), "")
        return Fraction(there, first) if first and there and own != self._char else Fraction(1)

    def fit(self, line: str) -> str:
        """Indent a new line like the file. Blank lines stay empty."""
        if not line.strip():
            return ""
        indent = indent_of(line)
        if indent not in self._translated:
            self._translated[indent] = self._translate(indent)
        return self._translated[indent] + line[len(indent) :]

    def _translate(self, indent: str) -> str:
        if not self._known:
            return indent
        inner = max((each for each in self._known if indent.startswith(each)), key=len, default=None)
        if inner is not None:  # deeper than a line we know
            return self._known[inner] + self._convert(indent[len(inner) :])
        outer = min((each for each in self._known if each.startswith(indent)), key=len, default=None)
        if outer is None:
            return self._convert(indent)
        there = self._known[outer]  # less deep: remove as much as the passage does
        return there[: max(0, len(there) - len(self._convert(outer[len(indent) :])))]

    def _convert(self, indent: str) -> str:
        """Convert between tabs and spaces, and between widths, if the file indents in another way."""
        length = len(indent) * self._ratio
        return (self._char or indent[0]) * int(length) if length and length.denominator == 1 else indent
