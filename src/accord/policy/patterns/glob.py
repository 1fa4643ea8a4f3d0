"""Patterns for paths: `src/**`, `~/.ssh/**`, `/etc/*`, `**/.env`.

A pattern is relative to the project unless it starts with `/` or `~/`. `*` matches anything except a slash, `?` one
character except a slash, `[a-z]` and `[!a-z]` one character of a set (or not of it), `**` any number of directories. A
backslash escapes the next character. A pattern that ends in a slash matches everything below.

To allow, a path must match exactly. To ask or deny, matching is generous: case is ignored, a directory includes its
contents, `x/**` also means `x` itself, and a pattern that starts with `**` also applies outside the project.

Matching backtracks only to the last star, so a hostile pattern can't take exponential time."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Union

from accord.errors import RuleError


class _Any(NamedTuple):
    """One character of a set, or one that isn't in it."""

    chars: frozenset[str]
    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def has(self, char: str) -> bool:
        inside = char in self.chars or any(low <= char <= high for low, high in self.ranges)
        return inside != self.negated


class _Star:
    """Any run of characters."""


class _One:
    """Any one character."""


STAR, ONE = _Star(), _One()
Token = Union[str, _Any, _Star, _One]
Segment = Union[tuple[Token, ...], None]
"""One name in a path; None for `**`."""


class Glob(NamedTuple):
    """A parsed pattern."""

    anchor: str
    """`/` for the root, `~` for the home directory, empty for the project."""
    segments: tuple[Segment, ...]

    @property
    def is_exact(self) -> bool:
        """Whether it matches only one path."""
        return all(
            segment is not None and all(isinstance(token, str) for token in segment) for segment in self.segments
        )


def read(text: str) -> Glob:
    """Parse a pattern, or raise `RuleError`."""
    if not text:
        raise RuleError("the path pattern is empty; expected something like src/** or ~/.ssh/**")
    if "\0" in text:
        raise RuleError(f"the path pattern {text!r} contains a NUL character")
    anchor, rest = "", text
    if text == "~" or text.startswith("~/"):
        anchor, rest = "~", text[2:]
    elif text.startswith("/"):
        anchor, rest = "/", text[1:]
    elif text.startswith("~"):
        raise RuleError(f"the path pattern {text!r} refers to another user's home; expected ~/… or an absolute path")
    elif text[1:3] == ":/" and text[0].isalpha():
        anchor = "/"  # on Windows the drive is the first name of an absolute path
    # A slash always separates names, even if escaped or in brackets: names can't contain one.
    names = [name for name in rest.split("/") if name not in ("", ".")]
    if ".." in names:
        raise RuleError(f"the path pattern {text!r} contains ..; expected the path itself")
    if rest.endswith("/") and not rest.endswith("\\/"):
        names.append("**")
    if not names and not anchor:
        raise RuleError(f"the path pattern {text!r} is empty; expected something like src/** (or ** for everything)")
    segments: list[Segment] = []
    for name in names:
        segment = None if name == "**" else _segment(name, text)
        if segment is not None or not segments or segments[-1] is not None:
            segments.append(segment)
    return Glob(anchor, tuple(segments))


def escape(path: str) -> str:
    """Return the pattern that matches only this path."""
    text = "".join("\\" + char if char in "*?[\\" else char for char in path)
    return "\\" + text if text.startswith("~") else text


def _segment(name: str, whole: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    at = 0
    while at < len(name):
        char = name[at]
        at += 1
        if char == "*":
            if not tokens or tokens[-1] is not STAR:
                tokens.append(STAR)
        elif char == "?":
            tokens.append(ONE)
        elif char == "\\":
            if at == len(name):
                raise RuleError(
                    f"the path pattern {whole!r} has a backslash at the end of a name; expected a character after it"
                )
            tokens.append(name[at])
            at += 1
        elif char == "[":
            token, at = _brackets(name, at, whole)
            tokens.append(token)
        else:
            tokens.append(char)
    return tuple(tokens)


def _brackets(name: str, at: int, whole: str) -> tuple[_Any, int]:
    negated = name[at : at + 1] in ("!", "^")
    at += negated
    chars: set[str] = set()
    ranges: list[tuple[str, str]] = []
    first = True
    while True:
        if at >= len(name):
            raise RuleError(
                f"the path pattern {whole!r} has a [ that isn't closed; expected ], or \\[ for a literal bracket"
            )
        char = name[at]
        if char == "]" and not first:
            return _Any(frozenset(chars), tuple(ranges), negated), at + 1
        first = False
        if char == "\\" and at + 1 < len(name):
            at += 1
            char = name[at]
        if name[at + 1 : at + 2] == "-" and name[at + 2 : at + 3] not in ("", "]"):
            high = name[at + 2]
            if high < char:
                raise RuleError(f"the path pattern {whole!r} has the range {char}-{high}, which is backwards")
            ranges.append((char, high))
            at += 3
        else:
            chars.add(char)
            at += 1


def fold(text: str) -> str:
    """Remove differences that file systems may ignore: case, Unicode normalization, invisible characters."""
    if text.isascii():
        return text.lower()
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", visible).casefold())


def split_path(path: str) -> tuple[str, ...]:
    """Return the names in an absolute path."""
    if os.sep != "/":
        path = path.replace(os.sep, "/")
    return tuple(name for name in path.split("/") if name)


@lru_cache(maxsize=4096)
def _strict(text: str) -> Glob:
    return read(text)


@lru_cache(maxsize=4096)
def _loose(text: str) -> Glob:
    try:
        return read(fold(text))
    except RuleError:  # folding reversed a range such as [A-z]: use the pattern unfolded
        return read(text)


def covers(text: str, names: Sequence[str], *, project: Sequence[str], home: Sequence[str]) -> bool:
    """Return whether a pattern allows a file: each of its paths must match exactly."""
    glob = _strict(text)
    bases = [""] if glob.anchor == "/" else list(home) if glob.anchor == "~" else list(project)
    return bool(names) and all(
        any(_match(glob.segments, rest) for base in bases if (rest := _below(base, split_path(name))) is not None)
        for name in names
    )


def catches(text: str, names: Sequence[str], *, project: Sequence[str], home: Sequence[str]) -> bool:
    """Return whether a pattern could apply to a file, for asking and denying.

    It is enough that one path of the file matches, or a directory above it."""
    glob = _loose(text)
    segments = glob.segments
    if segments and segments[-1] is None and len(segments) > 1:
        segments = segments[:-1]  # x/** also catches x itself
    bases = [""] if glob.anchor == "/" else list(home) if glob.anchor == "~" else list(project)
    if not glob.anchor and segments and segments[0] is None:
        bases.append("")
    for name in names:
        whole = split_path(fold(name))
        for base in bases:
            rest = _below(fold(base), whole)
            if rest is None:
                continue
            if _match(segments, rest) or _match((*segments, None), rest):
                return True
    return False


@lru_cache(maxsize=4096)
def required_name(text: str) -> str | None:
    """Return a name, as `names_of` returns it, that is in each path which `catches` finds; None if there is none."""
    for segment in reversed(_loose(text).segments):
        if segment and all(isinstance(token, str) for token in segment):
            return "".join(token for token in segment if isinstance(token, str))
    return None


def names_of(path: str) -> tuple[str, ...]:
    """Return the names in an absolute path, without differences that file systems may ignore."""
    return split_path(fold(path))


def _below(base: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    start = split_path(base)
    return names[len(start) :] if names[: len(start)] == start else None


def _match(segments: Sequence[Segment], names: Sequence[str]) -> bool:
    """Match names against segments, where `**` matches any number of names."""
    at = place = 0
    back, since = -1, 0
    while place < len(names):
        segment = segments[at] if at < len(segments) else ()
        if segment is None:
            back, since = at, place
            at += 1
        elif segment and _match_name(segment, names[place]):
            at, place = at + 1, place + 1
        elif back >= 0:
            since += 1
            at, place = back + 1, since
        else:
            return False
    # `x/**` matches what is below x, but not x itself; `**` alone matches everything.
    return at == len(segments) or (at == 0 and segments[0] is None and len(segments) == 1)


def _match_name(tokens: tuple[Token, ...], name: str) -> bool:
    """Match the characters of one name against tokens, in the same way."""
    at = place = 0
    back, since = -1, 0
    while place < len(name):
        token = tokens[at] if at < len(tokens) else None
        if token is STAR:
            back, since = at, place
            at += 1
        elif token is not None and _is(token, name[place]):
            at, place = at + 1, place + 1
        elif back >= 0:
            since += 1
            at, place = back + 1, since
        else:
            return False
    return all(token is STAR for token in tokens[at:])


def _is(token: Token, char: str) -> bool:
    if isinstance(token, str):
        return token == char
    return token.has(char) if isinstance(token, _Any) else isinstance(token, _One)


def fixed_part(text: str, home: str) -> str | None:
    """Return the directory or file that contains all matches of an absolute pattern; None for relative ones."""
    pattern = read(text)
    if not pattern.anchor:
        return None
    names = [home.rstrip("/")] if pattern.anchor == "~" else [""]
    for segment in pattern.segments:
        if segment is None or not all(isinstance(token, str) for token in segment):
            break
        names.append("".join(token for token in segment if isinstance(token, str)))
    return "/".join(names) or "/"
