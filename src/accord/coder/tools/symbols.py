"""What a file defines: classes, functions, headings. Python is parsed, other languages are read line by line."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from accord.coder.tools.languages import NOT_NAMES, patterns_for

MAX_TEXT = 2_000_000
"""Larger files are not looked into."""
LINE = 500
"""How much of a line is looked at."""
SIGNATURE = 140


class Symbol(NamedTuple):
    """Something that a file defines."""

    name: str
    line: int
    end: int
    """Its last line; the first one where that is not known."""
    depth: int
    """How deep it lies in others: 0 for the outermost."""
    text: str
    """As people would write it down: `class Session(Base)`."""
    path: str = ""
    """Its name with those of what it lies in: `Session.close`."""


def is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".pyw"))


def symbols_of(path: str, text: str) -> list[Symbol]:
    """What a file defines, in the order of its lines."""
    if is_python(path):
        tree = parsed(text)
        if tree is not None:
            return symbols_in(tree)
    return list(_by_lines(path, text))


def symbols_in(tree: ast.Module) -> list[Symbol]:
    """What a Python file defines: not what lies inside of functions."""
    return list(_python(tree.body, 0, ""))


def parsed(text: str) -> ast.Module | None:
    """A Python file; None when it is none, or too much for the parser."""
    if len(text) > MAX_TEXT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def summary_of(path: str, text: str) -> str:
    """The first line of what a Python file says about itself."""
    tree = parsed(text) if is_python(path) else None
    words = ast.get_docstring(tree) if tree is not None else None
    return words.strip().splitlines()[0] if words and words.strip() else ""


def _python(body: list[ast.stmt], depth: int, inside: str) -> Iterator[Symbol]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield _symbol(node, node.name, depth, inside, f"class {node.name}{_bases(node)}")
                yield from _python(node.body, depth + 1, f"{inside}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
                gives = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
                yield _symbol(node, node.name, depth, inside, f"{word} {node.name}({ast.unparse(node.args)}){gives}")
            case ast.Assign() | ast.AnnAssign():
                for name in _targets(node):
                    yield _symbol(node, name, depth, inside, name)
            case ast.If() | ast.Try() | ast.With():
                for part in _parts(node):
                    yield from _python(part, depth, inside)


def _parts(node: ast.If | ast.Try | ast.With) -> Iterator[list[ast.stmt]]:
    yield node.body
    if isinstance(node, ast.Try):
        for handler in node.handlers:
            yield handler.body
        yield node.finalbody
    if not isinstance(node, ast.With):
        yield node.orelse


def _targets(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(each, ast.Name):
                yield each.id


def _symbol(node: ast.stmt, name: str, depth: int, inside: str, text: str) -> Symbol:
    short = text if len(text) <= SIGNATURE else text[:SIGNATURE] + " …"
    return Symbol(name, node.lineno, node.end_lineno or node.lineno, depth, short, f"{inside}{name}")


def _bases(node: ast.ClassDef) -> str:
    given = [ast.unparse(base) for base in node.bases]
    given += [f"{word.arg}={ast.unparse(word.value)}" for word in node.keywords if word.arg]
    return f"({', '.join(given)})" if given else ""


def _by_lines(path: str, text: str) -> Iterator[Symbol]:
    patterns = patterns_for(path)
    fenced = False
    indents: list[int] = []
    is_markdown = path.endswith((".md", ".markdown"))
    for number, whole in enumerate(text[:MAX_TEXT].split("\n"), 1):
        line = whole[:LINE].rstrip()
        if is_markdown and line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not line:
            continue
        match = next((found for pattern in patterns if (found := pattern.match(line)) is not None), None)
        if match is None or match["name"].strip() in NOT_NAMES:
            continue
        name = match["name"].strip()
        if is_markdown:
            depth = line.index(" ") - 1
        else:
            indent = len(line) - len(line.lstrip())
            while indents and indents[-1] >= indent:
                indents.pop()
            depth = len(indents)
            indents.append(indent)
        words = line.strip().rstrip("{").rstrip()
        yield Symbol(name, number, number, depth, words if len(words) <= SIGNATURE else words[:SIGNATURE] + " …", name)
