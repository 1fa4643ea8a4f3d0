"""What a command printed, with its colours, as lines. Whatever else it did to its terminal is left out."""

from __future__ import annotations

import re

from rich.ansi import AnsiDecoder
from rich.text import Text

from accord.tui.harmless import with_sound_links
from accord.tui.plain import plain

MOST_CHARACTERS = 200_000
MOST_LINES = 500
_SPARE = 50
"""Blank lines at the end, which are left out, may be so many and nothing is missed."""
# Control characters that mean nothing in a list of lines; the escape itself is read by the decoder.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printed_lines(text: str, most: int = MOST_LINES) -> tuple[list[Text], int]:
    """The last lines of a text, and how many before them were left out. A line that was written over is as it ended."""
    skipped = 0
    if len(text) > MOST_CHARACTERS:
        skipped = text.count("\n", 0, len(text) - MOST_CHARACTERS)
        text = text[-MOST_CHARACTERS:]
    begin = _last_lines(text, most + _SPARE)
    if begin:  # what is not looked at need not be made fit to be seen
        skipped += text.count("\n", 0, begin)
        text = text[begin:]
    rows = _CONTROLS.sub("", text.replace("\r\n", "\n")).expandtabs(8).rstrip("\n").split("\n")
    if len(rows) > most:
        skipped += len(rows) - most
        rows = rows[-most:]
    decoder = AnsiDecoder()
    return [_sound(decoder.decode_line(row)) for row in rows], skipped


def _last_lines(text: str, most: int) -> int:
    """Where the last so many lines begin."""
    at = len(text)
    for _ in range(most):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _sound(line: Text) -> Text:
    line.no_wrap = True
    return Text(plain(line.plain)) if "\x1b" in line.plain else with_sound_links(line)
