"""What an agent says, made fit for a terminal: it cannot move the cursor, recolour, or turn the line around."""

from __future__ import annotations

import re

# Control characters except tab and newline, and those that make a line read in another direction.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONG = 300


def fit(text: str) -> str:
    """The text with nothing in it but what can be seen; lines stay lines."""
    if _UNFIT.search(text) is None:
        return text
    return _UNFIT.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def one_line(text: str, most: int = _LONG) -> str:
    """The text on one line, for lists and questions; what is too long is cut."""
    line = " ".join(fit(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
