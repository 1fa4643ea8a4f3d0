"""The action of a permission request as lines, with its change; and the reason for asking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text
from textual.strip import Strip

from accord.terminal_text import one_line, sanitize
from accord.tui.transcript.blocks import diff as diffs

if TYPE_CHECKING:
    from accord.policy.question import Question
    from accord.tui.theme import TextStyles

_MAX_VERB = len("Running ``")
_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}
_WORDS = re.compile(r"[\s'\"`“”:,;()]+")


def render_action(question: Question, text_styles: TextStyles, width: int, *, context: int, cwd: str) -> list[Strip]:
    """Render the action, and then the agent's description; `context` is the number of lines to show around a change."""
    action, request = question.action, question.request
    lines: list[Strip] = []
    if request is not None:
        title = request.title
        if action.line is None or not _repeats_command(title, action.line):
            lines += text_styles.draw(Text(one_line(title, 2 * width), style="bold"), width)
    else:
        verb = _VERBS.get(action.kind, one_line(action.kind))
        subject = "this command" if action.line is not None else ", ".join(action.paths) or action.url or action.title
        title = _in_one_line(f"The agent wants to {verb} {subject}")
        lines += text_styles.draw(Text(sanitize(title), style="bold"), width)
    if action.line is not None:
        lines += text_styles.draw(Text(sanitize(f"$ {action.line}"), style=text_styles.strong), width)
        directory = f"in {action.cwd}" if action.cwd and action.cwd != cwd else ""
        variables = " ".join(f"{name}={value}" for name, value in action.env)
        if details := " ".join(filter(None, [directory, variables])):
            lines += text_styles.draw(Text(sanitize(details), style=text_styles.dim), width)
    if action.url:
        lines += text_styles.draw(Text(sanitize(_in_one_line(action.url)), style=text_styles.accent), width)
    changed = {change.path for diff in action.changes for change in diff.changes}
    if request is not None:
        for path in action.paths:
            if path not in changed and not _names(title, path.removeprefix(f"{cwd}/")):
                lines += text_styles.draw(Text(sanitize(_in_one_line(path))), width)
    if action.change_note:
        lines += text_styles.draw(Text(action.change_note), width)
    for diff in action.changes:  # little context, so that the change itself is visible
        lines += diffs.draw(
            diff, text_styles, width, side_by_side=True, cwd=cwd, context=context, named=sanitize(title)
        )
    # Below the action itself, because the agent's text can have any length.
    if request is not None and request.description:
        lines += text_styles.draw(Text(sanitize(request.description)), width)
    return lines


def _repeats_command(title: str, line: str) -> bool:
    """Return whether a title is the command, perhaps after a word such as `Run`: the command itself is shown anyway."""
    text, command = one_line(title, 10_000), one_line(line, 10_000)
    return command in text and len(text) - len(command) <= _MAX_VERB


def _in_one_line(text: str) -> str:
    """Make line breaks in a name visible, so that it can't look like several lines."""
    return text.replace("\n", "␊")


def _names(title: str, path: str) -> bool:
    """Return whether a title contains this file name. A word such as `a` may be just a word."""
    return not path.isalpha() and path in _WORDS.split(title)
