"""What others say, made fit for a terminal: it cannot move the cursor, recolour, or turn a line around."""

from __future__ import annotations

import re

# Control characters except tab and newline, marks that turn the direction of a line, and odd line ends.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONG = 300
_TAB = 4


def plain(text: str) -> str:
    """The text with nothing in it but what can be seen; lines stay lines, tabs become spaces."""
    if _UNFIT.search(text) is not None:
        text = _UNFIT.sub(_shown, text.replace("\r\n", "\n"))
    return text.expandtabs(_TAB) if "\t" in text else text


def one_line(text: str, most: int = _LONG) -> str:
    """The beginning of a text, on one line; what is too long is cut."""
    line = " ".join(plain(text[: most * 4]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the picture of a control character, one cell wide
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def size_of(count: float) -> str:
    """A number of bytes, as people say it."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def seconds_of(seconds: float) -> str:
    """A stretch of time, as people say it."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}m {seconds:02d}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02d}m"
