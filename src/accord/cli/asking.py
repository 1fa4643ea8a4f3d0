"""Questions of the policy and of logins, on a plain terminal: what would happen, and numbered answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.cli.terminal import Terminal
from accord.cli.words import fit, one_line
from accord.model.requests import AuthMethod, PermissionRequest
from accord.model.tool import Diff
from accord.policy.choices import Choice, Question
from accord.policy.text import conditions

if TYPE_CHECKING:
    from accord.policy.action import Action

_MOST_LINES = 60
_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}


async def ask_policy(terminal: Terminal, question: Question) -> Choice | None:
    """A question of the policy: about an agent's own request, or about something it is simply doing."""
    async with terminal.question():
        if question.request is not None:
            _show_request(terminal, question.request, question.action)
        else:
            _show_action(terminal, question.action)
        terminal.say(f"  asked because {one_line(question.why)}")
        for number, choice in enumerate(question.choices, 1):
            terminal.say(f"  {number}. {one_line(choice.name)}{_remembers(choice)}")
        names = [choice.name for choice in question.choices]
        chosen = await terminal.choose("Your choice: ", names, _words(question))
        return None if chosen is None else question.choices[chosen]


def _words(question: Question) -> dict[str, int]:
    """Yes and no mean this once, where that is offered."""
    words: dict[str, int] = {}
    for kind, said in (("allow_once", ("y", "yes")), ("reject_once", ("n", "no"))):
        choice = question.choice(kind)
        if choice is not None:
            words |= dict.fromkeys(said, question.choices.index(choice))
    return words


def _remembers(choice: Choice) -> str:
    if not choice.rules or choice.scope == "once":
        return ""
    rules = "; ".join(one_line(conditions(rule)) for rule in choice.rules)
    return f"  (remembered{' for this session' if choice.scope == 'session' else ''}: {rules})"


def _show_action(terminal: Terminal, action: Action) -> None:
    verb = _VERBS.get(action.kind, one_line(action.kind))
    if action.line is not None:
        terminal.say(f"The agent wants to {verb}:")
        _indented(terminal, action.line)
        if action.cwd:
            terminal.say(f"  in {one_line(action.cwd)}")
        if action.env:
            terminal.say(f"  with {one_line(', '.join(f'{name}={value}' for name, value in action.env))}")
    else:
        what = ", ".join(action.paths) or action.url or action.title
        terminal.say(f"The agent wants to {verb} {one_line(what, 2000)}")


def _show_request(terminal: Terminal, request: PermissionRequest, action: Action) -> None:
    terminal.say(f"Permission: {one_line(request.title)}")
    if request.description:
        _indented(terminal, request.description)
    if action.line is not None:
        terminal.say("  command:")
        _indented(terminal, action.line, "    ")
    if action.url:
        terminal.say(f"  address: {one_line(action.url, 2000)}")
    for path in action.paths:
        terminal.say(f"  file: {one_line(path, 2000)}")
    if request.tool_call is not None:
        for item in request.tool_call.content:
            if isinstance(item, Diff):
                _indented(terminal, item.patch)


def _indented(terminal: Terminal, text: str, by: str = "  ") -> None:
    lines = fit(text).splitlines()
    for line in lines[:_MOST_LINES]:
        terminal.say(by + line)
    if len(lines) > _MOST_LINES:
        terminal.say(f"{by}… and {len(lines) - _MOST_LINES} lines more")


async def ask_login(terminal: Terminal, methods: list[AuthMethod]) -> AuthMethod | None:
    """How to log in, when the agent demands it; None for not at all."""
    async with terminal.question():
        terminal.say("The agent wants you to log in first:")
        names = [method.name for method in methods] + ["Do not log in"]
        for number, name in enumerate(names, 1):
            about = methods[number - 1].description if number <= len(methods) else None
            terminal.say(f"  {number}. {one_line(name)}{f' ({one_line(about)})' if about else ''}")
        chosen = await terminal.choose("Your choice: ", names)
        return methods[chosen] if chosen is not None and chosen < len(methods) else None
