"""The schema of a tool's arguments as every model provider takes it: one object, no references."""

from __future__ import annotations

from typing import Any

MOST_NODES = 5_000
DEEPEST = 64


class _TooMuch(Exception):
    """Written out, the schema would be far larger than it is."""


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A server's schema with its definitions written out where they are used.

    What refers to itself is left open there; a schema that would grow out of bounds stays as it came."""
    left = MOST_NODES

    def written_out(value: Any, within: tuple[str, ...], depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > DEEPEST:
            raise _TooMuch
        if isinstance(value, list):
            return [written_out(item, within, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            beside = {key: item for key, item in value.items() if key != "$ref"}
            if reference in within:
                return beside
            target = _target(schema, reference)
            found = written_out(target, (*within, reference), depth + 1)
            return {**found, **beside} if isinstance(found, dict) else beside
        return {
            key: written_out(item, within, depth + 1)
            for key, item in value.items()
            if key not in ("$defs", "definitions", "$schema", "$id") or depth > 0
        }

    try:
        whole: dict[str, Any] = written_out(schema, (), 0)
    except _TooMuch:
        whole = dict(schema)
    if whole.get("type") != "object":
        whole["type"] = "object"
    whole.setdefault("properties", {})
    return whole


def _target(schema: dict[str, Any], reference: str) -> Any:
    """What a reference inside the same document means; anything, where it means nothing."""
    if not reference.startswith("#/"):
        return {}
    here: Any = schema
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, dict) or step not in here:
            return {}
        here = here[step]
    return here
