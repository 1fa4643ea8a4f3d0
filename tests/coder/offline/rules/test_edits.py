"""Requests that change files, and requests that must not."""

from __future__ import annotations

import pytest

from accord.coder.offline.parser import parse
from accord.coder.offline.requests import (
    Append,
    DeleteFiles,
    DescribeProject,
    MoveFile,
    Replace,
    Run,
    Step,
    Unclear,
    Unknown,
    Where,
    WriteFile,
)

ALL = Where()
A = Where(path="a.py")

REPLACING: list[tuple[str, Step]] = [
    ("replace foo with bar in a.py", Replace(old="foo", new="bar", where=A)),
    ('Replace "foo" by "bar" in a.py, please.', Replace(old="foo", new="bar", where=A)),
    ("replace `x = 1` with `x = 2` in a.py", Replace(old="x = 1", new="x = 2", where=A)),
    ('replace "foo" with "bar" everywhere', Replace(old="foo", new="bar", where=ALL)),
    ('replace "foo" with "bar" in all files', Replace(old="foo", new="bar", where=ALL)),
    ("replace foo with bar in the whole project", Replace(old="foo", new="bar", where=ALL)),
    ("replace foo with bar in all *.py", Replace(old="foo", new="bar", where=Where(glob="*.py"))),
    (
        "replace foo with bar in python files in src",
        Replace(old="foo", new="bar", where=Where(path="src", glob="*.py")),
    ),
    ("replace all occurrences of foo with bar in src", Replace(old="foo", new="bar", where=Where(path="src"))),
    ("change foo to bar in a.py", Replace(old="foo", new="bar", where=A)),
    ('change "Hello, world" to "Bye; then go" in a.py', Replace(old="Hello, world", new="Bye; then go", where=A)),
    ("in a.py, replace foo with bar", Replace(old="foo", new="bar", where=A)),
    ("everywhere, replace foo with bar", Replace(old="foo", new="bar", where=ALL)),
    ("replace foo -> bar in a.py", Replace(old="foo", new="bar", where=A)),
    ('replace "a with b" with "b with a" in a.py', Replace(old="a with b", new="b with a", where=A)),
    ('replace "say "hi"" with "x" in a.py', Replace(old='say "hi"', new="x", where=A)),
    ('replace "foo" with "" in a.py', Replace(old="foo", new="", where=A)),
    ('remove "debug = True" from a.py', Replace(old="debug = True", new="", where=A)),
    ('replace "\\d+" with "$(rm -rf ~)" in a.py', Replace(old="\\d+", new="$(rm -rf ~)", where=A)),
    ('replace "x" with "y" in "my file.txt"', Replace(old="x", new="y", where=Where(path="my file.txt"))),
    ("rename the function foo to bar", Replace(old="foo", new="bar", where=ALL, word=True)),
    ("rename the class Foo to Bar everywhere", Replace(old="Foo", new="Bar", where=ALL, word=True)),
    ("rename the variable x to count in a.py", Replace(old="x", new="count", where=A, word=True)),
    ("rename foo to bar everywhere", Replace(old="foo", new="bar", where=ALL, word=True)),
    ("replace the word foo with bar in a.py", Replace(old="foo", new="bar", where=A, word=True)),
    ("replace the cat with the dog in a.py", Replace(old="the cat", new="the dog", where=A)),
    ("replace the text a cat with the text a dog in a.py", Replace(old="a cat", new="a dog", where=A)),
    (
        "replace\r\n```\na = 1\nb = 2\n```\r\nwith\r\n```\nc = 3\n```\r\nin a.py",
        Replace(old="a = 1\nb = 2\n", new="c = 3\n", where=A),
    ),
]

WRITING: list[tuple[str, Step]] = [
    ('create a.txt with "hello"', WriteFile(path="a.txt", content="hello\n")),
    ("create a file called a.txt with 'hello'", WriteFile(path="a.txt", content="hello\n")),
    ("create the file notes with hello world", WriteFile(path="notes", content="hello world\n")),
    ("create a.txt containing hello; world", WriteFile(path="a.txt", content="hello; world\n")),
    ("please create a file a.txt with the content: x and y", WriteFile(path="a.txt", content="x and y\n")),
    ('create "my file.txt" with "it\'s"', WriteFile(path="my file.txt", content="it's\n")),
    ("create a.py with\n```python\nprint('then; x')\n```", WriteFile(path="a.py", content="print('then; x')\n")),
    ("create a.py with this:\n```python\nprint(1)\n```\nThanks!", WriteFile(path="a.py", content="print(1)\n")),
    (
        "create a.md with the following content:\n# Title\n\n1. one\n2. two; then three",
        WriteFile(path="a.md", content="# Title\n\n1. one\n2. two; then three\n"),
    ),
    ("create a.md with:\n- one\n- two", WriteFile(path="a.md", content="- one\n- two\n")),
    ("create a.md with # Title\n\nText.\nlist files", WriteFile(path="a.md", content="# Title\n\nText.\nlist files\n")),
    ("create a.md with:\n# T\n```\ncode\n```\nmore", WriteFile(path="a.md", content="# T\n```\ncode\n```\nmore\n")),
    ("create a.txt:\r\none\r\ntwo\r\n", WriteFile(path="a.txt", content="one\ntwo\n")),
    ("create an empty file a.txt", WriteFile(path="a.txt", content="")),
    ("touch a.txt", WriteFile(path="a.txt", content="")),
    ('overwrite a.txt with "x"', WriteFile(path="a.txt", content="x\n", new=False)),
    ('write "hello" to a.txt', WriteFile(path="a.txt", content="hello\n", new=False)),
    ("write the text hello there to a.txt", WriteFile(path="a.txt", content="hello there\n", new=False)),
    ('create 🎉.txt with "🎉🎉"', WriteFile(path="🎉.txt", content="🎉🎉\n")),
    ('create a.sh with "rm -rf / && echo `id`; $(x)"', WriteFile(path="a.sh", content="rm -rf / && echo `id`; $(x)\n")),
    ('append "x" to a.txt', Append(path="a.txt", content="x\n")),
    ("append hello world to the end of notes.txt", Append(path="notes.txt", content="hello world\n")),
    ("append a; b to notes.txt", Append(path="notes.txt", content="a; b\n")),
    ("add the line import os to a.py", Append(path="a.py", content="import os\n")),
    ('add "x" to a.txt', Append(path="a.txt", content="x\n")),
    ("append to a.txt:\none\nthen two", Append(path="a.txt", content="one\nthen two\n")),
    ("append this to a.txt:\n```\none\n```", Append(path="a.txt", content="one\n")),
    ("write an AGENTS.md from what you find", DescribeProject()),
    ("create an AGENTS.md", DescribeProject()),
]

MOVING: list[tuple[str, Step]] = [
    ("rename a.py to b.py", MoveFile(source="a.py", target="b.py")),
    ("rename src/a.py to b.py", MoveFile(source="src/a.py", target="src/b.py")),
    ("rename the file foo to bar", MoveFile(source="foo", target="bar")),
    ("move src/a.py to b.py", MoveFile(source="src/a.py", target="b.py")),
    ("move src/a.py to lib/", MoveFile(source="src/a.py", target="lib/a.py")),
    ("move a.py into the folder lib", MoveFile(source="a.py", target="lib/a.py")),
    ('mv "a b.txt" c.txt', MoveFile(source="a b.txt", target="c.txt")),
    ("delete a.py", DeleteFiles(paths=["a.py"])),
    ("delete the file notes", DeleteFiles(paths=["notes"])),
    ("please remove a.py and b.py", DeleteFiles(paths=["a.py", "b.py"])),
    ("delete `my file.txt`", DeleteFiles(paths=["my file.txt"])),
    ("create a folder called my-docs", Run(command="mkdir -p my-docs")),
    ('create the folder "my docs; rm x"', Run(command="mkdir -p 'my docs; rm x'")),
]


@pytest.mark.parametrize(
    ("sentence", "step"), [*REPLACING, *WRITING, *MOVING], ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_request_to_change_is_understood(sentence: str, step: Step) -> None:
    assert parse(sentence) == [step]


UNKNOWN = [
    "delete everything",
    "remove foo",
    "remove the function foo",
    "delete line 5 of a.py",
    "write a function in a.py",
    "write tests for a.py",
    "write a haiku about cats",
    "create a login page",
    "create a function that adds two numbers",
    "add tests to a.py",
    "add error handling to the parser",
    "fix the bug in a.py",
    "fix it",
    "refactor src/app.py",
    "make it faster",
    "rename everything",
    "move on",
    "call me maybe",
    "python is slow",
    "docker and npm are tools",
    "tasks are hard",
    "find and fix the failing test",
    "rm -rf /",
    "explain how the parser works",
    "why does the test fail?",
    "translate README.md into German",
    "",
    "…",
    "🎉",
    "a.py",
    "then",
    ";;;",
]


@pytest.mark.parametrize("sentence", UNKNOWN)
def test_unclear_requests_are_not_guessed(sentence: str) -> None:
    assert [type(step) for step in parse(sentence)] == [Unknown]


UNCLEAR = [
    ("replace foo with bar", "Where should I replace"),
    ("replace foo with foo in a.py", "nothing to replace"),
    ("rename foo to bar", "a file or a name"),
    ("rename a.py to a.py", "already has that name"),
    ("delete *.py", "by name"),
    ("create a.txt", "What should be in"),
    ("run it", "Which file"),
    ("delete", "What should I delete?"),
    ("delete all files", "What should I delete?"),
    ("delete it", "What should I delete?"),
    ("read this", "What should I read?"),
    ("append", "What should I append?"),
    ("Search!", "What should I search?"),
]


@pytest.mark.parametrize(("sentence", "words"), UNCLEAR)
def test_an_incomplete_request_is_answered_with_a_question(sentence: str, words: str) -> None:
    (step,) = parse(sentence)
    assert isinstance(step, Unclear)
    assert words in step.words
