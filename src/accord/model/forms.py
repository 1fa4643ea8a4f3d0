"""Check a reply against the schema of its form. Clients check it too, but an agent can't rely on that.

Patterns and formats aren't checked: their meaning differs between languages, and some patterns take forever."""

from __future__ import annotations

from typing import Any


def fits(schema: dict[str, Any], content: dict[str, Any] | None) -> bool:
    """Return whether all required fields are present, and every field has a valid type and value."""
    answer = content or {}
    fields: dict[str, Any] = schema.get("properties") or {}
    if any(name not in answer for name in schema.get("required") or ()):
        return False
    return all(_field(fields[name], value) for name, value in answer.items() if name in fields)


def _field(shape: dict[str, Any], value: Any) -> bool:
    match shape.get("type"):
        case "string":
            return isinstance(value, str) and _within(len(value), shape, "Length") and _chosen(shape, value)
        case "integer":
            return _is_number(value) and value == int(value) and _between(value, shape)
        case "number":
            return _is_number(value) and _between(value, shape)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            items = shape.get("items") or {}
            return (
                isinstance(value, list)
                and _within(len(value), shape, "Items")
                and all(isinstance(item, str) and _chosen(items, item) for item in value)
            )
    return True  # an unknown type


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _between(value: float, shape: dict[str, Any]) -> bool:
    minimum, maximum = shape.get("minimum"), shape.get("maximum")
    return (minimum is None or value >= minimum) and (maximum is None or value <= maximum)


def _within(size: int, shape: dict[str, Any], what: str) -> bool:
    minimum, maximum = shape.get(f"min{what}"), shape.get(f"max{what}")
    return (minimum is None or size >= minimum) and (maximum is None or size <= maximum)


def _chosen(shape: dict[str, Any], value: str) -> bool:
    """Return whether a value is one of the choices, if there are any."""
    listed = [row["const"] for row in shape.get("oneOf") or shape.get("anyOf") or ()] or shape.get("enum")
    return not listed or value in listed
