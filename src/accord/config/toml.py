"""Write the subset of TOML that we need: tables of strings, numbers, times, lists and tables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from accord.errors import ConfigError


def table_text(name: str, fields: Mapping[str, object]) -> str:
    """Render a table."""
    lines = [f"[{name}]"]
    lines += [f"{_key(key)} = {value_text(value)}" for key, value in fields.items()]
    return "\n".join(lines) + "\n"


def value_text(value: object) -> str:
    """Render a value. Raises `ConfigError` for text that can't be encoded."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _string(value)
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Mapping():
            return "{ " + ", ".join(f"{_key(key)} = {value_text(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(value_text(item) for item in value) + "]"
        case _:
            raise TypeError(f"can't write {type(value).__name__} as TOML")


def _key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else _string(key)


def _string(text: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    # Escape invisible characters, so that users see them.
    shown = [short.get(char) or (char if char.isprintable() else _escape(char)) for char in text]
    return '"' + "".join(shown) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise ConfigError("text that isn't valid Unicode can't be saved in a file")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
