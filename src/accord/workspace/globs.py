"""Translate glob patterns, in the syntax of .gitignore files and ripgrep, to regular expressions.

| pattern | matches |
|---|---|
| `*`, `?` | any characters, one character; never a slash |
| `[a-z]`, `[!a-z]` | one character that is, or isn't, in the set |
| `**` | any number of directories |
| `\\x` | `x` itself |
| `{a,b}` | either (with `braces`) |

The expressions take linear time, because a `.gitignore` or a model could freeze the agent otherwise: what a star and
the text after it match is settled by the first place where the text is, and isn't tried again for later stars."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_ALTERNATIVES = 200
"""The most globs that one with braces may stand for."""
_BRACES = re.compile(r"((?:\\.|[^\\])*?)\{([^{}]*)\}(.*)", re.S)
"""A pair of braces without others in it, and what is around it."""


@lru_cache(maxsize=1024)
def compile_name_glob(glob: str) -> re.Pattern[str]:
    """Compile a glob for relative paths. Without a slash it matches the last component, at any depth."""
    is_anchored = "/" in glob.rstrip("/")
    inner = glob.strip("/") if is_anchored else glob.rstrip("/")
    body = "|".join(map(translate, dict.fromkeys(_expand_braces(inner))))
    return re.compile(f"(?:{body})" if is_anchored else f"(?:.*/)?(?:{body})", re.S)


def translate(glob: str) -> str:
    """Return the regular expression of a glob, for `fullmatch`."""
    found = _Expression()
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
        elif char == "/":
            found.end_name()
        else:
            found.append(re.escape(char))
    return found.end()


class _Expression:
    """A regular expression in the making. Stars are closed off by the next one: `*a*b` is `(?>[^/]*?a)[^/]*b`."""

    def __init__(self) -> None:
        self._done = ""
        """The expression up to the last `**`, which is settled."""
        self._directories = ""
        """The expression for the last `**`; empty if there is none."""
        self._names = ""
        """The names since then."""
        self._name = ""
        """The name up to the last star, which is settled."""
        self._star = ""
        self._rest = ""
        """The name since the last star."""

    def append(self, text: str) -> None:
        """Append the expression of one character."""
        self._rest += text

    def star(self) -> None:
        """Append a `*`."""
        self._settle_star()
        self._star = "[^/]*?"

    def _settle_star(self) -> None:
        self._name += f"(?>{self._star}{self._rest})" if self._star else self._rest
        self._star = self._rest = ""

    def _settle_name(self) -> None:
        if self._star:  # the last star: the rest must be at the end of the name, where there is only one place for it
            self._name += "[^/]*" + self._rest
        else:
            self._name += self._rest
        self._names += self._name
        self._name = self._star = self._rest = ""

    def end_name(self) -> None:
        """Append a slash."""
        self._settle_name()
        self._names += "/"

    def any_directories(self) -> None:
        """Append a `**/`."""
        self._settle_directories()
        self._directories = "(?:[^/]*/)*?"

    def _settle_directories(self) -> None:
        self._settle_name()
        self._done += f"(?>{self._directories}{self._names})" if self._directories else self._names
        self._directories = self._names = ""

    def everything(self, text: str) -> None:
        """Append a `**` at the end."""
        self._settle_directories()
        self._done += text

    def end(self) -> str:
        """Return the expression."""
        self._settle_name()
        return self._done + self._directories + self._names


def _translate_stars(glob: str, start: int, end: int, found: _Expression) -> int:
    """Append the expression for a run of stars; return the position after it."""
    begins = start == 0 or glob[start - 1] == "/"
    if end - start == 1 or not begins or (end < len(glob) and glob[end] != "/"):
        found.star()
        return end
    if end == len(glob):
        found.everything(".*" if start == 0 else ".+")
        return end
    found.any_directories()
    return end + 1


def _expand_braces(glob: str) -> list[str]:
    """Return the globs that one with braces stands for; the glob itself if there are too many."""
    waiting, found = [glob], list[str]()
    while waiting:
        if len(waiting) + len(found) > MAX_ALTERNATIVES:
            return [glob]
        each = waiting.pop()
        match = _BRACES.match(each)
        if match is None:
            found.append(each)
            continue
        start, inner, end = match.groups()
        waiting += [start + part + end for part in inner.split(",")]
    return found


def _translate_set(glob: str, start: int, found: _Expression) -> int:
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
