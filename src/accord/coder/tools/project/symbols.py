"""Find the definitions in a file. Python is parsed; other languages are matched line by line."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from accord.coder.tools.text import cut

NOT_NAMES = frozenset({"if", "for", "while", "switch", "catch", "function", "return", "else", "with"})
"""Keywords that a pattern could mistake for a name."""

_JAVASCRIPT = (
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:class|function\s*\*?|interface|type|enum|namespace|module)\s+(?P<name>[\w$]+)",
    r"\s*(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=]{0,200})?=\s*"
    r"(?:async\s*)?(?:function\b|\([^)]{0,300}\)[^=]{0,100}=>|[\w$]+\s*=>)",
    r"export\s+(?:const|let|var)\s+(?P<name>[\w$]+)",
    r"\s+(?:(?:public|private|protected|static|async|get|set|readonly|override)\s+)*[*#]?(?P<name>[\w$]+)"
    r"\s*\([^;]{0,300}\)[^;{]{0,100}\{$",
)
_JVM = (
    r"\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|data|partial|async|virtual|"
    r"inline|suspend|mutating|fileprivate|@\w+)\s+)*(?:class|interface|enum(?:\s+class)?|record|struct|object|protocol|"
    r"extension|trait|namespace|fun|func|def|typealias|mixin)\s+(?:<[^>]{0,80}>\s*)?(?P<name>[\w.]+)",
    r"\s+(?:(?:public|private|protected|static|final|abstract|synchronized|override|virtual|async|internal)\s+)+"
    r"[\w<>\[\],.? ]{1,80}\s(?P<name>\w+)\s*\(",
)
_C = (
    r"\s*(?:typedef\s+)?(?:template\s*<[^>]{0,80}>\s*)?(?:class|struct|enum(?:\s+class)?|union|namespace)\s+(?P<name>\w+)"
    r"(?=[^;()]*$)",
    r"#\s*define\s+(?P<name>\w+)",
    r"[A-Za-z_][\w\s*&:<>,]{0,120}[\s*&](?P<name>~?\w+(?:::~?\w+)*)\s*\([^;]*$",
)
_GENERIC = (
    r"\s*(?:(?:pub|public|private|protected|static|export|async|local|abstract|final)\s+)*"
    r"(?:class|interface|struct|enum|trait|module|namespace|func|function|fn|def|sub|proc|procedure|type|message|service|"
    r"rpc)\s+(?P<name>[A-Za-z_][\w$?!]*(?:(?:\.|::)[\w$]+)*)",
)
_TABLE: dict[str, tuple[str, ...]] = {
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte": _JAVASCRIPT,
    ".go": (r"func\s+(?:\([^)]{0,120}\)\s*)?(?P<name>\w+)", r"(?:type|var|const)\s+(?P<name>\w+)"),
    ".rs": (
        r"\s*(?:pub(?:\([^)]{0,60}\))?\s+)?(?:(?:default|async|unsafe|const|extern(?:\s+\"[^\"]{0,20}\")?)\s+)*"
        r"(?:fn|struct|enum|trait|mod|type|union|macro_rules!|static|const)\s+(?P<name>\w+)",
        r"(?:unsafe\s+)?impl\b(?P<name>[^{]{1,200})",
    ),
    ".java .kt .kts .cs .swift .scala .groovy .dart": _JVM,
    ".c .h .cc .cpp .cxx .hpp .hh .hxx .m .mm": _C,
    ".rb .rake": (r"\s*(?:class|module|def)\s+(?P<name>[\w.:?!]+)",),
    ".php": (
        r"\s*(?:(?:abstract|final|public|private|protected|static)\s+)*"
        r"(?:class|interface|trait|enum|function|namespace)\s+&?(?P<name>[\w\\]+)",
    ),
    ".sh .bash .zsh": (r"\s*function\s+(?P<name>[\w:.-]+)", r"\s*(?P<name>[\w:.-]+)\s*\(\)"),
    ".lua": (r"\s*(?:local\s+)?function\s+(?P<name>[\w.:]+)",),
    ".ex .exs": (r"\s*(?:defmodule|defp?|defmacrop?|defstruct|defprotocol)\s+(?P<name>[\w.?!]+)",),
    ".sql": (
        r"(?i)\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unique\s+)?"
        r"(?:table|view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`]+)",
    ),
    ".md .markdown": (r"#{1,6}\s+(?P<name>.+)",),
    ".rst": (r"\.\.\s+(?P<name>[\w-]+::.*)",),
    ".toml .ini .cfg .conf": (r"\[+(?P<name>[^\]]+)\]+\s*$",),
    ".yaml .yml": (r"(?P<name>[\w.\"'-]+)\s*:(?:\s|$)",),
    ".json": (r" {2}\"(?P<name>[^\"]+)\"\s*:",),
    ".mk Makefile makefile GNUmakefile": (r"(?P<name>[\w./%-]+)\s*:(?![=:])",),
    "Dockerfile": (r"(?i)FROM\s+(?P<name>.+)",),
    ".proto .graphql .gql .thrift": (
        r"\s*(?:message|service|rpc|enum|type|input|interface|union|scalar|struct|directive)\s+@?(?P<name>\w+)",
    ),
}
_COMPILED = {end: tuple(map(re.compile, patterns)) for ends, patterns in _TABLE.items() for end in ends.split()}
_OTHERS = tuple(map(re.compile, _GENERIC))
NO_DEFINITIONS = frozenset({".md", ".markdown", ".rst", ".toml", ".ini", ".cfg", ".conf", ".yaml", ".yml", ".json"})
"""Files that have an outline, but no definitions that code could use."""


def patterns_for(path: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns for a file, by its name or extension."""
    name = os.path.basename(path)
    return _COMPILED.get(name) or _COMPILED.get(os.path.splitext(name)[1].lower()) or _OTHERS


MAX_TEXT = 2_000_000
"""Larger files are not parsed."""
MAX_LINE = 500
"""How much of a line is matched."""
MAX_SIGNATURE = 140


class Symbol(NamedTuple):
    """A definition."""

    name: str
    line: int
    end: int
    """Its last line; the first if unknown."""
    depth: int
    """Its nesting depth: 0 for top level."""
    text: str
    """Its signature: `class Session(Base)`."""
    path: str = ""
    """Its qualified name: `Session.close`."""


def is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".pyw"))


def symbols_of(path: str, text: str) -> list[Symbol]:
    """Return the definitions in a file, by line."""
    if is_python(path):
        tree = parse_python(text)
        if tree is not None:
            return symbols_in(tree)
    return list(_by_lines(path, text))


def symbols_in(tree: ast.Module) -> list[Symbol]:
    """Return the definitions in a Python module, without those inside functions."""
    return list(_python(tree.body, 0, ""))


def parse_python(text: str) -> ast.Module | None:
    """Parse a Python file; None if it is invalid or too large."""
    if len(text) > MAX_TEXT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def summary_of(path: str, text: str) -> str:
    """Return the first line of a Python file's docstring."""
    tree = parse_python(text) if is_python(path) else None
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
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    for target in targets:
        for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(each, ast.Name):
                yield each.id


def _symbol(node: ast.stmt, name: str, depth: int, inside: str, text: str) -> Symbol:
    short = text if len(text) <= MAX_SIGNATURE else cut(text, MAX_SIGNATURE) + " …"
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
        line = whole[:MAX_LINE].rstrip()
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
        shown = words if len(words) <= MAX_SIGNATURE else cut(words, MAX_SIGNATURE) + " …"
        yield Symbol(name, number, number, depth, shown, name)
