"""Describe what is wrong with the arguments of a call, in the terms of its schema."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import inspect

from accord.coder.tools.arguments import strip_optional

HIDDEN = "x-hidden"
"""Marks a field, in `extra_json_schema`, that isn't in the schema for models: an alias of the tool implies it."""
_PLACE = re.compile(r"(.*?)(?: - at `(?:key in )?\$\.?([^`]*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.+)`")
_TYPE = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_NAMES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
}


def describe_invalid(error: msgspec.ValidationError, struct: type) -> str:
    """Describe what `msgspec` found, and list the arguments of the struct."""
    found = _PLACE.fullmatch(str(error))
    words, place = (found[1], found[2] or "") if found else (str(error), "")
    name, is_item, _ = place.partition("[")
    inner = _find_type(struct, [name]) if is_item else None
    item = strip_optional(inner.item_type) if isinstance(inner, inspect.ListType) else None
    if isinstance(item, inspect.StructType):
        return f"{_describe(words, place, struct)}. An item of {name} has {_list_fields(item)}"
    shape = inspect.type_info(struct)
    assert isinstance(shape, inspect.StructType)
    return f"{_describe(words, place, struct)}. Its arguments: {_list_fields(shape)}"


def _list_fields(shape: inspect.StructType) -> str:
    return ", ".join(f"{field.name} (required)" if field.required else field.name for field in _visible(shape))


def _visible(shape: inspect.StructType) -> list[inspect.Field]:
    return [
        field
        for field in shape.fields
        if not (isinstance(field.type, inspect.Metadata) and HIDDEN in (field.type.extra_json_schema or {}))
    ]


def _describe(words: str, place: str, struct: type) -> str:
    if missing := _MISSING.fullmatch(words):
        return f"{f'{place}.' if place else ''}{missing[1]} is missing"
    if kinds := _TYPE.fullmatch(words):
        wanted = " or ".join(_NAMES.get(name, name) for name in kinds[1].split(" | ") if name != "null")
        advice = "; make a separate call for each" if kinds[2] == "array" and wanted == "a string" else ""
        return f"{place} must be {wanted}, not {_NAMES.get(kinds[2], kinds[2])}{advice}"
    if words.startswith("Invalid enum value"):
        given = words.removeprefix("Invalid enum value").strip()
        choices = _choices(struct, re.sub(r"\[\d+\]|\[\.\.\.\]", "", place).split("."))
        return f"{place} can't be {given}" + (f"; it is one of {', '.join(choices)}" if choices else "")
    if words.endswith("of length >= 1"):
        return f"{place} must not be empty"
    return f"{place}: {words}" if place else words


def _choices(struct: type, names: list[str]) -> list[str]:
    """Return the values that a field can have, by its path from the struct."""
    kind = _find_type(struct, names)
    return [str(value) for value in kind.values] if isinstance(kind, inspect.LiteralType) else []


def _find_type(struct: type, names: list[str]) -> inspect.Type | None:
    """Return the type of a field, by its path from the struct."""
    kind: inspect.Type = inspect.type_info(struct)
    for name in names:
        if isinstance(kind, inspect.ListType):
            kind = strip_optional(kind.item_type)
        if not isinstance(kind, inspect.StructType):
            return None
        field: Any = next((each for each in kind.fields if each.name == name), None)
        if field is None:
            return None
        kind = strip_optional(field.type)
    return kind
