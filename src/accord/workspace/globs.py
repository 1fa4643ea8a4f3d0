"""Translate glob patterns, in the syntax of .gitignore files and ripgrep, to regular expressions.

| pattern | matches |
|---|---|
| `*`, `?` | any characters, one character; never a slash |
| `[a-z]`, `[!a-z]` | one character that is, or isn't, in the set |
| `**` | any number of directories |
| `\\x` | `x` itself |
| `{a,b}` | either (with `braces`) |"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def compile_name_glob(glob: str) -> re.Pattern[str]:
    """Compile a glob for relative paths. Without a slash it matches the last component, at any depth."""
    is_anchored = "/" in glob.rstrip("/")
    body = translate(glob.strip("/") if is_anchored else glob.rstrip("/"), braces=True)
    return re.compile(body if is_anchored else f"(?:.*/)?{body}", re.S)


def translate(glob: str, *, braces: bool = False) -> str:
    """Return the regular expression of a glob, for `fullmatch`."""
    found: list[str] = []
    depth = 0
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            end = at
            while end < len(glob) and glob[end] == "*":
                end += 1
            at = _translate_stars(glob, at, end, found)
            continue
        at += 1
        if char == "?":
            found.append("[^/]")
        elif char == "[":
            at = _translate_set(glob, at, found)
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


def _translate_stars(glob: str, start: int, end: int, found: list[str]) -> int:
    """Append the expression for a run of stars; return the position after it."""
    begins = start == 0 or glob[start - 1] == "/"
    if end - start == 1 or not begins or (end < len(glob) and glob[end] != "/"):
        found.append("[^/]*")
        return end
    if end == len(glob):
        found.append(".*" if start == 0 else ".+")
        return end
    found.append("(?:.*/)?")
    return end + 1


def _translate_set(glob: str, start: int, found: list[str]) -> int:
    """Append a character set; return the position after it. An unclosed bracket matches nothing, as in Git."""
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
