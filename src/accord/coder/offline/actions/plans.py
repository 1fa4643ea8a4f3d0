"""Plans and todos, both of which are shown to the user as the plan."""

from __future__ import annotations

import re
from typing import Any

from accord.coder.offline import requests as r
from accord.coder.offline.actions.commands import inspect_project
from accord.coder.offline.replies import hits_in, join_names, pluralize
from accord.coder.offline.script import Script, Situation, Stopped, Todo, call, use

MARKS = {"completed": "x", "in_progress": ">"}
_COMMON_WORDS = """
the and for with that this into from make plan change nothing should would could when then than have will must
also each every some more less able add adding new support feature implement implementing write create use
using file files code project function class user users want need how what where which let get set can not all
any its our out over under page fix fixing
"""
COMMON = frozenset(_COMMON_WORDS.split())
"""Words that say nothing about where to look."""


def entries(todos: list[Todo]) -> list[dict[str, Any]]:
    """Convert todos to the arguments of `set_plan`."""
    return [{"content": todo.content, "status": todo.status} for todo in todos][:100]


def list_todos(todos: list[Todo]) -> str:
    return "\n".join(f"{index}. [{MARKS.get(todo.status, ' ')}] {todo.content}" for index, todo in enumerate(todos, 1))


def make(step: r.MakePlan, situation: Situation) -> Script[str]:
    situation.require("set_plan")
    steps = _split_topic(step.topic)
    if steps:
        origin = "from your steps"
    else:
        steps = yield from _research(step.topic, situation)
        origin = "from a search of the project (without a language model, it says where to look, not what to write)"
    open_todos = [todo for todo in situation.todos if todo.status != "completed"]
    situation.todos = [*open_todos, *(Todo(line) for line in steps)]
    yield from use(situation, "Publishing the plan…", call("set_plan", steps=entries(situation.todos)))
    return f"The plan, {origin}:\n\n{list_todos(situation.todos)}"


def _split_topic(topic: str) -> list[str]:
    """Split a topic that lists its steps, in lines or separated by "then" or semicolons."""
    parts = re.split(r"\n\s*(?:[-*•]|\d+[.)])?\s*|\s*;\s*|,?\s+(?:and\s+)?then\s+", topic[:20_000])
    parts = [
        re.sub(r"^(?:(?:[-*•]|\d+[.)])\s+|(?:and|then|first|finally)\b,?\s+)+", "", part.strip()).rstrip(".")
        for part in parts
    ]
    parts = [part[:1].upper() + part[1:300] for part in parts if part]
    return parts[:50] if len(parts) > 1 else []


def keywords(topic: str) -> list[str]:
    """Return the words of a topic that may occur in the code: identifiers first, then the longest words."""
    words = re.findall(r"[A-Za-z_][\w.]{2,40}", topic[:2000])
    words = [word.rstrip(".") for word in words if word.lower().rstrip(".") not in COMMON]
    names = [word for word in words if re.search(r"[_.]|[a-z][A-Z]", word)]
    rest = sorted((word for word in words if word not in names and len(word) > 3), key=lambda word: (-len(word), word))
    return list(dict.fromkeys([*names, *rest]))[:3]


def _research(topic: str, situation: Situation) -> Script[list[str]]:
    words = keywords(topic)
    files: list[str] = []
    if words and "search" in situation.tools:
        results = yield from use(
            situation,
            f"Searching the project for {join_names(words)}…",
            *(call("search", pattern=word, literal=True, ignore_case=True, limit=50) for word in words),
            lenient=True,
        )
        places = [hit.path for result in results if not result.failed for hit in hits_in(result)]
        files = sorted(dict.fromkeys(places), key=lambda path: (-places.count(path), path))
    tests = lint = None
    if {"list_files", "read_file"} <= situation.tools:
        project = yield from inspect_project(situation, "Looking for the test command…")
        tests, lint = project.command("test"), project.command("lint")
    is_test = re.compile(r"(?:^|/)tests?/|(?:^|/)test_|_test\.|\.test\.")
    sources = [path for path in files if not is_test.search(path)][:4]
    checks = [path for path in files if is_test.search(path)][:2]
    short = " ".join(topic.split())[:160]
    steps = [
        f"Read {', '.join(sources)}" if sources else "Find where it belongs: nothing in the project mentions it yet"
    ]
    steps += [f"Implement it: {short}"]
    steps += [f"Extend the tests in {', '.join(checks)}" if checks else "Write a test for it"]
    steps += [f"Run the tests: {tests[0]}"] if tests else ["Try it"]
    steps += [f"Run the linter: {lint[0]}"] if lint and lint != tests else []
    return steps


def add(step: r.AddTodo, situation: Situation) -> Script[str]:
    yield from use(situation, "", call("set_plan", steps=entries([Todo(step.text)]), append=True))
    if not any(todo.content == step.text and todo.status != "completed" for todo in situation.todos):
        situation.todos.append(Todo(step.text))
    number = next(index for index, todo in enumerate(situation.todos, 1) if todo.content == step.text)
    return f"Saved as todo {number}: {step.text}"


def show(step: r.ShowTodos, situation: Situation) -> Script[str]:
    yield from ()
    if not situation.todos:
        return "There are no todos. Say `remember to …` or `make a plan for …`."
    left = sum(todo.status != "completed" for todo in situation.todos)
    return f"{pluralize(left, 'todo')} of {len(situation.todos)} open:\n\n{list_todos(situation.todos)}"


def mark(step: r.MarkTodo, situation: Situation) -> Script[str]:
    number = len(situation.todos) if step.number < 0 else step.number
    if not 1 <= number <= len(situation.todos):
        have = pluralize(len(situation.todos), "todo") if situation.todos else "no todos"
        raise Stopped(f"There is no todo {number}; you have {have}.")
    changed = situation.todos[number - 1]._replace(status=step.status)
    situation.todos[number - 1] = changed
    yield from use(situation, "", call("set_plan", steps=entries(situation.todos)))
    left = sum(todo.status != "completed" for todo in situation.todos)
    words = {"completed": "done", "pending": "open again", "in_progress": "in progress"}[step.status]
    return f"Todo {number} is {words}: {changed.content}. {pluralize(left, 'todo')} left."
