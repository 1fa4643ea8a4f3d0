"""Text that fits: what a model is told, and what people are shown, within bounds that are said."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LINES = 2_000
"""How many lines of anything a model is told at once."""
MAX_BYTES = 60_000
"""How many bytes, likewise."""
MAX_SHOWN = 16_000
"""How many characters people are shown of a text in a tool call."""
MAX_LINE = 2_000
"""How much of one line a model is told. Longer ones are data, or were made by a machine."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class Cut(NamedTuple):
    """The beginning of a text."""

    text: str
    lines: int
    """How many lines it has."""
    is_whole: bool


def beginning(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Cut:
    """As many whole lines from the beginning as fit; of a single line that does not, its beginning."""
    kept: list[str] = []
    size = 0
    lines = split_lines(text)
    for line in lines[:max_lines]:
        shown = shortened(line)
        size += len(shown.encode(errors="replace"))
        if size > max_bytes and kept:
            break
        kept.append(shown)
    return Cut("".join(kept), len(kept), len(kept) == len(lines))


def head_and_tail(text: str, *, head: int = 10_000, tail: int = 20_000) -> str:
    """The beginning and the end of a text, with a word on what lies between."""
    if len(text) <= head + tail:
        return text
    first, last = text[:head], text[-tail:]
    first = first[: first.rfind("\n") + 1] or first
    last = last[last.find("\n") + 1 :] or last
    between = text[len(first) : len(text) - len(last)]
    lines = between.count("\n")
    return f"{first}\n[… {counted(lines, 'line')}, {size_in_words(len(between))} left out …]\n{last}"


def split_lines(text: str) -> list[str]:
    """Lines with their ends; a line ends with a line feed and with nothing else."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def shortened(line: str, most: int = MAX_LINE) -> str:
    """A line that is not too long."""
    if len(line) <= most:
        return line
    end = "\n" if line.endswith("\n") else ""
    return f"{line[:most]} [… {len(line) - most - len(end):,} more characters in this line]{end}"


def one_line(text: str, most: int = 100) -> str:
    """A text as a part of a title."""
    lines = text.strip().splitlines() or [""]
    words = "".join(char if char.isprintable() else " " for char in lines[0]).strip()
    return words if len(words) <= most and len(lines) == 1 else words[:most].rstrip() + " …"


def fenced(text: str, language: str = "") -> str:
    """A text as it is, for people: between fences that nothing in it can end, and no longer than they would read."""
    if len(text) > MAX_SHOWN:
        text = text[:MAX_SHOWN].rsplit("\n", 1)[0] + "\n[…]"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def language_of(path: str) -> str:
    """What a fence says about a file: the end of its name."""
    stem, dot, end = path.rpartition("/")[2].rpartition(".")
    return end if stem and dot and end.isalnum() else ""


def plain_output(text: str) -> str:
    """What a command printed, without colours, and of a line that was written over and over only its last state."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return text


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_in_words(size: int) -> str:
    """A size as people say it."""
    if size < 1_000:
        return counted(size, "byte")
    return f"{size / 1_000:,.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:,.1f} MB"
