"""Plans and todos: both are the plan that the user sees."""

from __future__ import annotations

import re
from typing import Any

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import counted, hits, named
from accord.coder.models.offline.script import Script, Situation, Stopped, Todo, use, want
from accord.coder.models.offline.scripts.commands import look_at_project

MARKS = {"completed": "x", "in_progress": ">"}
COMMON = {
    *(
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "into",
        "from",
        "make",
        "plan",
        "change",
        "nothing",
        "should",
        "would",
    ),
    *("could", "when", "then", "than", "have", "will", "must", "also", "each", "every", "some", "more", "less", "able"),
    *(
        "add",
        "adding",
        "new",
        "support",
        "feature",
        "implement",
        "implementing",
        "write",
        "create",
        "use",
        "using",
        "file",
    ),
    *(
        "files",
        "code",
        "project",
        "function",
        "class",
        "user",
        "users",
        "want",
        "need",
        "how",
        "what",
        "where",
        "which",
    ),
    *("let", "get", "set", "can", "not", "all", "any", "its", "our", "out", "over", "under", "page", "fix", "fixing"),
}


def entries(todos: list[Todo]) -> list[dict[str, Any]]:
    """Todos as set_plan takes them."""
    return [{"content": todo.content, "status": todo.status} for todo in todos][:100]


def listed(todos: list[Todo]) -> str:
    return "\n".join(f"{index}. [{MARKS.get(todo.status, ' ')}] {todo.content}" for index, todo in enumerate(todos, 1))


def make(step: r.MakePlan, situation: Situation) -> Script[str]:
    situation.need("set_plan")
    said = _spelled_out(step.topic)
    if said:
        steps = said
        how = "as you spelled it out"
    else:
        steps = yield from _looked_up(step.topic, situation)
        how = "from what I found in the project; without a language model it knows where to look, but not what to write"
    open_todos = [todo for todo in situation.todos if todo.status != "completed"]
    situation.todos = [*open_todos, *(Todo(line) for line in steps)]
    yield from use(situation, "I publish the plan.", want("set_plan", steps=entries(situation.todos)))
    return f"The plan, {how}:\n\n{listed(situation.todos)}"


def _spelled_out(topic: str) -> list[str]:
    """The steps, when the wish names them: in lines, or joined by "then" or semicolons."""
    parts = re.split(r"\n\s*(?:[-*•]|\d+[.)])?\s*|\s*;\s*|,?\s+(?:and\s+)?then\s+", topic[:20_000])
    parts = [
        re.sub(r"^(?:(?:[-*•]|\d+[.)])\s+|(?:and|then|first|finally)\b,?\s+)+", "", part.strip()).rstrip(".")
        for part in parts
    ]
    parts = [part[:1].upper() + part[1:300] for part in parts if part]
    return parts[:50] if len(parts) > 1 else []


def keywords(topic: str) -> list[str]:
    """The words of a wish that may stand in the code: names first, then the longest."""
    words = re.findall(r"[A-Za-z_][\w.]{2,40}", topic[:2000])
    words = [word.rstrip(".") for word in words if word.lower().rstrip(".") not in COMMON]
    names = [word for word in words if re.search(r"[_.]|[a-z][A-Z]", word)]
    rest = sorted((word for word in words if word not in names and len(word) > 3), key=lambda word: (-len(word), word))
    return list(dict.fromkeys([*names, *rest]))[:3]


def _looked_up(topic: str, situation: Situation) -> Script[list[str]]:
    words = keywords(topic)
    files: list[str] = []
    if words and "search" in situation.tools:
        results = yield from use(
            situation,
            f"I look for what the project has on {named(words)}.",
            *(want("search", pattern=word, ignore_case=True, limit=50) for word in words),
            lenient=True,
        )
        places = [hit.path for result in results if not result.failed for hit in hits(result.text)]
        files = sorted(dict.fromkeys(places), key=lambda path: (-places.count(path), path))
    tests = lint = None
    if {"list_files", "read_file"} <= situation.tools:
        project = yield from look_at_project(situation, "I look how the project is tested.")
        tests, lint = project.command("test"), project.command("lint")
    is_test = re.compile(r"(?:^|/)tests?/|(?:^|/)test_|_test\.|\.test\.")
    sources = [path for path in files if not is_test.search(path)][:4]
    checks = [path for path in files if is_test.search(path)][:2]
    short = " ".join(topic.split())[:160]
    steps = [
        f"Read {', '.join(sources)}" if sources else "Find where it belongs: nothing in the project mentions it yet"
    ]
    steps += [f"Carry it out: {short}"]
    steps += [f"Extend the tests in {', '.join(checks)}" if checks else "Write a test for it"]
    steps += [f"Run the tests: {tests[0]}"] if tests else ["Try it"]
    steps += [f"Run the linter: {lint[0]}"] if lint and lint != tests else []
    return steps


def add(step: r.AddTodo, situation: Situation) -> Script[str]:
    yield from use(situation, "", want("add_todo", content=step.text))
    if not any(todo.content == step.text and todo.status != "completed" for todo in situation.todos):
        situation.todos.append(Todo(step.text))
    number = next(index for index, todo in enumerate(situation.todos, 1) if todo.content == step.text)
    return f"I will remember it as todo {number}: {step.text}"


def show(step: r.ShowTodos, situation: Situation) -> Script[str]:
    yield from ()
    if not situation.todos:
        return "There are no todos. Say `remember to …` or `make a plan for …`."
    left = sum(todo.status != "completed" for todo in situation.todos)
    return f"{counted(left, 'todo')} of {len(situation.todos)} to be done:\n\n{listed(situation.todos)}"


def mark(step: r.MarkTodo, situation: Situation) -> Script[str]:
    number = len(situation.todos) if step.number < 0 else step.number
    if not 1 <= number <= len(situation.todos):
        have = f"there are {len(situation.todos)}" if situation.todos else "there are none"
        raise Stopped(f"There is no todo {number}: {have}.")
    changed = situation.todos[number - 1]._replace(status=step.status)
    situation.todos[number - 1] = changed
    yield from use(situation, "", want("set_plan", steps=entries(situation.todos)))
    left = sum(todo.status != "completed" for todo in situation.todos)
    words = {"completed": "done", "pending": "open again", "in_progress": "in progress"}[step.status]
    return f"Todo {number} is {words}: {changed.content}. {counted(left, 'todo')} left."
