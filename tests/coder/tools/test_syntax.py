"""The syntax check after an edit."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from accord.coder.tools.edits.syntax import MAX_CHARACTERS, find_new_problem, find_problem

from .conftest import Harness

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("a.py", "x = 1\ndef f(:\n    pass\n", f"syntax error at line 2: invalid syntax ({PYTHON})"),
        ("a.json", '{\n  "a": 1,\n}\n', "at line 3: "),
        ("a.toml", 'a = 1\nb = "\n', "line 2: Illegal character"),
        ("a.toml", 'a = """\n', "syntax error: Unterminated string (TOML)"),
    ],
)
def test_a_syntax_error_is_described_with_its_line(path: str, text: str, expected: str) -> None:
    assert expected in str(find_problem(path, text))


@pytest.mark.parametrize(
    "path, text",
    [
        ("a.py", "x = 1\n"),
        ("a.py", "\ufeffx = '\\d'\n"),
        ("a.json", '{"a": [1, 2]}'),
        ("a.json", ""),
        ("a.toml", "[a]\nb = 1\n"),
        ("a.txt", "def f(:"),
        ("Makefile", "def f(:"),
    ],
)
def test_valid_and_unknown_files_have_no_problem(path: str, text: str) -> None:
    assert find_problem(path, text) is None


def test_json_with_comments_is_not_checked() -> None:
    assert find_problem("tsconfig.json", '{\n  // the target\n  "a": 1,\n}\n') is None


@pytest.mark.parametrize("path", ["a.py", "a.json", "a.toml"])
def test_text_that_exhausts_a_parser_is_not_a_problem(path: str) -> None:
    start = {"a.py": "", "a.json": "", "a.toml": "a = "}[path]
    nested = "[" * 100_000 + "]" * 100_000
    problem = find_problem(path, start + nested)
    assert problem is None or "too many nested" in problem.message
    assert find_problem(path, "(" + " " * MAX_CHARACTERS) is None


@pytest.mark.parametrize(
    "path, text", [("a.toml", "a." * 140_000 + "b = 1"), ("a.yaml", "[" * 290_000), ("a.yaml", "{[" * 140_000)]
)
def test_text_that_takes_a_parser_quadratic_time_is_not_checked(path: str, text: str) -> None:
    """The YAML parser holds up all threads meanwhile."""
    assert find_problem(path, text) is None


def test_only_new_problems_are_reported() -> None:
    old = "print 'a'\n"
    assert find_new_problem("a.py", old, "# new\n" + old) is None
    assert find_new_problem("a.py", old, "def f(:\n") is not None
    assert find_new_problem("a.py", "x = 1\n", "x = (\n") is not None
    assert find_new_problem("a.py", None, "x = (\n") is not None
    assert find_new_problem("a.py", "x = (\n", "x = 1\n") is None


async def test_an_edit_that_breaks_a_file_is_made_and_reported(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.py", "def f():\n    return 1\n")
        told = await tools.call(
            "edit_file", file_path="a.py", edits=[{"old_string": "def f():", "new_string": "def f(:"}]
        )
        assert told.endswith(f"\nThe file now has a syntax error at line 1: invalid syntax ({PYTHON}). Correct it.")
        assert tools.text("a.py") == "def f(:\n    return 1\n"
        told = await tools.call(
            "edit_file", file_path="a.py", edits=[{"old_string": "def f(:", "new_string": "def f():"}]
        )
        assert told == "Edited a.py: 1 replacement, at line 1."


async def test_a_new_file_with_a_syntax_error_is_reported(harness: Harness) -> None:
    async with harness() as tools:
        told = await tools.call("write_file", file_path="a.json", content='{"a": }\n')
        assert "The file now has a syntax error at line 1: " in told


@pytest.mark.parametrize("name", ["a.yaml", "a.yml"])
def test_yaml_is_checked(name: str) -> None:
    problem = find_problem(name, "a:\n  - 1\n - 2\n")
    assert problem is not None and (problem.line, problem.language) == (3, "YAML")
    assert find_problem(name, "a: &x [1]\nb: *x\n---\nc: !Ref d\n") is None
    assert find_problem(name, "{{ if x }}\na: {{ b }}\n") is None, "a template"


def test_aliases_that_multiply_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
    assert find_problem("a.yaml", "\n".join(lines)) is None
