"""Check the syntax of a file after an edit, so that the model can correct it at once.

Only problems that the edit introduced are reported: a file may use another version of the language.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tomllib
import warnings
from collections.abc import Callable
from typing import NamedTuple

MAX_CHARACTERS = 300_000
"""Longer texts aren't checked: parsing them would hold up the session."""

MAX_SLOW_CHARACTERS = 50_000
"""The same for YAML where its fast parser isn't installed."""
MAX_TOML_DOTS = 500
"""TOML with more dots in a line isn't checked: the time for a key is quadratic in them."""
MAX_YAML_DEPTH = 200
"""YAML with deeper brackets isn't checked: its parser takes quadratic time for them."""
_BRACKET = re.compile(r"[\[{]|([\]}])")
_TEMPLATE = re.compile(r"\{\{|\{%")
"""Marks of templates, which only become YAML when they are rendered."""
_COMMENT = re.compile(r"^\s*(//|/\*)", re.MULTILINE)
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_DETAIL = re.compile(r"\d+")


class Problem(NamedTuple):
    """A syntax error."""

    line: int | None
    message: str
    language: str

    def __str__(self) -> str:
        where = f" at line {self.line:,}" if self.line is not None else ""
        return f"syntax error{where}: {self.message} ({self.language})"


def find_new_problem(path: str, before: str | None, after: str) -> Problem | None:
    """Return the syntax error that a change introduces, if any. `before` is None for a new file."""
    problem = find_problem(path, after)
    if problem is None or before is None:
        return problem
    old = find_problem(path, before)
    # Messages may name other lines ("'(' was never closed … on line 3"); the edit may have moved them.
    is_old = old is not None and _DETAIL.sub("", old.message) == _DETAIL.sub("", problem.message)
    return None if is_old else problem


def find_problem(path: str, text: str) -> Problem | None:
    """Return the first syntax error of a text; None if there is none, or if the language isn't known."""
    check = _CHECKS.get(os.path.splitext(path)[1].lower())
    if check is None or len(text) > MAX_CHARACTERS:
        return None
    try:
        return check(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError, MemoryError):
        return None  # nested too deeply, or a number that is too long: no statement about its syntax


def _check_python(text: str) -> Problem | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return Problem(error.lineno, error.msg, f"Python {sys.version_info.major}.{sys.version_info.minor}")
    return None


def _check_json(text: str) -> Problem | None:
    if not text.strip() or _COMMENT.search(text):
        return None  # JSON with comments, as several tools use for their configuration
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Problem(error.lineno, error.msg, "JSON")
    return None


def _check_toml(text: str) -> Problem | None:
    if any(line.count(".") > MAX_TOML_DOTS for line in text.split("\n")):
        return None
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        position = _POSITION.search(message)
        line = int(position[1]) if position is not None and position[1] else None
        return Problem(line, _POSITION.sub("", message), "TOML")
    return None


def _check_yaml(text: str) -> Problem | None:
    try:
        import yaml
    except ImportError:
        return None
    is_fast = yaml.__with_libyaml__
    if _TEMPLATE.search(text) or (not is_fast and len(text) > MAX_SLOW_CHARACTERS) or _is_deep(text):
        return None
    try:
        # Events aren't expanded: a file whose aliases multiply costs no more than its length.
        for _ in yaml.parse(text, Loader=yaml.CSafeLoader if is_fast else yaml.SafeLoader):
            pass
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        return Problem(line, error.problem or error.context or "invalid", "YAML")
    except yaml.YAMLError as error:
        return Problem(None, str(error).partition("\n")[0], "YAML")
    return None


def _is_deep(text: str) -> bool:
    """Return whether brackets are nested too deeply, those in strings and comments included."""
    depth = 0
    for match in _BRACKET.finditer(text):
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > MAX_YAML_DEPTH:
            return True
    return False


_CHECKS: dict[str, Callable[[str], Problem | None]] = {
    ".py": _check_python,
    ".pyi": _check_python,
    ".json": _check_json,
    ".toml": _check_toml,
    ".yaml": _check_yaml,
    ".yml": _check_yaml,
}
