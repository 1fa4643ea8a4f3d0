"""Questions about the project, its files and names."""

from __future__ import annotations

import pytest

from accord.coder.offline.parser import parse
from accord.coder.offline.requests import (
    CountFiles,
    CountLines,
    ExplainFile,
    ExplainName,
    ExplainProject,
    Help,
    ListFiles,
    Outline,
    ReadFiles,
    Run,
    RunTask,
    Search,
    Step,
    Summarize,
    Talk,
    Unclear,
    Where,
)
from accord.coder.offline.rules.rule import Context

PROJECT = ExplainProject()
QUESTIONS: list[tuple[str, Step]] = [
    ("what is this project?", PROJECT),
    ("What does this project do?", PROJECT),
    ("what's this repo about", PROJECT),
    ("explain the codebase to me", PROJECT),
    ("tell me about this project", PROJECT),
    ("give me an overview of the project", PROJECT),
    ("can you describe this repository please", PROJECT),
    ("what language is this?", PROJECT),
    ("how do I run it?", PROJECT),
    ("how can I install this project?", PROJECT),
    ("where do I start?", PROJECT),
    ("what are the dependencies?", PROJECT),
    ("what does it depend on?", PROJECT),
    ("how big is this project?", CountFiles()),
    ("who wrote this?", Run(command="git shortlog --summary --numbered HEAD")),
    ("what branch am I on?", Run(command="git branch --show-current")),
    ("what's in tests?", ListFiles(path="tests")),
    ("find TODOs", Search(text="TODO", where=Where())),
    ("which programming language is the project written in?", PROJECT),
    ("explain main.py", ExplainFile(path="main.py")),
    ("what does src/foo.py do?", ExplainFile(path="src/foo.py")),
    ("tell me about main.py", ExplainFile(path="main.py")),
    ("summarize README.md", ExplainFile(path="README.md")),
    ("explain the file `a b.py`", ExplainFile(path="a b.py")),
    ("what is the Makefile for?", ExplainFile(path="Makefile")),
    ("what does add() do?", ExplainName(name="add")),
    ("how does SessionStore work?", ExplainName(name="SessionStore")),
    ("explain parse_line", ExplainName(name="parse_line")),
    ("how many lines in main.py", CountLines(paths=["main.py"])),
    ("how long is main.py?", CountLines(paths=["main.py"])),
    ("count the files", CountFiles()),
    ("how many files are there in src?", CountFiles(path="src")),
    ("how many python files are there?", CountFiles(glob="*.py")),
    ("recent commits", Run(command="git log --oneline -15")),
    ("show me the git log", Run(command="git log --oneline -15")),
    (
        'commit my changes with the message "Fix the total"',
        Run(command="git add --all && git commit -m 'Fix the total'"),
    ),
    (
        'commit with message "it\'s; rm -rf ."',
        Run(command="git add --all && git commit -m 'it'\\''s; rm -rf .'"),
    ),
    ("undo", Talk(about="undo")),
    ("undo the last change", Talk(about="undo")),
    ("exit", Talk(about="leave")),
    ("help me", Help()),
    ("format foo.py", RunTask(task="format", only="foo.py")),
    # Not about the project.
    ("what does README.md say?", ReadFiles(paths=["README.md"])),
    ("summarize this conversation", Summarize()),
    ("outline the project", Outline()),
]


@pytest.mark.parametrize(("sentence", "step"), QUESTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_question_is_understood(sentence: str, step: Step) -> None:
    assert parse(sentence) == [step]


def test_this_is_the_attached_file_or_the_project() -> None:
    assert parse("explain this", Context(attached=["a.py"])) == [ExplainFile(path="a.py")]
    assert parse("explain this") == [PROJECT]


def test_a_commit_without_a_message_is_not_guessed() -> None:
    (step,) = parse("commit my changes")
    assert isinstance(step, Unclear)
    assert "message" in step.words
