"""Requests to the offline model, as data: the parser makes them, the runner carries them out."""

from __future__ import annotations

from typing import Literal, Union

from accord.model.record import Record


class Where(Record):
    """A part of the project: a file, a directory, or the files whose names match a pattern."""

    path: str = "."
    glob: str | None = None

    def __str__(self) -> str:
        if self.glob is not None:
            return f"all `{self.glob}`" if self.path == "." else f"`{self.glob}` in `{self.path}`"
        return "the project" if self.path == "." else f"`{self.path}`"


class ListFiles(Record):
    path: str = "."
    depth: int = 1


class ReadFiles(Record):
    paths: list[str]
    first: int | None = None
    last: int | None = None
    tail: int | None = None
    """Number of lines from the end."""


class FindFiles(Record):
    pattern: str
    path: str = "."


class Search(Record):
    text: str
    where: Where
    regex: bool = False
    ignore_case: bool = False


class Outline(Record):
    path: str = "."


class FindSymbol(Record):
    name: str
    what: Literal["defined", "used"] = "defined"


class ShowChanges(Record):
    path: str | None = None


class Review(Record):
    """Review the changes in the working tree."""


class Replace(Record):
    old: str
    new: str
    where: Where
    word: bool = False
    """Whether to replace whole words only."""


class WriteFile(Record):
    path: str
    content: str
    new: bool = True
    """Whether to refuse if the file already exists."""


class Append(Record):
    path: str
    content: str


class MoveFile(Record):
    source: str
    target: str


class DeleteFiles(Record):
    paths: list[str]


class Run(Record):
    command: str


class RunFile(Record):
    """Run a script of the project by its file."""

    path: str


class RunTask(Record):
    """Run a task that each project has its own command for."""

    task: Literal["test", "lint", "format", "build"]
    only: str | None = None


class MakePlan(Record):
    topic: str


class AddTodo(Record):
    text: str


class ShowTodos(Record):
    pass


class MarkTodo(Record):
    number: int
    status: Literal["completed", "pending", "in_progress"] = "completed"


class Fetch(Record):
    url: str


class SwitchMode(Record):
    mode: Literal["ask", "architect", "code"]


class ExplainProject(Record):
    """Describe the project from its own files."""


class ExplainFile(Record):
    """Describe a file from its documentation and definitions."""

    path: str


class ExplainName(Record):
    """Describe a function or class from its definition."""

    name: str


class CountFiles(Record):
    path: str = "."
    glob: str | None = None


class CountLines(Record):
    paths: list[str]


class DescribeProject(Record):
    """Write an AGENTS.md from the project's files."""

    path: str = "AGENTS.md"


class Summarize(Record):
    """Summarize the conversation."""


class Continue(Record):
    """Resume the steps that an earlier request left undone."""


class Help(Record):
    pass


class Talk(Record):
    """Small talk that has a reply."""

    about: Literal["hello", "thanks", "who", "stop", "undo", "leave", "yes"]


class Unclear(Record):
    """Almost understood: `words` asks for what is missing."""

    words: str
    suggestion: str | None = None
    """A similar request that works; `yes` sends it."""


class Unknown(Record):
    """Not understood."""

    text: str


Step = Union[
    ListFiles,
    ReadFiles,
    FindFiles,
    Search,
    Outline,
    FindSymbol,
    ShowChanges,
    Review,
    Replace,
    WriteFile,
    Append,
    MoveFile,
    DeleteFiles,
    Run,
    RunFile,
    RunTask,
    MakePlan,
    AddTodo,
    ShowTodos,
    MarkTodo,
    Fetch,
    SwitchMode,
    ExplainProject,
    ExplainFile,
    ExplainName,
    CountFiles,
    CountLines,
    DescribeProject,
    Summarize,
    Continue,
    Help,
    Talk,
    Unclear,
    Unknown,
]


def describe_step(step: Step) -> str:
    """Describe a step in a few words, for the plan and for replies."""
    match step:
        case ListFiles(path=path):
            return "List the files" + ("" if path == "." else f" in {path}")
        case ReadFiles(paths=paths):
            return f"Read {_names(paths)}"
        case FindFiles(pattern=pattern):
            return f"Find the files that match {pattern.removeprefix('**/')}"
        case Search(text=text, where=where):
            return f"Search for {_quote(text)} in {_plain(where)}"
        case Outline(path=path):
            return "Outline the project" if path == "." else f"Outline {path}"
        case FindSymbol(name=name, what=what):
            return f"Find where {name} is {what}"
        case ShowChanges(path=path):
            return "Look at the changes" + (f" in {path}" if path else "")
        case Review():
            return "Review the changes"
        case Replace(old=old, new="", where=where):
            return f"Remove {_quote(old)} from {_plain(where)}"
        case Replace(old=old, new=new, where=where):
            return f"Replace {_quote(old)} with {_quote(new)} in {_plain(where)}"
        case WriteFile(path=path, new=new):
            return f"{'Create' if new else 'Write'} {path}"
        case Append(path=path):
            return f"Append to {path}"
        case MoveFile(source=source, target=target):
            return f"Move {source} to {target}"
        case DeleteFiles(paths=paths):
            return f"Delete {_names(paths)}"
        case RunFile(path=path):
            return f"Run {path}"
        case Run(command=command):
            return f"Run {_short(command)}"
        case _:
            return _other(step)


def _other(step: Step) -> str:
    match step:
        case RunTask(task=task, only=only):
            names = {"test": "Run the tests", "lint": "Run the linter", "format": "Format the code", "build": "Build"}
            return names[task] + (f" in {only}" if only else "")
        case MakePlan(topic=topic):
            return f"Plan: {_short(topic)}"
        case AddTodo(text=text):
            return f"Remember: {_short(text)}"
        case ShowTodos():
            return "Show the todos"
        case MarkTodo(number=number):
            return f"Mark todo {number}" if number > 0 else "Mark the last todo"
        case Fetch(url=url):
            return f"Fetch {_short(url)}"
        case SwitchMode(mode=mode):
            return f"Switch to {mode} mode"
        case ExplainProject():
            return "Explain the project"
        case ExplainFile(path=name) | ExplainName(name=name):
            return f"Explain {name}"
        case CountFiles(path=path):
            return "Count the files" + ("" if path == "." else f" in {path}")
        case CountLines(paths=paths):
            return f"Count the lines of {_names(paths)}"
        case DescribeProject(path=path):
            return f"Write {path}"
        case Summarize():
            return "Summarize the conversation"
        case Help():
            return "Show the help"
        case Unknown(text=text) | Unclear(words=text):
            return _short(text)
        case _:
            return "Continue"


def _names(paths: list[str]) -> str:
    return ", ".join(paths) if len(paths) < 4 else f"{paths[0]}, {paths[1]} and {len(paths) - 2} more"


def _plain(where: Where) -> str:
    return str(where).replace("`", "")


def _quote(text: str) -> str:
    return f"“{_short(text, 40)}”"


def _short(text: str, limit: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
