"""Find the definitions or the uses of a name, for `outline`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from accord.coder.tools.base import Outcome, ToolContext, ToolError
from accord.coder.tools.project.coverage import survey
from accord.coder.tools.project.ripgrep import MAX_FILE_BYTES, Hit, Hits, Query, search
from accord.coder.tools.project.symbols import (
    MAX_LINE,
    MAX_TEXT,
    NO_DEFINITIONS,
    is_python,
    parse_python,
    symbols_in,
    symbols_of,
)
from accord.coder.tools.project.walk import read_bytes
from accord.coder.tools.search import find_scope, is_complete, notes, report, send_locations
from accord.coder.tools.text import count_of
from accord.workspace.place import Call

MAX_LINES = 5_000
"""The most lines with the word that are examined."""
MAX_RESULTS = 200
Use = Literal["definitions", "uses"]


async def find_symbol(ctx: ToolContext, symbol: str, find: Use, paths: Sequence[str]) -> Outcome:
    """Find the definitions or the uses of a name below these paths."""
    name = symbol.strip().removesuffix("()").replace("::", ".")
    word = name.rpartition(".")[2]
    if not word or any(char.isspace() for char in word):
        raise ToolError(f"{symbol!r} is not a name; use search to find any text")
    hits = await _lines_with(ctx, word, paths)
    by_file = [(path, list(group)) for path, group in groupby(hits.found, key=lambda hit: hit.path)]

    def select(call: Call) -> list[Hit]:
        found: list[Hit] = []
        for path, lines in by_file:
            call.check_wanted()
            data = read_bytes(ctx.state.files.disk.disk, path, MAX_TEXT)
            found += _select(path, data.decode(errors="replace"), lines, name, find)
        return found

    found = await ctx.state.files.disk.run_blocking(select)
    if not found:
        seen = len(hits.found)
        instead = f" The word itself occurs in {count_of(seen, 'line')}; search shows them." if seen else ""
        coverage = [await survey(ctx, await find_scope(ctx, each), None, MAX_FILE_BYTES) for each in paths]
        searched = " and ".join(part.describe() for part in coverage)
        skipped = [note for part in coverage for note in part.notes(None, MAX_FILE_BYTES)]
        text = f"{symbol} is not {'defined' if find == 'definitions' else 'used'} {searched}.{instead}"
        return Outcome(
            text="\n".join([text, *skipped, *notes(hits)]), raw={"matches": [], "complete": is_complete(hits)}
        )
    hits.is_truncated = hits.is_truncated or len(found) > MAX_RESULTS
    hits.found = found[:MAX_RESULTS]
    await send_locations(ctx, hits.found)
    return await report(ctx, hits)


async def _lines_with(ctx: ToolContext, word: str, paths: Sequence[str]) -> Hits:
    """Return every line with the word below these paths."""
    seen = Hits()
    inner: list[str] = []
    for path in paths:
        where = await find_scope(ctx, path)
        if where.is_outside:
            raise ToolError(f"{path} is outside the project; search can look there for any text")
        if f"{where.real}/".startswith(tuple(inner)):
            continue
        inner.append(where.real.rstrip("/") + "/")
        hits = await search(ctx, where, Query(pattern=word, word=True, limit=MAX_LINES))
        seen.found += hits.found
        seen.withheld += hits.withheld
        seen.is_truncated |= hits.is_truncated
        seen.timed_out |= hits.timed_out
    return seen


def _select(path: str, text: str, hits: list[Hit], name: str, find: Use) -> list[Hit]:
    """Return the lines of a file that define the name, or those that use it."""
    if "." + path.rpartition(".")[2] in NO_DEFINITIONS:
        return hits if find == "uses" else []
    word = name.rpartition(".")[2]
    if find == "definitions" and is_python(path) and not _may_define(hits, word):
        return []
    tree = parse_python(text) if is_python(path) else None
    symbols = symbols_of(path, text) if tree is None else symbols_in(tree)
    named = [symbol for symbol in symbols if _is_named(symbol.name, word)]
    if find == "uses":
        used = {hit.line for hit in hits} - {each.line for each in named} if tree is None else _uses(tree, word)
        return [hit for hit in hits if hit.line in used]
    if "." in name:
        named = [symbol for symbol in named if f".{symbol.path}".endswith("." + name)]
    lines = {symbol.line for symbol in named}
    if tree is not None and "." not in name:
        lines |= _nested_definitions(tree, word)
    return [hit for hit in hits if hit.line in lines]


def _may_define(hits: list[Hit], word: str) -> bool:
    """Return whether a Python file is worth parsing: most files that use a name don't define it."""
    pattern = re.compile(
        rf"\b(?:def|class)\s+{re.escape(word)}\b|\b{re.escape(word)}\b[^=]*=|^\s*{re.escape(word)}\s*:"
    )
    return any(pattern.search(hit.text[:MAX_LINE]) for hit in hits)


def _is_named(name: str, word: str) -> bool:
    """Return whether a definition has this name; some languages qualify it (`Class::method`)."""
    return name == word or name.replace("::", ".").rpartition(".")[2] == word


def _nested_definitions(tree: ast.Module, word: str) -> set[int]:
    """Return the lines of functions and classes with this name inside functions, which an outline doesn't show."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.lineno for node in ast.walk(tree) if isinstance(node, kinds) and node.name == word}


def _uses(tree: ast.Module, word: str) -> set[int]:
    """Return the lines where a name is read, called, imported or passed as a keyword."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load() | ast.Del()) if name == word:
                lines.add(node.lineno)
            case ast.Attribute(attr=name, ctx=ast.Load() | ast.Del()) if name == word:
                lines.add(node.end_lineno or node.lineno)
            case ast.alias(name=name) if word in name.split("."):
                lines.add(node.lineno)
            case ast.keyword(arg=name) if name == word:
                lines.add(node.lineno)
    return lines
