"""Writes the little TOML we write: a table of strings, lists of strings, and tables of strings."""

from __future__ import annotations

from collections.abc import Mapping


def table_text(name: str, fields: Mapping[str, object]) -> str:
    """One table with its fields."""
    lines = [f"[{name}]"]
    lines += [f"{_key(key)} = {value_text(value)}" for key, value in fields.items()]
    return "\n".join(lines) + "\n"


def value_text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _string(value)
        case Mapping():
            return "{ " + ", ".join(f"{_key(key)} = {value_text(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(value_text(item) for item in value) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} has no place in our TOML")


def _key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else _string(key)


def _string(text: str) -> str:
    escaped = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
    out = [escaped.get(char, char if ord(char) >= 32 and ord(char) != 127 else f"\\u{ord(char):04x}") for char in text]
    return '"' + "".join(out) + '"'
