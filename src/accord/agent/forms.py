"""Whether an answer fits the form it was asked for with. Clients check that too; an agent does not rely on it.

Patterns and formats are not looked at: what they mean differs between languages, and some patterns never end."""

from __future__ import annotations

from typing import Any


def fits(schema: dict[str, Any], content: dict[str, Any] | None) -> bool:
    """Whether every field is of its kind and within its bounds, and those that must be there are."""
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
    return True  # of a kind that nobody here knows


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _between(value: float, shape: dict[str, Any]) -> bool:
    least, most = shape.get("minimum"), shape.get("maximum")
    return (least is None or value >= least) and (most is None or value <= most)


def _within(size: int, shape: dict[str, Any], what: str) -> bool:
    least, most = shape.get(f"min{what}"), shape.get(f"max{what}")
    return (least is None or size >= least) and (most is None or size <= most)


def _chosen(shape: dict[str, Any], value: str) -> bool:
    """Whether a value is among the choices, where there are any."""
    listed = [row["const"] for row in shape.get("oneOf") or shape.get("anyOf") or ()] or shape.get("enum")
    return not listed or value in listed
