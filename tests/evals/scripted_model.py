"""A model that solves a task by its script, on the server of a provider API.

It tests the agent, not the model: a call goes through the provider's wire format, the permission and the tool."""

from __future__ import annotations

from typing import Any

from coder.providers.script import Calls, Says, Step, Thinks, Usage
from coder.providers.server import FakeProvider
from evals.task import Edit, Task

SPENT = Usage(input=500, output=50, cached_read=3_000)


def load_script(provider: FakeProvider, task: Task) -> int:
    """Plan the answers to the requests of a task; return how many there are."""
    answers: list[list[Step]] = [[Thinks("First I look."), *_number(_reads(task))]]
    answers += [[*_number([call])] for call in _changes(task.solution)]
    if task.command is not None:
        answers.append([*_number([("run_command", {"command": task.command})])])
    answers.append([Says(task.reply)])
    for steps in answers:
        provider.says(*steps, usage=SPENT)
    return len(answers)


def _reads(task: Task) -> list[tuple[str, dict[str, Any]]]:
    """Read all that is edited; with nothing to edit, search the first file."""
    paths = dict.fromkeys(edit.path for edit in task.solution if edit.old is not None)
    if paths:
        return [("read_file", {"file_path": path}) for path in paths]
    return [("search", {"pattern": r"worker \d|[A-Za-z]{4,}", "path": next(iter(task.files))})]


def _changes(solution: list[Edit]) -> list[tuple[str, dict[str, Any]]]:
    edits: dict[str, list[dict[str, str]]] = {}
    calls: list[tuple[str, dict[str, Any]]] = []
    for edit in solution:
        if edit.old is None:
            calls.append(("write_file", {"file_path": edit.path, "content": edit.new}))
            continue
        if edit.path not in edits:
            edits[edit.path] = []
            calls.append(("edit_file", {"file_path": edit.path, "edits": edits[edit.path]}))
        edits[edit.path].append({"old_string": edit.old, "new_string": edit.new})
    return calls


def _number(calls: list[tuple[str, dict[str, Any]]]) -> list[Step]:
    return [Calls(name, arguments, id=f"call_{number}") for number, (name, arguments) in enumerate(calls)]
