"""Parse JSON with comments and trailing commas, as editors write it, and record the position of everything.

The positions allow changes to the text that leave the rest of it untouched."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from accord.errors import ConfigError

_SPACE = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_OTHER = re.compile(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])")
_MAX_DEPTH = 200


class Member(NamedTuple):
    """A key of an object with its value."""

    key: str
    start: int
    value: Node


class Node(NamedTuple):
    """A value, and its position in the text."""

    start: int
    end: int
    data: Any
    """The value; numbers are kept as text."""
    members: list[Member] | None = None
    """For an object: its keys in order, including duplicates."""
    comma: bool = False
    """For an object: whether it has a trailing comma."""

    def get(self, key: str) -> Node | None:
        """Return the value of a key. Raises `ConfigError` if the key is duplicated."""
        found = [member.value for member in self.members or [] if member.key == key]
        if len(found) > 1:
            raise ConfigError(f"the key {key!r} is duplicated")
        return found[0] if found else None


class Document(NamedTuple):
    """A parsed text: its value, if any, and its comments."""

    root: Node | None
    comments: list[tuple[int, int]]


class _Number(str):
    """A number as written, which doesn't equal a string with the same characters."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Number) and str.__eq__(self, other)

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return str(self)


def read(text: str) -> Document:
    """Parse a text. The `ConfigError` names the line of a syntax error."""
    reader = _Reader(text)
    reader.skip()
    root = None if reader.at == len(text) else reader.value(0)
    reader.skip()
    if reader.at != len(text):
        raise reader.error("unexpected text after the end")
    return Document(root, reader.comments)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.comments: list[tuple[int, int]] = []

    def error(self, what: str) -> ConfigError:
        line = self.text.count("\n", 0, self.at) + 1
        return ConfigError(f"line {line}: {what}")

    def skip(self) -> None:
        """Skip whitespace and comments."""
        while True:
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif comment := _COMMENT.match(self.text, self.at):
                self.comments.append(comment.span())
                self.at = comment.end()
            else:
                return

    def value(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.error("nested too deeply")
        start, opening = self.at, self.text[self.at : self.at + 1]
        if opening == "{":
            return self._object(depth)
        if opening == "[":
            return self._array(depth)
        if opening == '"':
            text = self._string()
            return Node(start, self.at, text)
        word = _OTHER.match(self.text, self.at)
        if word is None:
            raise self.error("a value is missing" if not opening or opening in ",}]" else "invalid JSON")
        self.at = word.end()
        known = {"true": True, "false": False, "null": None}
        return Node(start, self.at, known[word[0]] if word[0] in known else _Number(word[0]))

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.error("unterminated or invalid string")
        self.at = found.end()
        text = json.loads(found[0])
        assert isinstance(text, str)
        return text

    def _object(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        members: list[Member] = []
        data: dict[str, Any] = {}
        comma = False
        while True:
            self.skip()
            if self.text[self.at : self.at + 1] == "}":
                self.at += 1
                return Node(start, self.at, data, members, comma)
            if members and not comma:
                raise self.error("a comma or } is missing")
            key_at = self.at
            if self.text[self.at : self.at + 1] != '"':
                raise self.error("a key is missing")
            key = self._string()
            self.skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self.error(f"missing colon after the key {key[:40]!r}")
            self.at += 1
            self.skip()
            value = self.value(depth + 1)
            members.append(Member(key, key_at, value))
            data[key] = value.data
            comma = self._comma()

    def _array(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        data: list[Any] = []
        comma = True
        while True:
            self.skip()
            if self.text[self.at : self.at + 1] == "]":
                self.at += 1
                return Node(start, self.at, data)
            if not comma:
                raise self.error("a comma or ] is missing")
            data.append(self.value(depth + 1).data)
            comma = self._comma()

    def _comma(self) -> bool:
        self.skip()
        if self.text[self.at : self.at + 1] != ",":
            return False
        self.at += 1
        return True
