"""What a question is about, drawn: facts before words of the agent's own, which could be of any length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text
from textual.strip import Strip

from accord.tui.conversation import diff as diffs
from accord.tui.plain import one_line, plain

if TYPE_CHECKING:
    from accord.policy.choices import Question
    from accord.tui.look import Look

_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}
_WORDS = re.compile(r"[\s'\"`“”:,;()]+")


def what_would_happen(question: Question, look: Look, width: int, *, context: int, cwd: str) -> list[Strip]:
    """The action that is asked about, and then what the agent says of it; `context` is how many lines around a change
    are shown."""
    action, request = question.action, question.request
    lines: list[Strip] = []
    if request is not None:
        lines += look.draw(Text(one_line(request.title, 2 * width), style="bold"), width)
    else:
        verb = _VERBS.get(action.kind, one_line(action.kind))
        what = "this command" if action.line is not None else ", ".join(action.paths) or action.url or action.title
        lines += look.draw(Text(plain(f"The agent wants to {verb} {what}"), style="bold"), width)
    if action.line is not None:
        lines += look.draw(Text(plain(f"$ {action.line}"), style=look.accent), width)
        where = ", ".join([f"in {action.cwd}"] if action.cwd else [])
        with_ = " ".join(f"{name}={value}" for name, value in action.env)
        if where or with_:
            lines += look.draw(Text(plain(" ".join(filter(None, [where, with_]))), style=look.dim), width)
    if action.url:
        lines += look.draw(Text(plain(action.url), style=look.primary), width)
    if request is not None:
        changes = request.tool_call.diffs if request.tool_call is not None else []
        changed = {change.path for diff in changes for change in diff.changes}
        for path in action.paths:
            if path not in changed and not _names(request.title, path.removeprefix(f"{cwd}/")):
                lines += look.draw(Text(plain(path), style=look.primary), width)
        for diff in changes:  # little around it: the change itself is to be seen first
            lines += diffs.draw(
                diff, look, width, side_by_side=True, cwd=cwd, context=context, named=plain(request.title)
            )
        if request.description:  # after the facts: it is the agent's own, and can be of any length
            lines += look.draw(Text(plain(request.description)), width)
    return lines


def _names(title: str, path: str) -> bool:
    """Whether a title names this very file. A word such as `a` may be meant as a word."""
    return not path.isalpha() and path in _WORDS.split(title)
