"""Patterns for names, as .gitignore files and ripgrep write them, made into regular expressions.

`*` stands for anything but a slash, `?` for one character but a slash, `[a-z]` and `[!a-z]` for one of some characters
or another, `**` for any number of directories, a backslash takes the meaning from the next character; with `braces`,
`{a,b}` stands for either."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def name_pattern(glob: str) -> re.Pattern[str]:
    """A pattern for paths below a directory. Without a slash it is about the last name, at any depth."""
    anchored = "/" in glob.rstrip("/")
    body = regex(glob.strip("/") if anchored else glob.rstrip("/"), braces=True)
    return re.compile(body if anchored else f"(?:.*/)?{body}", re.S)


def regex(glob: str, *, braces: bool = False) -> str:
    """The regular expression of a pattern, to be matched from a path's beginning to its end."""
    found: list[str] = []
    depth = 0
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            end = at
            while end < len(glob) and glob[end] == "*":
                end += 1
            at = _stars(glob, at, end, found)
            continue
        at += 1
        if char == "?":
            found.append("[^/]")
        elif char == "[":
            at = _one_of(glob, at, found)
        elif char == "\\" and at < len(glob):
            found.append(re.escape(glob[at]))
            at += 1
        elif braces and char == "{" and "}" in glob[at:]:
            found.append("(?:")
            depth += 1
        elif depth and char in ",}":
            found.append("|" if char == "," else ")")
            depth -= char == "}"
        else:
            found.append(re.escape(char))
    return "".join(found) + ")" * depth


def _stars(glob: str, start: int, end: int, found: list[str]) -> int:
    """Writes what some stars mean, and gives where the pattern goes on."""
    begins = start == 0 or glob[start - 1] == "/"
    if end - start == 1 or not begins or (end < len(glob) and glob[end] != "/"):
        found.append("[^/]*")
        return end
    if end == len(glob):
        found.append(".*" if start == 0 else ".+")
        return end
    found.append("(?:.*/)?")
    return end + 1


def _one_of(glob: str, start: int, found: list[str]) -> int:
    """Writes a set of characters. With a bracket that nothing closes a pattern matches nothing, as with Git."""
    at = start
    negated = at < len(glob) and glob[at] in "!^"
    at += negated
    inner: list[str] = []
    first = True
    while at < len(glob) and (glob[at] != "]" or first):
        first = False
        char = glob[at]
        if char == "\\" and at + 1 < len(glob):
            at += 1
            char = glob[at]
        if at + 2 < len(glob) and glob[at + 1] == "-" and glob[at + 2] != "]":
            last = glob[at + 2]
            if char <= last:
                inner.append(f"{re.escape(char)}-{re.escape(last)}")
            at += 3
            continue
        inner.append(re.escape(char))
        at += 1
    if at >= len(glob):
        found.append(r"[^\s\S]")
        return len(glob)
    body = "".join(inner)
    if not body:
        found.append("[^/]" if negated else r"[^\s\S]")
    else:
        found.append(f"(?!/)[{'^' if negated else ''}{body}]")
    return at + 1
