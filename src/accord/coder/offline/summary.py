"""Summarize a conversation: requests, files read and changed, commands, failures and open todos."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.coder.history import Call, Message, ModelSaid, Result, Summary, ToolsSaid, UserSaid
from accord.coder.offline.context import TODOS, collect_todos, iterate_calls, prompt_text_of

MAX_ENTRIES = 30
"""Maximum number of entries per section; the last ones are kept."""
MAX_EARLIER_CHARACTERS = 6_000
"""Maximum length of the previous summary to keep."""
INTERRUPTED = "The last request was still running when this summary was written; don't start it again."


def summarize(messages: Sequence[Message]) -> str:
    """Summarize a conversation deterministically. The agent can continue from the summary alone."""
    sections = [
        ("## Earlier", _earlier(messages)),
        ("## Requests", _list_requests(messages)),
        ("## Changed", _list_changes(messages)),
        ("## Read", _read(messages)),
        ("## Run", _run(messages)),
        ("## Failed", _list_failures(messages)),
    ]
    lines = [f"{head}\n{body}" for head, body in sections if body]
    if not lines:
        return "There are no messages yet."
    if messages and isinstance(messages[-1], ToolsSaid):
        lines.append(INTERRUPTED)
    remembered = collect_todos(messages)
    if remembered:
        marks = {"completed": "x", "in_progress": ">"}
        lines.append("\n".join([TODOS, *(f"- [{marks.get(todo.status, ' ')}] {todo.content}" for todo in remembered)]))
    return "\n\n".join(lines)


def _earlier(messages: Sequence[Message]) -> str:
    text = next((message.text for message in reversed(messages) if isinstance(message, Summary)), "")
    text = text.partition(TODOS)[0].replace(INTERRUPTED, "").strip()
    text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
    return text if len(text) <= MAX_EARLIER_CHARACTERS else "… " + text[-MAX_EARLIER_CHARACTERS:].partition("\n")[2]


def _list_requests(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, UserSaid):
            answer = ""
            for following in messages[index + 1 : index + 200]:
                if isinstance(following, UserSaid):
                    break
                if isinstance(following, ModelSaid) and following.text.strip():
                    answer = following.text
            files = sum(1 for piece in message.content if piece.__class__.__name__ in ("ResourceLink", "Resource"))
            words = _short(prompt_text_of(message), 200) or f"({files} attached)"
            lines.append(f"- {words}" + (f" → {_first(answer)}" if answer.strip() else ""))
    return _last(lines)


def _find_succeeded(messages: Sequence[Message], *names: str) -> list[tuple[Call, Result]]:
    return [
        (call, result)
        for call, result, _ in iterate_calls(messages)
        if call.name in names and result and not result.failed
    ]


def _list_changes(messages: Sequence[Message]) -> str:
    words = {"write_file": "wrote", "edit_file": "edited", "move_or_delete": "deleted"}
    lines = []
    for call, _ in _find_succeeded(messages, *words):
        path, destination = call.arguments.get("file_path"), call.arguments.get("destination")
        lines.append(f"- moved `{path}` to `{destination}`" if destination else f"- {words[call.name]} `{path}`")
    return _last(list(dict.fromkeys(lines)))


def _read(messages: Sequence[Message]) -> str:
    paths = [
        str(call.arguments.get("file_path" if call.name == "read_file" else "path", "."))
        for call, _ in _find_succeeded(messages, "read_file", "outline")
    ]
    return _last([f"- `{path}`" for path in dict.fromkeys(paths)])


def _run(messages: Sequence[Message]) -> str:
    lines = []
    for call, result in _find_succeeded(messages, "run_command"):
        status = f": exit {result.data['exitCode']}" if "exitCode" in result.data else ""
        lines.append(f"- `{_short(str(call.arguments.get('command', '')), 120)}`{status}")
    return _last(lines)


def _list_failures(messages: Sequence[Message]) -> str:
    failed = [(call, result) for call, result, _ in iterate_calls(messages) if result and result.failed]
    return _last([f"- {call.name}: {_short(result.text, 160)}" for call, result in failed])


def _first(answer: str) -> str:
    """Return the first sentence or two of a reply, without code."""
    return _short(answer.strip().partition("\n\n")[0].partition("```")[0], 200)


def _last(lines: list[str]) -> str:
    left = len(lines) - MAX_ENTRIES
    return "\n".join([f"- … {left} earlier", *lines[-MAX_ENTRIES:]] if left > 0 else lines)


def _short(text: str, most: int) -> str:
    line = " ".join(text[: most * 8].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
