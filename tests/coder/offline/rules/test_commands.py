"""Requests that run commands or concern the agent: commands, tests, plans, modes, talk."""

from __future__ import annotations

import pytest

from accord.coder.commands import INIT, PLAN, REVIEW, TEST
from accord.coder.context import PROMPT
from accord.coder.offline.parser import parse
from accord.coder.offline.requests import (
    AddTodo,
    Continue,
    DescribeProject,
    Fetch,
    Help,
    MakePlan,
    MarkTodo,
    Review,
    Run,
    RunFile,
    RunTask,
    ShowTodos,
    Step,
    Summarize,
    SwitchMode,
    Talk,
)

COMMANDS: list[tuple[str, Step]] = [
    ("run make test", Run(command="make test")),
    ("run `make test`", Run(command="make test")),
    ("please run `ls -la; rm x`.", Run(command="ls -la; rm x")),
    ("run the command `echo hi`", Run(command="echo hi")),
    ("execute: npm ci", Run(command="npm ci")),
    ("$ ls -la | grep x; echo done && echo then", Run(command="ls -la | grep x; echo done && echo then")),
    ("run echo a; echo b", Run(command="echo a; echo b")),
    ("run echo a && echo b | cat > c.txt", Run(command="echo a && echo b | cat > c.txt")),
    ("run if true; then echo hi; fi", Run(command="if true; then echo hi; fi")),
    ('run echo "it\'s; then"', Run(command='echo "it\'s; then"')),
    ("run git commit -m 'then and then'", Run(command="git commit -m 'then and then'")),
    ("run\n```sh\nmake\nmake install\n```", Run(command="make\nmake install")),
    ("run hello.py", RunFile(path="hello.py")),
    ("run `hello.py`", Run(command="hello.py")),
    ("pytest -q", Run(command="pytest -q")),
    ("python3 -c 'print(1)'", Run(command="python3 -c 'print(1)'")),
    ("git log -5", Run(command="git log -5")),
    ("make check", Run(command="make check")),
    ("run the tests", RunTask(task="test")),
    ("Run the tests!", RunTask(task="test")),
    ("can you run all the tests please", RunTask(task="test")),
    ("do the tests pass?", RunTask(task="test")),
    ("run the tests in tests/test_a.py", RunTask(task="test", only="tests/test_a.py")),
    ("run the test suite", RunTask(task="test")),
    ("run the linter", RunTask(task="lint")),
    ("format the code", RunTask(task="format")),
    ("run the build", RunTask(task="build")),
    ("fetch https://example.com/a?b=c#d", Fetch(url="https://example.com/a?b=c#d")),
    ("get the page at http://localhost:8000/.", Fetch(url="http://localhost:8000/")),
    ("download <https://example.com/x>", Fetch(url="https://example.com/x")),
]

PLANS: list[tuple[str, Step]] = [
    ("make a plan for adding a login page", MakePlan(topic="adding a login page")),
    ("make a plan to migrate; then test", MakePlan(topic="migrate; then test")),
    ("plan: do this then that", MakePlan(topic="do this then that")),
    ("plan:\n1. do this\n2. do that", MakePlan(topic="1. do this\n2. do that")),
    ("plan the migration to v2", MakePlan(topic="the migration to v2")),
    ("could you draft a plan for the release?", MakePlan(topic="the release")),
    ("remember to buy milk", AddTodo(text="Buy milk")),
    ("remember: fix the parser, then rest", AddTodo(text="Fix the parser, then rest")),
    ("todo: write docs", AddTodo(text="Write docs")),
    ("add a todo: write docs; and tests", AddTodo(text="Write docs; and tests")),
    ('add "write docs" to my todos', AddTodo(text="Write docs")),
    ("don't forget to release", AddTodo(text="Release")),
    ("show todos", ShowTodos()),
    ("what's left to do?", ShowTodos()),
    ("show me my todo list", ShowTodos()),
    ("mark todo 2 done", MarkTodo(number=2)),
    ("mark the first todo as done", MarkTodo(number=1)),
    ("todo 3 is done", MarkTodo(number=3)),
    ("finish task 4", MarkTodo(number=4)),
    ("mark todo 1 as in progress", MarkTodo(number=1, status="in_progress")),
    ("reopen todo 2", MarkTodo(number=2, status="pending")),
]

TALKING: list[tuple[str, Step]] = [
    ("switch to code mode", SwitchMode(mode="code")),
    ("go to architect mode, please", SwitchMode(mode="architect")),
    ("ask mode", SwitchMode(mode="ask")),
    ("start implementing", SwitchMode(mode="code")),
    ("help", Help()),
    ("What can you do?", Help()),
    ("hello", Talk(about="hello")),
    ("Hi there!", Talk(about="hello")),
    ("thanks a lot", Talk(about="thanks")),
    ("who are you?", Talk(about="who")),
    ("which model is this?", Talk(about="who")),
    ("never mind", Talk(about="stop")),
    ("continue", Continue()),
    ("go on with the rest", Continue()),
    ("summarise this conversation", Summarize()),
    ("what have we done so far?", Summarize()),
]


@pytest.mark.parametrize(
    ("sentence", "step"), [*COMMANDS, *PLANS, *TALKING], ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_request_to_do_something_is_understood(sentence: str, step: Step) -> None:
    assert parse(sentence) == [step]


@pytest.mark.parametrize(
    ("sentence", "step"),
    [
        (PLAN.format("add a cache; then measure it"), MakePlan(topic="add a cache; then measure it")),
        (INIT, DescribeProject()),
        (REVIEW, Review()),
        (f"{REVIEW} Look at this in particular: the errors", Review()),
        (TEST, RunTask(task="test")),
        (f"{TEST} Only these: tests/test_a.py", RunTask(task="test", only="tests/test_a.py")),
        (PROMPT, Summarize()),
        (f"{PROMPT} Keep the names.", Summarize()),
    ],
)
def test_requests_of_the_slash_commands_are_understood(sentence: str, step: Step) -> None:
    assert parse(sentence) == [step]
