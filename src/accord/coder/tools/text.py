"""Truncate and format text for the model and for the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

MAX_LINES = 2_000
"""The most lines a tool returns to the model at once."""
MAX_BYTES = 60_000
"""The most bytes a tool returns to the model at once."""
MAX_SHOWN = 16_000
"""The most characters of a text that a tool call shows to the user."""
MAX_LINE = 2_000
"""Longer lines are truncated: they are data, or generated."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_count_key_start: ContextVar[Callable[[str], int] | None] = ContextVar("count_key_start", default=None)
_count_key_end: ContextVar[Callable[[str], int] | None] = ContextVar("count_key_end", default=None)


@contextmanager
def protecting(count_key_start: Callable[[str], int], count_key_end: Callable[[str], int]) -> Iterator[None]:
    """Leave no part of a key where a text is cut: redaction, which comes later, only recognizes whole keys.

    The functions count the characters at the end of a text that may start a key, and at its start that may end one.
    They are context variables because text is cut in many places that have no session; one that forgot to pass them
    on would show half of a key."""
    start, end = _count_key_start.set(count_key_start), _count_key_end.set(count_key_end)
    try:
        yield
    finally:
        _count_key_start.reset(start)
        _count_key_end.reset(end)


def cut(text: str, most: int) -> str:
    """Return the start of a text, without a part of a key where it was cut."""
    if len(text) <= most:
        return text
    return text[: most - count_key_start(text[:most])]


def count_key_start(text: str) -> int:
    """Return the length of the end of a text that may be the start of a key."""
    count = _count_key_start.get()
    return count(text) if count is not None else 0


def cut_start(text: str, most: int) -> str:
    """Return the end of a text, without a part of a key where it was cut."""
    return drop_key_end(text[-most:]) if len(text) > most else text


def drop_key_end(text: str) -> str:
    """Return a text whose start was cut, without a part of a key there."""
    count = _count_key_end.get()
    return text[count(text) :] if count is not None else text


class Truncated(NamedTuple):
    """The beginning of a text."""

    text: str
    lines: int
    """The number of lines in `text`."""
    is_complete: bool


def truncate(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """Return as many whole lines from the start as fit. The first line is truncated rather than dropped."""
    kept: list[str] = []
    size = 0
    lines = split_lines(text)
    for line in lines[:max_lines]:
        shown = truncate_line(line)
        size += len(shown.encode(errors="replace"))
        if size > max_bytes and kept:
            break
        kept.append(shown)
    return Truncated("".join(kept), len(kept), len(kept) == len(lines))


def head_and_tail(text: str, *, head: int = 10_000, tail: int = 20_000) -> str:
    """Keep the start and the end of a text, and say how much is omitted between them."""
    if len(text) <= head + tail:
        return text
    first, last = cut(text, head), cut_start(text, tail)
    first = first[: first.rfind("\n") + 1] or first
    last = last[last.find("\n") + 1 :] or last
    between = text[len(first) : len(text) - len(last)]
    lines = between.count("\n")
    return f"{first}\n[… {count_of(lines, 'line')}, {format_size(len(between))} omitted …]\n{last}"


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, and keep them. `splitlines` splits at other characters too."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def truncate_line(line: str, most: int = MAX_LINE) -> str:
    """Truncate a line, and say how much is missing."""
    if len(line) <= most:
        return line
    end = "\n" if line.endswith("\n") else ""
    kept = cut(line, most)
    return f"{kept} [… {len(line) - len(kept) - len(end):,} more characters in this line]{end}"


def one_line(text: str, most: int = 100) -> str:
    """Return the first line, printable and short enough for a title."""
    lines = text.strip().splitlines() or [""]
    words = "".join(char if char.isprintable() else " " for char in lines[0]).strip()
    return words if len(words) <= most and len(lines) == 1 else cut(words, most).rstrip() + " …"


def code_block(text: str, language: str = "") -> str:
    """Put text in a Markdown code block, truncated for display. Its fence is longer than any in the text."""
    if len(text) > MAX_SHOWN:
        text = cut(text, MAX_SHOWN).rsplit("\n", 1)[0] + "\n[…]"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def language_of(path: str) -> str:
    """Return the language for a code block: the file's extension."""
    stem, dot, end = path.rpartition("/")[2].rpartition(".")
    return end if stem and dot and end.isalnum() else ""


def plain_output(text: str) -> str:
    """Strip escape sequences from a command's output, and keep the last state of lines overwritten after a return."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return text


def count_of(number: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: `1 line`, `2 lines`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_size(size: int) -> str:
    """Format a size with its unit."""
    if size < 1_000:
        return count_of(size, "byte")
    return f"{size / 1_000:,.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:,.1f} MB"


def describe_size(text: str) -> str:
    """Describe how long a text is: `2 lines, 15 bytes`. The last line needs no line feed."""
    return f"{count_of(len(split_lines(text)), 'line')}, {format_size(len(text.encode()))}"
