"""An agent's questions to a person, on a plain terminal: a form field by field, or a page to visit."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from accord.cli.terminal import Terminal, pick
from accord.cli.words import one_line
from accord.model.requests import Elicitation, Reply

_GONE = object()
_YES, _NO = ("y", "yes", "true", "on", "1"), ("n", "no", "false", "off", "0")


async def fill_form(terminal: Terminal, question: Elicitation, agent: str) -> Reply:
    """Asks field by field. An empty line takes the default, or leaves an optional field out; end of input cancels."""
    async with terminal.question():
        terminal.say(f"{one_line(agent)} asks: {one_line(question.message, 2000)}")
        if question.mode == "url":
            return await _visit(terminal, question)
        filled: dict[str, Any] = {}
        required = question.schema.get("required") or []
        for name, shape in (question.schema.get("properties") or {}).items():
            value = await _field(terminal, name, shape if isinstance(shape, dict) else {}, name in required)
            if value is _GONE:
                return Reply(action="cancel")
            if value is not None:
                filled[name] = value
        choice = await terminal.choose("Send this? 1. yes  2. no: ", ["yes", "no"])
        if choice is None:
            return Reply(action="cancel")
        return Reply(action="accept", content=filled) if choice == 0 else Reply(action="decline")


async def _visit(terminal: Terminal, question: Elicitation) -> Reply:
    """Nothing is opened from here: the person sees where the address leads, and goes there or not."""
    terminal.say(f"  page: {one_line(question.url or '', 2000)}")
    terminal.say(f"  host: {_host(question.url or '')}")
    choice = await terminal.choose("Open it yourself, then choose. 1. done  2. no: ", ["done", "no"])
    if choice is None:
        return Reply(action="cancel")
    return Reply(action="accept" if choice == 0 else "decline")


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or "?"
    except ValueError:
        return "? (this is no address; be careful)"
    doubts = ["what stands before the @ is not the host"] if parts.username is not None else []
    if not host.isascii() or "xn--" in host:
        doubts.append("its letters may only look like those of another name")
    if parts.scheme != "https":
        doubts.append(f"not over https but {parts.scheme or 'nothing'}")
    return f"{one_line(host)} (be careful: {'; '.join(doubts)})" if doubts else one_line(host)


async def _field(terminal: Terminal, name: str, shape: dict[str, Any], required: bool) -> Any:
    title = one_line(str(shape.get("title") or name))
    if shape.get("description"):
        terminal.say(f"  {one_line(str(shape['description']), 2000)}")
    choices = _choices(shape)
    for number, (_, label) in enumerate(choices, 1):
        terminal.say(f"    {number}. {one_line(label)}")
    default = shape.get("default")
    empty = "" if required else " (may be left empty)"
    hint = empty if default is None else f" [{_shown(default, choices)}]"
    while True:
        said = await terminal.line(f"  {title}{hint}: ")
        if said is None:
            return _GONE
        if not said:
            if default is not None or not required:
                return default
            terminal.say("    This one is needed.")
            continue
        value, complaint = read(shape, choices, said)
        if complaint is None:
            return value
        terminal.say(f"    {complaint}")


def _choices(shape: dict[str, Any]) -> list[tuple[Any, str]]:
    """The values to choose from, and what each is called."""
    items = shape.get("items")
    items = items if isinstance(items, dict) else {}
    titled = shape.get("oneOf") or items.get("anyOf") or items.get("oneOf") or []
    plain = shape.get("enum") or items.get("enum") or []
    if titled:
        return [(row["const"], str(row.get("title") or row["const"])) for row in titled if "const" in row]
    names = shape.get("enumNames") or []
    return [(value, str(names[place]) if place < len(names) else str(value)) for place, value in enumerate(plain)]


def _shown(value: Any, choices: list[tuple[Any, str]]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(each, choices) for each in value)
    return one_line(next((label for known, label in choices if known == value), str(value)))


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
            places = [_place(choices, part.strip()) for part in parts if part.strip()]
            if any(place is None for place in places):
                return None, "Please type numbers from the list, with commas between."
            return _counted(shape, [choices[place][0] for place in dict.fromkeys(places) if place is not None])
        case _ if choices:
            place = _place(choices, said)
            if place is None:
                return None, f"Please type a number from 1 to {len(choices)}, or the beginning of a name."
            return choices[place][0], None
        case _:
            return _text(shape, said)


def _place(choices: list[tuple[Any, str]], said: str) -> int | None:
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


def _counted(shape: dict[str, Any], picked: list[Any]) -> tuple[Any, str | None]:
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
