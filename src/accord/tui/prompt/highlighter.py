"""Highlighting of the prompt while it is typed: Markdown, @files and the /command, in the colors of the theme.

It runs for each visible line after each key, so it is a few regular expressions over one line instead of a parser.
Their repetitions are bounded, and lines and prompts beyond a limit stay plain: typing never waits for colors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from rich.text import Text

    from accord.tui.theme import TextStyles

MAX_CHARACTERS = 2000
"""The longest line that is highlighted."""
MAX_LINES = 500
"""The longest prompt that is highlighted: each visible line needs the ones above it, to know whether it is code."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMAND = re.compile(r"/[\w:-]+(?=\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}(?=\s)")
_MARKER = re.compile(r"\s{0,40}(?:[-*+]|\d{1,9}[.)]|>)(?=\s)")
_CODE = r"(?P<code>`[^`]{1,500}`)"
_LINK = r"(?P<link>!?\[[^\]\[]{1,200}\]\([^()\s]{0,500}\)|\bhttps?://[^\s<>\"]{1,500})"
_FILE = r"(?P<file>(?<!\S)@(?:\"[^\"]{1,300}\"|[^\s\"@]{1,300}))"
_STRONG = r"(?P<strong>\*\*(?=[^\s*])[^*]{1,500}(?<=\S)\*\*|(?<!\w)__(?=[^\s_])[^_]{1,500}(?<=\S)__(?!\w|\.\w))"
_EMPHASIS = (
    r"(?P<emphasis>(?<![\w*])\*(?=[^\s*])[^*]{1,500}(?<=\S)\*(?![\w*])|(?<!\w)_(?=[^\s_])[^_]{1,500}(?<=\S)_(?!\w))"
)
_INLINE = re.compile("|".join((_CODE, _LINK, _FILE, _STRONG, _EMPHASIS)))


class PromptHighlighter:
    """Adds the styles of one theme to the lines of a prompt."""

    def __init__(self, text_styles: TextStyles) -> None:
        self._marker = text_styles.dim
        self._heading = text_styles.strong
        self._source = text_styles.source
        self._command = text_styles.accent + text_styles.strong
        self._inline: dict[str | None, Style] = {
            "code": text_styles.code,
            "link": text_styles.accent + Style(underline=True),
            "file": text_styles.accent,
            "strong": text_styles.strong,
            "emphasis": Style(italic=True),
        }

    def highlight(self, line: Text, row: int, lines: Sequence[str]) -> None:
        """Add styles to line `row` of `lines`."""
        text = line.plain
        if not text or len(text) > MAX_CHARACTERS or len(lines) > MAX_LINES:
            return
        if _FENCE.match(text):
            line.stylize(self._marker)
        elif _is_in_fence(lines[:row]):
            line.stylize(self._source)
        else:
            self._highlight_prose(line, text, row)

    def _highlight_prose(self, line: Text, text: str, row: int) -> None:
        if row == 0 and (found := _COMMAND.match(text)):
            line.stylize(self._command, 0, found.end())
        elif found := _HEADING.match(text):
            line.stylize(self._heading)
            line.stylize(self._marker, 0, found.end())
        elif found := _MARKER.match(text):
            line.stylize(self._marker, 0, found.end())
        for each in _INLINE.finditer(text):
            line.stylize(self._inline[each.lastgroup], *each.span())


def _is_in_fence(above: Sequence[str]) -> bool:
    """Return whether a code block is open after these lines."""
    opened = ""
    for line in above:
        found = _FENCE.match(line) if "``" in line or "~~" in line else None
        if found is None:
            continue
        if not opened:
            opened = found[1]
        elif found[1].startswith(opened) and not line[found.end() :].strip():
            opened = ""
    return bool(opened)
