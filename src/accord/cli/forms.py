"""An agent's questions to a person, on a plain terminal: a form field by field, or a page to visit."""

from __future__ import annotations

from typing import Any

from accord.cli.terminal import Terminal
from accord.cli.words import one_line
from accord.client.form import choices_of, host_of, read
from accord.model.requests import Elicitation, Reply

_GONE = object()


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
    host, doubts = host_of(url)
    return f"{one_line(host)} (be careful: {'; '.join(doubts)})" if doubts else one_line(host)


async def _field(terminal: Terminal, name: str, shape: dict[str, Any], required: bool) -> Any:
    title = one_line(str(shape.get("title") or name))
    if shape.get("description"):
        terminal.say(f"  {one_line(str(shape['description']), 2000)}")
    choices = choices_of(shape)
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


def _shown(value: Any, choices: list[tuple[Any, str]]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(each, choices) for each in value)
    return one_line(next((label for known, label in choices if known == value), str(value)))
