"""Rules for running commands and project tasks, and for fetching URLs."""

from __future__ import annotations

import re
from typing import Any

from accord.coder.offline.requests import (
    Fetch,
    Run,
    RunFile,
    RunTask,
    Step,
    Unclear,
)
from accord.coder.offline.rules.rule import Parts, Reader, Rule, always

PROGRAM_FILE = re.compile(r"[\w./\\-]+\.(?:py|sh|js|rb|go|pl)")
TASKS = {
    "test": "test",
    "lint": "lint",
    "check": "lint",
    "format": "format",
    "build": "build",
    "compile": "build",
}


def run(reader: Reader, parts: Parts) -> Step | None:
    text = (parts.get("body") or "").strip()
    if text.lower() in ("it", "this", "that", "this file", "that file", "the file"):
        path = reader.path(text.lower().removeprefix("the ").split()[0] if text.lower() != "the file" else "it")
        return RunFile(path=path) if path else Unclear(words="Which file should I run?")
    command = reader.value(text).strip()
    if not reader.is_quoted(text) and PROGRAM_FILE.fullmatch(command):
        return RunFile(path=command)
    return Run(command=command) if command else None


def task(reader: Reader, parts: Parts) -> Step | None:
    only = reader.path(parts.get("f")) if parts.get("f") else None
    if parts.get("f") and only is None:
        return None
    stem = re.sub(r"(?:ter|ing|er|s)$", "", (parts["task"] or "").lower())
    name: Any = next((TASKS[key] for key in TASKS if stem.startswith(key) or key.startswith(stem)), "test")
    return RunTask(task=name, only=only)


def fetch(reader: Reader, parts: Parts) -> Step | None:
    url = reader.value(parts["u"] or "").rstrip(".,;!?)>").removeprefix("<")
    return Fetch(url=url) if re.match(r"https?://\S+$", url, re.IGNORECASE) else None


def what(reader: Reader, parts: Parts) -> Step | None:
    """Ask for the object of a verb that stands alone or refers to nothing."""
    verb = (parts["verb"] or "").lower()
    return Unclear(words=f"What should I {verb}? For example: {EXAMPLES[verb]}")


EXAMPLES = {
    "read": "`read README.md`",
    "open": "`open README.md`",
    "show": "`show README.md`, or `show todos`",
    "outline": "`outline src/app.py`, or attach the file",
    "search": '`search for "TODO" in src`',
    "find": "`find files named *.py`",
    "replace": '`replace "a" with "b" in README.md`',
    "create": '`create notes.md with "a note"`',
    "write": '`write "a note" to notes.md`',
    "append": '`append "a note" to notes.md`',
    "rename": "`rename notes.md to diary.md`",
    "move": "`move notes.md to docs/`",
    "delete": "`delete notes.md`",
    "remove": "`remove notes.md`",
    "run": "run `make`, or run the tests",
    "fetch": "`fetch https://example.com/`",
    "remember": "`remember to write the docs`",
}
TASK = r"(?P<task>tests?|unit tests?|test suite|lint|linter|linters|linting|format|formatter|formatting|build)"
PROGRAM = (
    r"pytest|npm|npx|yarn|pnpm|cargo|tox|nox|ruff|mypy|uv|pip|pip3|python|python3|node|deno|bun|docker"
    r"|git (?:log|branch|show|add|commit|blame|stash|checkout|pull|push|fetch|tag|remote|rev-parse|ls-files)"
    r"|go (?:test|build|run|vet|mod|fmt)"
)

RULES = [
    Rule(
        r"(?:run|execute|start|do|launch) {the}(?:project'?s? )?"
        + TASK
        + r"(?: suite)?(?: (?:in|of|for|from|on) {the}(?:file )?{f})?(?: again)?",
        task,
    ),
    Rule(r"(?:test|check)(?: (?:it|this|that|everything|the project|the code|again))?", always(RunTask(task="test"))),
    Rule(
        r"(?P<task>lint|format|build|compile)(?: (?:it|this|that|everything|the project|the code|the files))?",
        task,
    ),
    Rule(r"(?P<task>lint|format|test) {the}(?:file |script |module )(?P<f>{q}|[^\s,;]+)", task),
    Rule(r"(?P<task>lint|format) {the}(?P<f>{q}|[^\s,;]+\.\w+)", task),
    Rule(r"(?:do|are) {the}tests? (?:pass|passing|green|work|run|fail|failing)", always(RunTask(task="test"))),
    Rule(
        r"(?:fetch|get|download|open|read|show|curl|load|look at|retrieve|visit|browse){me} "
        r"{the}(?:url |page |website |web page |link |address |contents? of )?(?:at |from )?"
        r"(?P<u>{q}|<?https?://\S+)",
        fetch,
    ),
]

# The rest of the step is the literal command.
CONTENT_RULES = [
    Rule(r"\$ ", run, content=True),
]
LAST_RULES = [
    Rule(r"(?P<body>make (?!it$|this$|that$|sure$|them$)[\w.-]+)", run),
]
# Tried last: text that starts like a command and matches no other rule.
LATE_RULES = [
    Rule(
        r"(?:run|execute|exec)(?: {the}(?:shell )?(?:command|program|script))?(?: line)?:? (?=\S)",
        run,
        content=True,
    ),
    # Exclude statements about a program: `python is slow`.
    Rule(
        rf"(?=(?:{PROGRAM})(?: (?!(?:is|are|has|was|can|does|should|would|will|and|or)\b)|$))",
        run,
        content=True,
    ),
]
# Tried after that: a verb without its object.
VERBS = [
    Rule(r"(?P<verb>" + "|".join(EXAMPLES) + r")(?: {the}(?:it|this|that|these|them|files?|attached files?))?", what),
]
