"""Command output as lines, with its colors. Other terminal control sequences are dropped."""

from __future__ import annotations

import re

from rich.ansi import AnsiDecoder
from rich.text import Text

from accord.terminal_text import sanitize
from accord.tui.text import drop_unsafe_links

MAX_CHARACTERS = 200_000
MAX_LINES = 500
_SPARE = 50
"""Extra lines to read, because blank lines at the end are dropped."""
# Control characters without meaning in a list of lines; escape sequences are handled by the decoder.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printed_lines(text: str, most: int = MAX_LINES) -> tuple[list[Text], int]:
    """Return the last lines of a text, overwritten ones in their final state, and how many lines come before them."""
    skipped = 0
    if len(text) > MAX_CHARACTERS:
        skipped = text.count("\n", 0, len(text) - MAX_CHARACTERS)
        text = text[-MAX_CHARACTERS:]
    begin = _last_lines(text, most + _SPARE)
    if begin:  # lines that aren't shown needn't be sanitized
        skipped += text.count("\n", 0, begin)
        text = text[begin:]
    rows = _CONTROLS.sub("", text.replace("\r\n", "\n")).expandtabs(8).rstrip("\n").split("\n")
    if len(rows) > most:
        skipped += len(rows) - most
        rows = rows[-most:]
    decoder = AnsiDecoder()
    return [_sound(decoder.decode_line(row)) for row in rows], skipped


def _last_lines(text: str, most: int) -> int:
    """Return the offset at which the last `most` lines start."""
    at = len(text)
    for _ in range(most):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _sound(line: Text) -> Text:
    line.no_wrap = True
    return Text(sanitize(line.plain)) if "\x1b" in line.plain else drop_unsafe_links(line)
