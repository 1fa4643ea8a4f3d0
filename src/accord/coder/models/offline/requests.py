"""What can be asked of the offline model, as data: the grammar makes these, the brain carries them out."""

from __future__ import annotations

from typing import Literal, Union

from accord.model.noun import Noun


class Where(Noun):
    """Which part of the project: a file or a folder, or the files whose names match a pattern."""

    path: str = "."
    glob: str | None = None

    def __str__(self) -> str:
        if self.glob is not None:
            return f"all `{self.glob}`" if self.path == "." else f"`{self.glob}` in `{self.path}`"
        return "the project" if self.path == "." else f"`{self.path}`"


class ListFiles(Noun):
    path: str = "."
    depth: int = 1


class ReadFiles(Noun):
    paths: list[str]
    first: int | None = None
    last: int | None = None
    tail: int | None = None
    """How many lines from the end."""


class FindFiles(Noun):
    pattern: str
    path: str = "."


class Search(Noun):
    text: str
    where: Where
    regex: bool = False
    ignore_case: bool = False


class Outline(Noun):
    path: str = "."


class FindSymbol(Noun):
    name: str
    what: Literal["defined", "used"] = "defined"


class ShowChanges(Noun):
    path: str | None = None


class Review(Noun):
    """Looks over what has changed in the working tree."""


class Replace(Noun):
    old: str
    new: str
    where: Where
    word: bool = False
    """Only where it stands as a word of its own."""


class WriteFile(Noun):
    path: str
    content: str
    new: bool = True
    """Whether a file that is there already should be left alone."""


class Append(Noun):
    path: str
    content: str


class MoveFile(Noun):
    source: str
    target: str


class DeleteFiles(Noun):
    paths: list[str]


class Run(Noun):
    command: str


class RunFile(Noun):
    """Runs a program of the project by its file."""

    path: str


class RunTask(Noun):
    """Something that each project has its own command for."""

    task: Literal["test", "lint", "format", "build"]
    only: str | None = None


class MakePlan(Noun):
    topic: str


class AddTodo(Noun):
    text: str


class ShowTodos(Noun):
    pass


class MarkTodo(Noun):
    number: int
    status: Literal["completed", "pending", "in_progress"] = "completed"


class Fetch(Noun):
    url: str


class SwitchMode(Noun):
    mode: Literal["ask", "architect", "code"]


class DescribeProject(Noun):
    """Writes an AGENTS.md from what is found."""

    path: str = "AGENTS.md"


class Summarise(Noun):
    """Tells what this conversation was about."""


class Continue(Noun):
    """Carries out what an earlier request left undone."""


class Help(Noun):
    pass


class Talk(Noun):
    """Small talk that has an answer."""

    about: Literal["hello", "thanks", "who", "stop"]


class Unclear(Noun):
    """Nearly understood: what is missing, in words."""

    words: str


class Unknown(Noun):
    """Not understood at all."""

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
    DescribeProject,
    Summarise,
    Continue,
    Help,
    Talk,
    Unclear,
    Unknown,
]
