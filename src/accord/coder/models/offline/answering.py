"""Sentences about what tools said: counts and names first, code between fences, and never thousands of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from accord.coder.models.offline.forms import capabilities

SHOWN = 40
"""How many lines of anything are repeated in an answer; the tool call shows the rest."""
WIDTH = 200
"""How much of a line."""

CAPABILITIES = capabilities()
"""What the offline model understands, for people."""

# Notes that a tool adds to what it gives: [lines 1 to 200 of 340; go on with line=201]
NOTE = re.compile(r"^\[.*\]$")
HIT = re.compile(r"^(?P<path>(?:[A-Za-z]:[\\/])?[^:\n]{1,400}):(?P<line>\d+):?\s?(?P<text>.*)$")
INNER_HIT = re.compile(r"^\s+(?P<line>\d+)[:|]\s?(?P<text>.*)$")


class Hit(NamedTuple):
    """A place where something was found."""

    path: str
    line: int
    text: str


class Reading(NamedTuple):
    """What read_file gave: the text, and what was noted about it."""

    text: str
    notes: str
    whole: bool


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def named(names: Sequence[str], most: int = 5) -> str:
    """Some names in a sentence."""
    shown = [f"`{name}`" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def fenced(text: str, language: str = "", *, most: int = SHOWN, tail: bool = False) -> str:
    """A text between fences: its first lines, or its last."""
    lines = text.rstrip("\n").split("\n")
    left = len(lines) - most
    if left > 0:
        lines = lines[-most:] if tail else lines[:most]
    lines = [line if len(line) <= WIDTH else line[:WIDTH] + " …" for line in lines]
    if left > 0:
        note = f"… {counted(left, 'more line')}"
        lines = [note, *lines] if tail else [*lines, note]
    inner = "\n".join(lines)
    longest = max((len(run) for run in re.findall("`{3,}", inner)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{inner}\n{fence}"


def language(path: str) -> str:
    """What a fence says about a file: the end of its name."""
    stem, dot, end = path.replace("\\", "/").rpartition("/")[2].rpartition(".")
    return end.lower() if stem and dot and end.isalnum() else ""


def reading(text: str) -> Reading:
    """A file's text without the notes that stand after it."""
    lines = text.split("\n")
    notes: list[str] = []
    while lines and (not lines[-1] or NOTE.match(lines[-1])):
        if not lines[-1]:
            if not (len(lines) > 1 and NOTE.match(lines[-2]) and _is_note(lines[-2])):
                break
        elif not _is_note(lines[-1]):
            break
        else:
            notes.insert(0, lines[-1][1:-1])
            lines[-1:] = [""] if len(lines) > 1 else []
            continue
        lines.pop()
    told = "; ".join(notes)
    cut = "go on with line=" in told or re.search(r"more characters in this line\]$", text, re.MULTILINE) is not None
    first = re.search(r"lines ([\d,]+) to", told)
    return Reading("\n".join(lines), told, not cut and (first is None or first[1] == "1"))


def _is_note(line: str) -> bool:
    return bool(re.match(r"\[(?:lines [\d,]+ to|the lines of this file|the file is empty|there is no line)", line))


def hits(text: str) -> list[Hit]:
    """The places that a search names: `path:12: text`, or the path once and its lines below it."""
    found: list[Hit] = []
    path = ""
    for line in text.split("\n"):
        if match := INNER_HIT.match(line):
            if path:
                found.append(Hit(path, int(match["line"][:9]), match["text"]))
        elif match := HIT.match(line):
            found.append(Hit(match["path"].strip(), int(match["line"][:9]), match["text"]))
        elif line and not line.startswith((" ", "[")):
            path = line.strip().rstrip(":")
    return found


def paths(text: str) -> list[str]:
    """The paths that a tool lists, one in each line."""
    if re.match(r"(?:No|Nothing) [^/]*\.$", text.split("\n", 1)[0]):
        return []
    lines = [line for line in text.split("\n") if line.strip() and not NOTE.match(line)]
    return lines[1:] if lines and re.match(r"[\d,]+ files?:$", lines[0]) else lines


def listed(found: Sequence[Hit], most: int = 12) -> str:
    """Places as a list, with the line that stands there."""
    lines = [f"- `{hit.path}:{hit.line}` {_line(hit.text)}".rstrip() for hit in found[:most]]
    if len(found) > most:
        lines.append(f"- … and {counted(len(found) - most, 'more place')}")
    return "\n".join(lines)


def _line(text: str) -> str:
    text = text.strip()[:120]
    if not text:
        return ""
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


def bulleted(names: Sequence[str], most: int = 30) -> str:
    """Names as a list."""
    lines = [f"- `{name}`" for name in names[:most]]
    if len(names) > most:
        lines.append(f"- … and {len(names) - most:,} more")
    return "\n".join(lines)
