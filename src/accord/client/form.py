"""The fields of a form that an agent asks to be filled in: what can be chosen, what was typed, what is wrong with it.

Whoever shows a form, in lines or in windows, reads it by these."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

_YES, _NO = ("y", "yes", "true", "on", "1"), ("n", "no", "false", "off", "0")


def choices_of(shape: dict[str, Any]) -> list[tuple[Any, str]]:
    """The values to choose from, and what each is called."""
    items = shape.get("items")
    items = items if isinstance(items, dict) else {}
    titled = shape.get("oneOf") or items.get("anyOf") or items.get("oneOf") or []
    plain = shape.get("enum") or items.get("enum") or []
    if titled:
        return [(row["const"], str(row.get("title") or row["const"])) for row in titled if "const" in row]
    names = shape.get("enumNames") or []
    return [(value, str(names[place]) if place < len(names) else str(value)) for place, value in enumerate(plain)]


def pick(said: str, names: Sequence[str]) -> int | None:
    """Which of the names was meant: by its number, by itself, or by its beginning if no other begins so."""
    if said.isdecimal():
        return int(said) - 1 if 1 <= int(said) <= len(names) else None
    low = [name.lower() for name in names]
    if said.lower() in low:
        return low.index(said.lower())
    starting = [place for place, name in enumerate(low) if said and name.startswith(said.lower())]
    return starting[0] if len(starting) == 1 else None


def read(shape: dict[str, Any], choices: list[tuple[Any, str]], said: str) -> tuple[Any, str | None]:
    """What was typed as a value of the field, or what is wrong with it."""
    match shape.get("type"):
        case "boolean":
            if said.lower() in _YES:
                return True, None
            if said.lower() in _NO:
                return False, None
            return None, "Please type yes or no."
        case "integer" | "number" as kind:
            return _number(shape, said, whole=kind == "integer")
        case "array":
            parts = said.split(",") if "," in said else said.split()
            places = [place_of(choices, part.strip()) for part in parts if part.strip()]
            if any(place is None for place in places):
                return None, "Please type numbers from the list, with commas between."
            return counted(shape, [choices[place][0] for place in dict.fromkeys(places) if place is not None])
        case _ if choices:
            place = place_of(choices, said)
            if place is None:
                return None, f"Please type a number from 1 to {len(choices)}, or the beginning of a name."
            return choices[place][0], None
        case _:
            return _text(shape, said)


def place_of(choices: list[tuple[Any, str]], said: str) -> int | None:
    """Which choice was meant: by its number, its name, or its value."""
    place = pick(said, [label for _, label in choices])
    return place if place is not None else next((at for at, (value, _) in enumerate(choices) if said == value), None)


def _number(shape: dict[str, Any], said: str, *, whole: bool) -> tuple[Any, str | None]:
    try:
        value = int(said) if whole else float(said)
    except ValueError:
        return None, "Please type a whole number." if whole else "Please type a number."
    if not math.isfinite(value):
        return None, "Please type a number."
    low, high = shape.get("minimum"), shape.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        return None, f"It must be {_range(low, high)}."
    return value, None


def counted(shape: dict[str, Any], picked: list[Any]) -> tuple[Any, str | None]:
    """What was picked from a list, or that it is too few or too many."""
    low, high = shape.get("minItems"), shape.get("maxItems")
    if (low is not None and len(picked) < low) or (high is not None and len(picked) > high):
        return None, f"Please choose {_range(low, high)}."
    return picked, None


def _text(shape: dict[str, Any], said: str) -> tuple[Any, str | None]:
    low, high = shape.get("minLength"), shape.get("maxLength")
    if (low is not None and len(said) < low) or (high is not None and len(said) > high):
        return None, f"It must have {_range(low, high)} characters."
    complaint = _FORMATS.get(str(shape.get("format")), _anything)(said)
    # An agent's pattern may be made to take for ever: it is a hint here, and the agent checks the answer again.
    return (said, None) if complaint is None else (None, complaint)


def _anything(said: str) -> str | None:
    return None


def _email(said: str) -> str | None:
    return None if re.fullmatch(r"[^@\s]+@[^@\s]+", said) else "Please type an e-mail address."


def _uri(said: str) -> str | None:
    return (
        None if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", said) else "Please type an address with its scheme (https://…)."
    )


def _date(said: str) -> str | None:
    try:
        date.fromisoformat(said)
    except ValueError:
        return "Please type a date such as 2030-01-31."
    return None


def _moment(said: str) -> str | None:
    try:
        datetime.fromisoformat(said)
    except ValueError:
        return "Please type a date and time such as 2030-01-31T12:00:00Z."
    return None


_FORMATS = {"email": _email, "uri": _uri, "date": _date, "date-time": _moment}


def _range(low: Any, high: Any) -> str:
    told = [f"at least {low:g}"] if low is not None else []
    told += [f"at most {high:g}"] if high is not None else []
    return " and ".join(told)


def host_of(url: str) -> tuple[str, list[str]]:
    """The host that an address leads to, and what is doubtful about it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or "?"
    except ValueError:
        return "?", ["this is no address"]
    doubts = ["what stands before the @ is not the host"] if parts.username is not None else []
    if not host.isascii() or "xn--" in host:
        doubts.append("its letters may only look like those of another name")
    if parts.scheme != "https":
        doubts.append(f"not over https but {parts.scheme or 'nothing'}")
    return host, doubts
