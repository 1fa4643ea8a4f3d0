"""Ask the user on a plain terminal: permission requests, logins, forms and pages to visit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accord.cli.support.terminal import Terminal
from accord.client.form import choices_of, host_of, is_known, read
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest, Reply
from accord.policy.question import Choice, Question
from accord.policy.rule import format_conditions
from accord.terminal_text import escape, escape_line

if TYPE_CHECKING:
    from accord.policy.action import Action


_PAGE_LINES = 60
"""Lines shown before the user is prompted to continue."""
_PATCH_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}


async def ask_policy(terminal: Terminal, question: Question) -> Choice | None:
    """Ask the user about an agent's permission request, or about an action that it attempts without asking.

    Everything is shown, page by page, so that users see all of what they agree to."""
    async with terminal.question():
        about = (
            _request(question.request, question.action) if question.request is not None else _action(question.action)
        )
        changes = _changes(question.action)
        lines = [*about, *changes, *_agent_description(question.request)]
        lines.append(f"  why you are asked: {escape_line(question.describe_reason())}")
        if not await _show(terminal, lines, range(len(about), len(about) + len(changes))):
            return question.choice("reject_once")
        words = _words(question)
        keys = {index: f"  ({word})" for word, index in words.items() if len(word) == 1}
        for number, choice in enumerate(question.choices):
            name = _on_one_line(choice.name)
            terminal.say(f"  {number + 1}. {name}{keys.get(number, '')}{_remembers(choice)}")
        names = [choice.name for choice in question.choices]
        # With ten or more choices, a digit could be the first of two.
        chosen = await terminal.choose("Your choice: ", names, words, by_key=len(names) < 10)
        return None if chosen is None else question.choices[chosen]


async def _show(terminal: Terminal, lines: Sequence[str], patch: range) -> bool:
    """Show lines page by page, those in `patch` in colors. Returns False if the user rejects before the end."""
    for start in range(0, len(lines), _PAGE_LINES):
        for number, line in enumerate(lines[start : start + _PAGE_LINES], start):
            color = _PATCH_COLORS.get(line[2:3], "") if number in patch else ""
            terminal.say(line, color)
        left = len(lines) - start - _PAGE_LINES
        if left > 0:
            said = await terminal.line(f"  {left} more lines. Enter: show, n: reject: ")
            if said is None or said.casefold() in ("n", "no", "q"):
                return False
    return True


def _words(question: Question) -> dict[str, int]:
    """Map yes and no to allowing and rejecting once, where offered."""
    words: dict[str, int] = {}
    for kind, said in (("allow_once", ("y", "yes")), ("reject_once", ("n", "no"))):
        choice = question.choice(kind)
        if choice is not None:
            words |= dict.fromkeys(said, question.choices.index(choice))
    return words


def _remembers(choice: Choice) -> str:
    if not choice.rules or choice.scope == "once":
        return ""
    rules = "; ".join(_on_one_line(format_conditions(rule)) for rule in choice.rules)
    return f"  (remembered{' for this session' if choice.scope == 'session' else ''}: {rules})"


def _action(action: Action) -> list[str]:
    verb = _VERBS.get(action.kind, escape_line(action.kind))
    if action.line is None:
        what = ", ".join(action.paths) or action.url or action.title
        return [f"The agent wants to {verb} {_on_one_line(what)}"]
    lines = [f"The agent wants to {verb}:", *_indent(action.line)]
    lines += [f"  in {_on_one_line(action.cwd)}"] if action.cwd else []
    return lines + [f"  with {_on_one_line(f'{name}={value}')}" for name, value in action.env]


def _request(request: PermissionRequest, action: Action) -> list[str]:
    lines = [f"Permission: {escape_line(request.title)}"]
    if action.line is not None:
        lines += ["  command:", *_indent(action.line, "    ")]
    lines += [f"  address: {_on_one_line(action.url)}"] if action.url else []
    return lines + [f"  file: {_on_one_line(path)}" for path in action.paths]


def _changes(action: Action) -> list[str]:
    lines = [f"  {action.change_note}"] if action.change_note else []
    for diff in action.changes:
        patch = _indent(diff.patch)
        only = diff.changes[0] if len(diff.changes) == 1 else None
        if only is not None and only.operation == "modify" and (only.path,) == action.paths:
            # The file is named above, and the patch would repeat its name three times.
            start = next((number for number, line in enumerate(patch) if line.startswith("  @@ ")), 0)
            patch = patch[start:]
        if any(change.is_fragment for change in diff.changes):  # its line numbers are unknown
            patch = [line for line in patch if not line.startswith("  @@ ")]
        lines += patch
    return lines


def _agent_description(request: PermissionRequest | None) -> list[str]:
    """Quote the agent's description, marked as such so that it can't imitate the facts."""
    text = request.description if request is not None else None
    return ["  the agent says:", *_indent(text, "  | ")] if text else []


def _indent(text: str, by: str = "  ") -> list[str]:
    return [by + line for line in escape(text).removesuffix("\n").split("\n")] if text else []


def _on_one_line(text: str) -> str:
    """Put a text on one line without truncating it."""
    return escape(text).replace("\n", "\\n")


async def ask_login(terminal: Terminal, methods: list[AuthMethod]) -> AuthMethod | None:
    """Ask how to log in; None if the user doesn't want to."""
    async with terminal.question():
        terminal.say("The agent requires a login:")
        names = [method.name for method in methods] + ["Don't log in"]
        for number, name in enumerate(names, 1):
            method = methods[number - 1] if number <= len(methods) else None
            about = method.description if method is not None else None
            terminal.say(f"  {number}. {escape_line(name)}{f' ({escape_line(about)})' if about else ''}")
            if method is not None and method.command is not None:  # not the agent's own program: say which
                terminal.say(f"     runs: {escape_line(shlex.join([method.command, *method.args]))}")
        chosen = await terminal.choose("Your choice: ", names)
        return methods[chosen] if chosen is not None and chosen < len(methods) else None


_GONE = object()


async def fill_form(terminal: Terminal, question: Elicitation, agent: str) -> Reply:
    """Ask field by field. An empty line takes the default, or skips an optional field; end of input cancels."""
    async with terminal.question():
        terminal.say(f"{escape_line(agent)} asks: {escape_line(question.message, 2000)}")
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
    """Show the address and its host. Never opens it: that's the user's decision."""
    terminal.say(f"  page: {escape_line(question.url or '', 2000)}")
    terminal.say(f"  host: {_host(question.url or '')}")
    ask = "Open the page yourself, then choose. 1. done  2. decline: "
    choice = await terminal.choose(ask, ["done", "decline"], {"n": 1, "no": 1})
    if choice is None:
        return Reply(action="cancel")
    return Reply(action="accept" if choice == 0 else "decline")


def _host(url: str) -> str:
    host, doubts = host_of(url)
    return f"{escape_line(host)} (be careful: {'; '.join(doubts)})" if doubts else escape_line(host)


async def _field(terminal: Terminal, name: str, shape: dict[str, Any], required: bool) -> Any:
    title = escape_line(str(shape.get("title") or name))
    if not is_known(shape):
        needed = ", but it is required: the form can't be sent" if required else ""
        terminal.say(f"  {title}: this kind of field can't be filled in here{needed}.")
        return _GONE if required else None
    if shape.get("description"):
        terminal.say(f"  {escape_line(str(shape['description']), 2000)}")
    choices = choices_of(shape)
    for number, (_, label) in enumerate(choices, 1):
        terminal.say(f"    {number}. {escape_line(label)}")
    default = shape.get("default")
    empty = "" if required else " (optional)"
    hint = empty if default is None else f" [{_format_value(default, choices)}]"
    while True:
        said = await terminal.line(f"  {title}{hint}: ")
        if said is None:
            return _GONE
        if not said:
            if default is not None or not required:
                return default
            terminal.say("    This field is required.")
            continue
        value, complaint = read(shape, choices, said)
        if complaint is None:
            return value
        terminal.say(f"    {complaint}")


def _format_value(value: Any, choices: list[tuple[Any, str]]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_format_value(each, choices) for each in value)
    return escape_line(next((label for known, label in choices if known == value), str(value)))
