"""Text for terminals: sanitize untrusted text, fit it on one line, and format sizes and durations.

Sanitized text can't move the cursor, change colors, or reverse the reading direction of a line. The TUI replaces
control characters with symbols one cell wide (`sanitize`); the CLI, whose output may be piped or logged, with ASCII
escapes (`escape`)."""

from __future__ import annotations

import re

# Control characters except tab and newline, bidirectional formatting, and Unicode line separators.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
MAX_LINE = 300
_TAB_WIDTH = 4


def sanitize(text: str) -> str:
    """Replace unsafe characters with visible symbols; newlines stay, tabs become spaces."""
    if _UNSAFE.search(text) is not None:
        text = _UNSAFE.sub(_to_symbol, text.replace("\r\n", "\n"))
    return text.expandtabs(_TAB_WIDTH) if "\t" in text else text


def escape(text: str) -> str:
    """Replace unsafe characters with escapes such as `\\x1b`; newlines and tabs stay."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """Sanitize a text and put it on one line, truncated with `…` to `limit` characters."""
    # Slicing first keeps this cheap for megabytes; runs of whitespace shorter than that collapse as they should.
    return _truncate(" ".join(sanitize(text[: limit * 4]).split()), limit)


def escape_line(text: str, limit: int = MAX_LINE) -> str:
    """Escape a text and put it on one line, truncated with `…` to `limit` characters."""
    return _truncate(" ".join(escape(text).split()), limit)


def _truncate(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _to_symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the Unicode symbol for a control character, one cell wide
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def format_size(count: float) -> str:
    """Format a number of bytes with a unit: `512 B`, `1.5 kB`, `20 MB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def format_duration(seconds: float) -> str:
    """Format a duration: `1.5s`, `42s`, `3m 05s`, `1h 10m`."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}m {seconds:02d}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02d}m"
