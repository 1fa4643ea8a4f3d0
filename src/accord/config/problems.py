"""Describe problems in configuration files: the line, the setting, the value found, and the expected values."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from accord.config.toml import value_text

_TYPES = {
    "str": "a string",
    "array": "a list",
    "object": "a table",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
_SYNTAX_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


def describe_syntax_error(message: str) -> str:
    """Describe a TOML syntax error, starting with its position."""
    found = _SYNTAX_PLACE.search(message)
    if found is None:
        return message
    problem = message[: found.start()].strip()
    return f"line {found[1]}, column {found[2]}: {problem[:1].lower()}{problem[1:]}; expected TOML"


def locate(text: str, keys: Sequence[str]) -> str:
    """Return the line of a setting, if found, and its name."""
    line = find_line(text, keys)
    return f"{f'line {line}: ' if line else ''}{'.'.join(keys)}"


def translate(message: str, kind: type) -> tuple[list[str], str]:
    """Translate a validation error of msgspec. Returns the keys that lead to the problem, and its description."""
    what, _, path = message.partition(" - at `$")
    keys = [key for key in re.split(r"[.\[\]`]+", path) if key and key != ""]
    if unknown := re.match(r"Object contains unknown field `(.+)`", what):
        known = [field.encode_name for field in msgspec.structs.fields(_inner(kind, keys))]
        return [*keys, unknown[1]], f"unknown setting; expected {', '.join(known)}"
    if missing := re.match(r"Object missing required field `(.+)`", what):
        return keys, f"{missing[1]} is missing"
    if value := re.match(r"Invalid enum value '(.*)'", what):
        choices = [str(choice) for choice in _choices(kind, keys)]
        return keys, f"found {value[1]!r}; expected {', '.join(choices)}"
    if types := re.match(r"Expected `([^`]+)`, got `([^`]+)`", what):
        expected = [_TYPES.get(each, each) for each in types[1].split(" | ") if each != "null"]
        return keys, f"found {_TYPES.get(types[2], types[2])}; expected {' or '.join(expected)}"
    return keys, what.replace("`", "")


def _inner(kind: type[msgspec.Struct], keys: Sequence[str]) -> type[msgspec.Struct]:
    """Return the class that a path of fields leads to."""
    for key in keys:
        field = next((each for each in msgspec.structs.fields(kind) if each.encode_name == key), None)
        inner = [each for each in (field.type, *get_args(field.type)) if _is_struct(each)] if field else []
        if inner:
            kind = inner[0]
    return kind


def _choices(kind: type[msgspec.Struct], keys: Sequence[str]) -> list[Any]:
    for field in msgspec.structs.fields(kind):
        if keys and field.encode_name == keys[-1]:
            literals = [arg for each in (field.type, *get_args(field.type)) for arg in get_args(each)]
            return [choice for choice in dict.fromkeys(literals) if isinstance(choice, str)]
    return []


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def find_line(text: str, keys: Sequence[str | int], value: str | None = None) -> int | None:
    """Find the line of a setting, or of the innermost table around it; a number is an index into a list of tables.

    With `value`, find the line below it that contains that text, if any."""
    best, found = 0, None
    table: list[str | int] = []
    tables: Counter[tuple[str, ...]] = Counter()
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        named = _parse_name(line)
        if named is None:
            continue
        if line.lstrip().startswith("["):
            path = table = [*named]
            if line.lstrip().startswith("[["):
                table.append(tables[tuple(named)])
                tables[tuple(named)] += 1
        else:
            path = [*table, *named]
        shared = 0
        for ours, theirs in zip(path, keys, strict=False):
            if ours != theirs:
                break
            shared += 1
        if shared > best:
            best, found = shared, number
    if found is not None and value:
        spelled = (value, value_text(value)[1:-1])
        return next((at for at in range(found, len(lines) + 1) if any(t in lines[at - 1] for t in spelled)), found)
    return found


def _parse_name(line: str) -> list[str] | None:
    """Return the key or table that a line names."""
    stripped = line.strip()
    if not stripped or stripped.startswith("#"):
        return None
    heading = re.match(r"\[\[?([^\[\]]+)\]\]?\s*(#.*)?$", stripped)
    key = heading[1] if heading else stripped.partition("=")[0] if "=" in stripped else None
    if key is None:
        return None
    try:
        inner: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(inner, dict):
        (name, inner), *_ = inner.items()
        names.append(name)
    return names
