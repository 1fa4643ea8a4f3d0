"""Questions on a plain terminal: numbered options, forms field by field. No colours are needed to read them.

Questions are printed to standard error, answers read from the terminal; waiting can be cancelled at any time."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from accord.model.requests import Elicitation, PermissionOption, PermissionRequest, Reply
from accord.model.tool import Diff

_MOST_LINES = 60


class Terminal:
    """The person at the terminal."""

    def __init__(self, fd: int | None = None) -> None:
        self._fd = fd if fd is not None else _terminal()
        self._buffer = b""

    @property
    def is_there(self) -> bool:
        """Whether anybody can be asked."""
        return self._fd is not None

    def say(self, text: str = "") -> None:
        print(text, file=sys.stderr, flush=True)

    async def line(self, question: str) -> str | None:
        """One line typed by the person; None at the end of input."""
        assert self._fd is not None
        print(question, end="", file=sys.stderr, flush=True)
        loop = asyncio.get_running_loop()
        while b"\n" not in self._buffer:
            ready: asyncio.Future[None] = loop.create_future()
            loop.add_reader(self._fd, _set, ready)
            try:
                await ready
            finally:
                loop.remove_reader(self._fd)
            got = os.read(self._fd, 4096)
            if not got:
                return None
            self._buffer += got
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    async def choose(self, question: str, names: Sequence[str]) -> int | None:
        """The place of the chosen one; None at the end of input."""
        while True:
            said = await self.line(question)
            if said is None:
                return None
            if said.isdigit() and 1 <= int(said) <= len(names):
                return int(said) - 1
            starting = [index for index, name in enumerate(names) if said and name.lower().startswith(said.lower())]
            if len(starting) == 1:
                return starting[0]
            self.say(f"Please type a number from 1 to {len(names)}.")


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _terminal() -> int | None:
    if sys.stdin is not None and sys.stdin.isatty():
        return sys.stdin.fileno()
    return None


async def ask_permission(terminal: Terminal, request: PermissionRequest, why: str = "") -> PermissionOption | None:
    """Shows what would happen and the agent's own options; gives the chosen one."""
    terminal.say()
    terminal.say(f"Permission: {request.title}")
    if request.description:
        terminal.say(request.description)
    if request.command:
        terminal.say(f"  command: {request.command}")
    if request.tool_call is not None:
        for place in request.tool_call.locations:
            terminal.say(f"  file: {place.path}{f':{place.line}' if place.line else ''}")
        for item in request.tool_call.content:
            if isinstance(item, Diff):
                _show(terminal, item.patch)
    if why:
        terminal.say(f"  asked because {why}")
    for number, option in enumerate(request.options, 1):
        terminal.say(f"  {number}. {option.name}")
    chosen = await terminal.choose("Your choice: ", [option.name for option in request.options])
    return None if chosen is None else request.options[chosen]


def _show(terminal: Terminal, patch: str) -> None:
    lines = patch.splitlines()
    for line in lines[:_MOST_LINES]:
        terminal.say(f"  {line}")
    if len(lines) > _MOST_LINES:
        terminal.say(f"  … and {len(lines) - _MOST_LINES} lines more")


async def fill_form(terminal: Terminal, question: Elicitation, agent: str) -> Reply:
    """Asks field by field. An empty line takes the default, or leaves an optional field out; end of input cancels."""
    terminal.say()
    terminal.say(f"{agent} asks: {question.message}")
    if question.mode == "url":
        return await _visit(terminal, question)
    filled: dict[str, Any] = {}
    required = question.schema.get("required") or []
    for name, shape in (question.schema.get("properties") or {}).items():
        value = await _field(terminal, name, shape, name in required)
        if value is _GONE:
            return Reply(action="cancel")
        if value is not None:
            filled[name] = value
    choice = await terminal.choose("Send this? 1. yes  2. no: ", ["yes", "no"])
    if choice is None:
        return Reply(action="cancel")
    return Reply(action="accept", content=filled) if choice == 0 else Reply(action="decline")


async def _visit(terminal: Terminal, question: Elicitation) -> Reply:
    host = urlsplit(question.url or "").hostname or "?"
    terminal.say(f"  page: {question.url}")
    terminal.say(f"  host: {host}{'  (a look-alike name: be careful)' if 'xn--' in host else ''}")
    choice = await terminal.choose("Open it yourself, then choose. 1. done  2. no: ", ["done", "no"])
    if choice is None:
        return Reply(action="cancel")
    return Reply(action="accept" if choice == 0 else "decline")


_GONE = object()


async def _field(terminal: Terminal, name: str, shape: dict[str, Any], required: bool) -> Any:
    title = shape.get("title") or name
    if shape.get("description"):
        terminal.say(f"  {shape['description']}")
    default = shape.get("default")
    choices = _choices(shape)
    for number, (_, label) in enumerate(choices, 1):
        terminal.say(f"    {number}. {label}")
    hint = f" [{default}]" if default is not None else "" if required else " (may be left empty)"
    while True:
        said = await terminal.line(f"  {title}{hint}: ")
        if said is None:
            return _GONE
        if not said:
            if default is not None or not required:
                return default
            terminal.say("    This one is needed.")
            continue
        value, complaint = _read(shape, choices, said)
        if complaint is None:
            return value
        terminal.say(f"    {complaint}")


def _choices(shape: dict[str, Any]) -> list[tuple[Any, str]]:
    items = shape.get("items") or {}
    titled = shape.get("oneOf") or items.get("anyOf") or []
    plain = shape.get("enum") or items.get("enum") or []
    if titled:
        return [(row["const"], row.get("title") or str(row["const"])) for row in titled]
    return [(value, str(value)) for value in plain]


def _read(shape: dict[str, Any], choices: list[tuple[Any, str]], said: str) -> tuple[Any, str | None]:
    """What was typed as a value of the field, or what is wrong with it."""
    match shape.get("type"):
        case "boolean":
            if said.lower() in ("y", "yes", "true", "1"):
                return True, None
            if said.lower() in ("n", "no", "false", "0"):
                return False, None
            return None, "Please type yes or no."
        case "integer" | "number" as kind:
            return _number(shape, said, whole=kind == "integer")
        case "array":
            picked = [_pick(choices, part) for part in re.split(r"[,\s]+", said) if part]
            if any(value is None for value in picked):
                return None, "Please type numbers from the list, with commas between."
            return _counted(shape, picked)
        case _ if choices:
            value = _pick(choices, said)
            return (value, None) if value is not None else (None, f"Please type a number from 1 to {len(choices)}.")
        case _:
            return _text(shape, said)


def _pick(choices: list[tuple[Any, str]], said: str) -> Any:
    if said.isdigit() and 1 <= int(said) <= len(choices):
        return choices[int(said) - 1][0]
    return next((value for value, label in choices if said in (str(value), label)), None)


def _number(shape: dict[str, Any], said: str, *, whole: bool) -> tuple[Any, str | None]:
    try:
        value = int(said) if whole else float(said)
    except ValueError:
        return None, "Please type a whole number." if whole else "Please type a number."
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
    # An agent's pattern may be made to take for ever: it is a hint here, and the agent checks the answer again.
    return said, None


def _range(low: Any, high: Any) -> str:
    told = [f"at least {low}"] if low is not None else []
    told += [f"at most {high}"] if high is not None else []
    return " and ".join(told)


async def ask_policy(terminal: Terminal, question: Any) -> Any:
    """A question of the policy: about an agent's own request, or about something it is simply doing."""
    if question.request is not None:
        option = await ask_permission(terminal, question.request, question.why)
        return option.id if option is not None else None
    action = question.action
    terminal.say()
    terminal.say(
        f"The agent wants to {'run' if action.line else action.kind}: {action.line or ', '.join(action.paths)}"
    )
    terminal.say(f"  asked because {question.why}")
    for number, choice in enumerate(question.choices, 1):
        terminal.say(f"  {number}. {choice.name}")
    chosen = await terminal.choose("Your choice: ", [choice.name for choice in question.choices])
    return None if chosen is None else question.choices[chosen]
