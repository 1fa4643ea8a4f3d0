"""Splitting a message into steps, and text that must not be split."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.coder.offline.parser import parse
from accord.coder.offline.requests import (
    DeleteFiles,
    ListFiles,
    Outline,
    ReadFiles,
    Replace,
    Run,
    RunFile,
    RunTask,
    Search,
    Step,
    Unknown,
    Where,
    WriteFile,
)
from accord.coder.offline.rules.rule import Context

LIST = ListFiles()
READ = ReadFiles(paths=["a.py"])
TEST = RunTask(task="test")


@pytest.mark.parametrize(
    ("sentence", "steps"),
    [
        ("list files then read a.py", [LIST, READ]),
        ("list files and then read a.py", [LIST, READ]),
        ("list files, then read a.py, then run the tests.", [LIST, READ, TEST]),
        ("list files; read a.py; run the tests;", [LIST, READ, TEST]),
        ("list files and read a.py", [LIST, READ]),
        ("list files, read a.py, and run the tests", [LIST, READ, TEST]),
        ("List files. Read a.py. Then run the tests!", [LIST, READ, TEST]),
        ("list files. After that read a.py", [LIST, READ]),
        ("First list files, then read a.py, and finally run the tests", [LIST, READ, TEST]),
        ("list files\nread a.py\n\nrun the tests\n", [LIST, READ, TEST]),
        ("list files\r\nread a.py\r\n", [LIST, READ]),
        ("1. list files\n2. read a.py\n3. run the tests", [LIST, READ, TEST]),
        ("1) list files\n2) read a.py", [LIST, READ]),
        ("Please do this:\n1. list files\n2. read a.py", [LIST, READ]),
        ("- list files\n- read a.py", [LIST, READ]),
        ("1. list files and then read a.py\n2. run the tests", [LIST, READ, TEST]),
        ("Step 1: list files\nStep 2: read a.py", [LIST, READ]),
        ("$ make; make install\n$ ls", [Run(command="make; make install"), Run(command="ls")]),
        ("run make then list files", [Run(command="make"), LIST]),
        ("run `a; b` and list files", [Run(command="a; b"), LIST]),
        ("search for foo and read a.py", [Search(text="foo", where=Where()), READ]),
        ("hello, list files please. Thank you!", [LIST]),
        (
            "create a.py with\n```\nx\nthen y\n```\nthen run the tests",
            [WriteFile(path="a.py", content="x\nthen y\n"), TEST],
        ),
        ("create a.py with hello then read it", [WriteFile(path="a.py", content="hello\n"), READ]),
        ("create a.py with hello\nthen read it", [WriteFile(path="a.py", content="hello\n"), READ]),
        ('create a.py with "x" then run it', [WriteFile(path="a.py", content="x\n"), RunFile(path="a.py")]),
        (
            "1. create a.py with\n```\n1. x\n2. y\n```\n2. read a.py",
            [WriteFile(path="a.py", content="1. x\n2. y\n"), READ],
        ),
        ("read a.py then delete it", [READ, DeleteFiles(paths=["a.py"])]),
        (
            "outline a.py and replace x with y in it",
            [Outline(path="a.py"), Replace(old="x", new="y", where=Where(path="a.py"))],
        ),
        (
            "replace x with y in a.py and b.py",
            [Replace(old="x", new="y", where=Where(path=path)) for path in ("a.py", "b.py")],
        ),
        ('search for "list files then" then list files', [Search(text="list files then", where=Where()), LIST]),
        ("search for `x; y` ; list files", [Search(text="x; y", where=Where()), LIST]),
    ],
)
def test_a_message_of_several_requests_is_split_between_them(sentence: str, steps: list[Step]) -> None:
    assert parse(sentence) == steps


def test_a_part_that_is_not_understood_is_named_and_the_others_are_kept_apart() -> None:
    assert parse("list files then sing a song then read a.py") == [LIST, Unknown(text="sing a song"), READ]


def test_a_request_before_a_list_is_not_lost() -> None:
    assert parse("delete b.py.\n1. list files\n2. read a.py") == [DeleteFiles(paths=["b.py"]), LIST, READ]


def test_words_that_arent_a_request_belong_to_the_free_text_before_them() -> None:
    (step,) = parse("create a.txt with once upon a time; there was a cat")
    assert step == WriteFile(path="a.txt", content="once upon a time; there was a cat\n")


def test_it_refers_to_the_file_mentioned_before() -> None:
    assert parse("read it", Context(last="b.py")) == [ReadFiles(paths=["b.py"])]


def test_this_is_the_file_that_was_attached() -> None:
    assert parse("outline this", Context(attached=["/p/c.py"], last="b.py")) == [Outline(path="/p/c.py")]


def test_these_are_all_files_that_were_attached() -> None:
    assert parse("read these", Context(attached=["/p/c.py", "/p/d.py"])) == [ReadFiles(paths=["/p/c.py", "/p/d.py"])]


WORDS = [
    *("list files", "read", "show", "find", "search for", "replace", "with", "in", "everywhere", "create", "append"),
    *("to", "rename", "move", "delete", "run", "the tests", "plan", "remember", "todo", "mark", "done", "fetch"),
    *("then", "and", ";", ",", ".", "\n", "\r\n", "1.", "2.", "-", "$", "`", "```", '"', "'", "“", "”", ":"),
    *("a.py", "src/", "*.py", "foo", "it", "this", "please", "lines 3-5", "what", "changed", "where is", "defined"),
    *("🎉", "\ue000", "\ue001", "switch"),
]

LONG = [
    "a;" * 25_000,
    "then " * 12_000,
    "list files then " * 3_000,
    "replace " + "a with " * 7_000,
    "please " * 7_000,
    "create a.txt with " + "x then y " * 5_000,
    " " * 50_000,
    "\r\n" * 25_000,
    "read " + "a.py, " * 7_000,
    "1. list files\n" * 3_000,
    "search for " + "in " * 15_000,
    '"a "b" ' * 7_000,
    "`" * 50_000,
    "```x" * 12_000,
    "'a " * 15_000,
    "“a" * 15_000,
    "[a](file:///x) " * 3_000,
    "🎉" * 25_000,
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: repr(text[:12]))
def test_parsing_takes_linear_time(text: str) -> None:
    """Measured in function calls: about twice as many for twice the text. Four times as many would be quadratic."""
    parse("warm up")

    def iterate_calls(size: int) -> int:
        count = 0

        def note(frame: object, event: str, what: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            parse(text[:size])
        finally:
            sys.setprofile(None)
        return count

    assert iterate_calls(len(text)) < 2.5 * iterate_calls(len(text) // 2)


@pytest.mark.parametrize(
    "text", ["search for a and " * 40 + "zzz", "read a.py, " * 60 + "zzz zzz", "list files and " * 50]
)
def test_many_requests_joined_by_and_are_not_tried_in_every_combination(text: str) -> None:
    """Trying every combination would take longer than the test's timeout."""
    parse(text)


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_prompt_can_be_parsed(text: str) -> None:
    assert parse(text)
