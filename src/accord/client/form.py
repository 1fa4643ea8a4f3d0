"""The fields of an agent's form: list the choices, parse and check the user's input. Used by every UI."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

_YES, _NO = ("y", "yes", "true", "on", "1"), ("n", "no", "false", "off", "0")
_KINDS = ("string", "number", "integer", "boolean", "array")


def is_known(shape: dict[str, Any]) -> bool:
    """Return whether the type of a field is supported. The protocol forbids showing an unknown type as a known one."""
    return shape.get("type", "string") in _KINDS


def choices_of(shape: dict[str, Any]) -> list[tuple[Any, str]]:
    """Return the values to choose from, and their names."""
    items = shape.get("items")
    items = items if isinstance(items, dict) else {}
    titled = shape.get("oneOf") or items.get("anyOf") or items.get("oneOf") or []
    plain = shape.get("enum") or items.get("enum") or []
    if titled:
        return [(row["const"], str(row.get("title") or row["const"])) for row in titled if "const" in row]
    names = shape.get("enumNames") or []
    return [(value, str(names[index]) if index < len(names) else str(value)) for index, value in enumerate(plain)]


def pick(typed: str, names: Sequence[str]) -> int | None:
    """Find the name that the user chose by its number, the name itself, or an unambiguous prefix."""
    if typed.isdecimal():
        return int(typed) - 1 if 1 <= int(typed) <= len(names) else None
    low = [name.lower() for name in names]
    if typed.lower() in low:
        return low.index(typed.lower())
    matches = [index for index, name in enumerate(low) if typed and name.startswith(typed.lower())]
    return matches[0] if len(matches) == 1 else None


def read(shape: dict[str, Any], choices: list[tuple[Any, str]], typed: str) -> tuple[Any, str | None]:
    """Parse the user's input as a value of the field. Returns the value, or an error message."""
    match shape.get("type"):
        case "boolean":
            if typed.lower() in _YES:
                return True, None
            if typed.lower() in _NO:
                return False, None
            return None, "Please type yes or no."
        case "integer" | "number" as kind:
            return _number(shape, typed, whole=kind == "integer")
        case "array":
            parts = typed.split(",") if "," in typed else typed.split()
            indexes = [find_choice(choices, part.strip()) for part in parts if part.strip()]
            if any(index is None for index in indexes):
                return None, "Please type numbers from the list, with commas between."
            return check_count(shape, [choices[index][0] for index in dict.fromkeys(indexes) if index is not None])
        case _ if choices:
            index = find_choice(choices, typed)
            if index is None:
                return None, f"Please type a number from 1 to {len(choices)}, or the start of a name."
            return choices[index][0], None
        case _:
            return _text(shape, typed)


def find_choice(choices: list[tuple[Any, str]], typed: str) -> int | None:
    """Find the choice that the user typed by its number, name or value."""
    index = pick(typed, [label for _, label in choices])
    return index if index is not None else next((at for at, (value, _) in enumerate(choices) if typed == value), None)


def _number(shape: dict[str, Any], typed: str, *, whole: bool) -> tuple[Any, str | None]:
    try:
        value = int(typed) if whole else float(typed)
    except ValueError:
        return None, "Please type a whole number." if whole else "Please type a number."
    if not math.isfinite(value):
        return None, "Please type a number."
    low, high = shape.get("minimum"), shape.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        return None, f"It must be {_range(low, high)}."
    return value, None


def check_count(shape: dict[str, Any], picked: list[Any]) -> tuple[Any, str | None]:
    """Check how many items were chosen from a list. Returns the items, or an error message."""
    low, high = shape.get("minItems"), shape.get("maxItems")
    if (low is not None and len(picked) < low) or (high is not None and len(picked) > high):
        return None, f"Please choose {_range(low, high)}."
    return picked, None


def _text(shape: dict[str, Any], typed: str) -> tuple[Any, str | None]:
    low, high = shape.get("minLength"), shape.get("maxLength")
    if (low is not None and len(typed) < low) or (high is not None and len(typed) > high):
        return None, f"It must have {_range(low, high)} characters."
    problem = _FORMATS.get(str(shape.get("format")), _any_text)(typed)
    # The pattern isn't checked: an agent could send one that takes forever, and it checks the answer itself.
    return (typed, None) if problem is None else (None, problem)


def _any_text(typed: str) -> str | None:
    return None


def _email(typed: str) -> str | None:
    return None if re.fullmatch(r"[^@\s]+@[^@\s]+", typed) else "Please type an e-mail address."


def _uri(typed: str) -> str | None:
    return (
        None
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", typed)
        else "Please type an address with its scheme (https://…)."
    )


def _date(typed: str) -> str | None:
    try:
        date.fromisoformat(typed)
    except ValueError:
        return "Please type a date such as 2030-01-31."
    return None


def _date_time(typed: str) -> str | None:
    try:
        datetime.fromisoformat(typed)
    except ValueError:
        return "Please type a date and time such as 2030-01-31T12:00:00Z."
    return None


_FORMATS = {"email": _email, "uri": _uri, "date": _date, "date-time": _date_time}


def _range(low: Any, high: Any) -> str:
    bounds = [f"at least {low:g}"] if low is not None else []
    bounds += [f"at most {high:g}"] if high is not None else []
    return " and ".join(bounds)


def host_of(url: str) -> tuple[str, list[str]]:
    """Return the host of a URL, and warnings about it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or "?"
    except ValueError:
        return "?", ["this isn't a valid address"]
    warnings = ["the part before the @ is not the host"] if parts.username is not None else []
    if not host.isascii() or "xn--" in host:
        warnings.append("its letters may imitate those of another name")
    if parts.scheme != "https":
        warnings.append(f"not https but {parts.scheme or 'no scheme'}")
    return host, warnings
