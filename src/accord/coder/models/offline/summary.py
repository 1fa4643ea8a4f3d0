"""A conversation in short: what was asked, what was looked at and changed, what failed, what is still to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.coder.history import Call, Message, ModelSaid, Result, Summary, ToolsSaid, UserSaid
from accord.coder.models.offline.memory import TODOS, calls, text_of, todos

MOST = 30
"""How many requests, files and commands are named: the last ones."""
EARLIER = 6_000
"""How much of an earlier summary is kept, in characters."""
BROKEN_OFF = "The last request was being carried out when this was written; it is not to be begun again."


def summary_of(messages: Sequence[Message]) -> str:
    """A summary of a conversation, the same for the same messages. The agent can go on from it alone."""
    sections = [
        ("## Earlier", _earlier(messages)),
        ("## Asked for", _asked(messages)),
        ("## Changed", _changed(messages)),
        ("## Read", _read(messages)),
        ("## Run", _run(messages)),
        ("## Failed", _failed(messages)),
    ]
    lines = [f"{head}\n{body}" for head, body in sections if body]
    if not lines:
        return "Nothing has been said yet."
    if messages and isinstance(messages[-1], ToolsSaid):
        lines.append(BROKEN_OFF)
    remembered = todos(messages)
    if remembered:
        marks = {"completed": "x", "in_progress": ">"}
        lines.append("\n".join([TODOS, *(f"- [{marks.get(todo.status, ' ')}] {todo.content}" for todo in remembered)]))
    return "\n\n".join(lines)


def _earlier(messages: Sequence[Message]) -> str:
    text = next((message.text for message in reversed(messages) if isinstance(message, Summary)), "")
    text = text.partition(TODOS)[0].replace(BROKEN_OFF, "").strip()
    text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
    return text if len(text) <= EARLIER else "… " + text[-EARLIER:].partition("\n")[2]


def _asked(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, UserSaid):
            answer = ""
            for following in messages[index + 1 : index + 200]:
                if isinstance(following, UserSaid):
                    break
                if isinstance(following, ModelSaid) and following.text.strip():
                    answer = following.text
            files = sum(1 for piece in message.content if piece.__class__.__name__ in ("Link", "Resource"))
            words = _short(text_of(message), 200) or f"({files} attached)"
            lines.append(f"- {words}" + (f" → {_first(answer)}" if answer.strip() else ""))
    return _last(lines)


def _done(messages: Sequence[Message], *names: str) -> list[tuple[Call, Result]]:
    return [
        (call, result) for call, result, _ in calls(messages) if call.name in names and result and not result.failed
    ]


def _changed(messages: Sequence[Message]) -> str:
    words = {"write_file": "wrote", "edit_file": "edited", "delete_file": "deleted"}
    lines = []
    for call, _ in _done(messages, "write_file", "edit_file", "delete_file", "move_file"):
        if call.name == "move_file":
            lines.append(f"- moved `{call.arguments.get('source')}` to `{call.arguments.get('target')}`")
        else:
            lines.append(f"- {words[call.name]} `{call.arguments.get('path')}`")
    return _last(list(dict.fromkeys(lines)))


def _read(messages: Sequence[Message]) -> str:
    paths = [str(call.arguments.get("path", ".")) for call, _ in _done(messages, "read_file", "outline")]
    return _last([f"- `{path}`" for path in dict.fromkeys(paths)])


def _run(messages: Sequence[Message]) -> str:
    lines = []
    for call, result in _done(messages, "run_command"):
        status = result.text.partition("\n")[0].strip("[]")
        lines.append(f"- `{_short(str(call.arguments.get('command', '')), 120)}`: {_short(status, 60)}")
    return _last(lines)


def _failed(messages: Sequence[Message]) -> str:
    failed = [(call, result) for call, result, _ in calls(messages) if result and result.failed]
    return _last([f"- {call.name}: {_short(result.text, 160)}" for call, result in failed])


def _first(answer: str) -> str:
    """The first sentence or two of an answer, without what it shows."""
    return _short(answer.strip().partition("\n\n")[0].partition("```")[0], 200)


def _last(lines: list[str]) -> str:
    left = len(lines) - MOST
    return "\n".join([f"- … {left} before these", *lines[-MOST:]] if left > 0 else lines)


def _short(text: str, most: int) -> str:
    line = " ".join(text[: most * 8].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
