"""What a tool was given and gave, raw: as text to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from accord.tui.plain import size_of

_LONG, _MANY = 4000, 200
"""Characters of a text, and items of a list, that are shown."""


def as_json(value: Any, *, clip: bool = True, flat: bool = False) -> str:
    """A value to be read, on many lines or on one; a text as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(
            _clipped(value) if clip else value, ensure_ascii=False, indent=None if flat else 2, default=str
        )
    except (TypeError, ValueError, RecursionError):
        return str(value)


def words_of(value: Any) -> Iterator[str]:
    """All that a value says, names of fields left out, and zero and yes and no."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value:
        yield str(value)
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from words_of(each)


def _clipped(value: Any) -> Any:
    """The same, with what is too long in it cut: an agent may send megabytes here."""
    if isinstance(value, str):
        return value if len(value) <= _LONG else f"{value[:_LONG]}… ({size_of(len(value))} in all)"
    if isinstance(value, dict):
        return {key: _clipped(value[key]) for key in list(value)[:_MANY]}
    if isinstance(value, list):
        return [_clipped(each) for each in value[:_MANY]]
    return value
