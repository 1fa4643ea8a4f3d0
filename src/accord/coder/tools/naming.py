"""find_symbol: where something is defined, or used."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.languages import NO_DEFINITIONS
from accord.coder.tools.places import who
from accord.coder.tools.searching import place, point_out, told
from accord.coder.tools.seeking import Hit, Hits, Query, seek
from accord.coder.tools.symbols import LINE, MAX_TEXT, is_python, parsed, symbols_in, symbols_of
from accord.coder.tools.text import counted, one_line
from accord.coder.tools.walking import read_bytes
from accord.model.noun import Noun
from accord.policy.action import Action
from accord.workspace.looking import Call

MOST_SEEN = 5_000
"""How many lines that have the word are looked at."""
MOST = 200


class FindSymbolArgs(Noun):
    """Which name, and what about it."""

    name: Annotated[
        str,
        Meta(min_length=1, description="A function, class, variable, type …; Class.method for one of a class."),
    ]
    what: Annotated[
        Literal["defined", "used"], Meta(description="Whether to find its definitions, or where it is used.")
    ] = "defined"


class FindSymbol(Tool[FindSymbolArgs]):
    name = "find_symbol"
    description = (
        "Finds where a function, class, method, variable or type is defined, or where it is used, in the whole "
        "project. Python is parsed, so that comments and texts do not count; in other languages definitions are "
        "recognised by their line and uses by the word. Gives lines with numbers, by file. For anything that is no "
        "name use search."
    )
    kind = "search"
    arguments = FindSymbolArgs

    def title(self, args: FindSymbolArgs) -> str:
        what = "Find where {} is defined" if args.what == "defined" else "Find uses of {}"
        return what.format(one_line(args.name, 60))

    def actions(self, args: FindSymbolArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(root, **who(work)) for root in work.session.roots]

    async def run(self, args: FindSymbolArgs, work: Work) -> Outcome:
        name = args.name.strip().removesuffix("()").replace("::", ".")
        word = name.rpartition(".")[2]
        if not word or any(char.isspace() for char in word):
            raise ToolFault(f"{args.name!r} is no name; to find any text use search")
        hits = await self._seen(work, word)
        by_file = [(path, list(group)) for path, group in groupby(hits.found, key=lambda hit: hit.path)]

        def sort(call: Call) -> list[Hit]:
            found: list[Hit] = []
            for path, lines in by_file:
                call.go_on()
                data = read_bytes(work.desk.files.disk.disk, path, MAX_TEXT)
                found += _sorted(path, data.decode(errors="replace"), lines, name, args.what)
            return found

        found = await work.desk.files.disk.away(sort)
        if not found:
            seen = len(hits.found)
            instead = f" The word itself stands in {counted(seen, 'line')}; search shows them." if seen else ""
            return Outcome(text=f"{args.name} is {args.what} nowhere in the project.{instead}", raw={"matches": []})
        hits.is_cut = hits.is_cut or len(found) > MOST
        hits.found = found[:MOST]
        await point_out(work, hits.found)
        return await told(work, hits)

    async def _seen(self, work: Work, word: str) -> Hits:
        """All lines that have the word, in all of the session's directories."""
        seen = Hits()
        inner: list[str] = []
        for root in work.session.roots:
            where = await place(work, root)
            if f"{where.real}/".startswith(tuple(inner)):
                continue
            inner.append(where.real.rstrip("/") + "/")
            hits = await seek(work, where, Query(pattern=word, word=True, limit=MOST_SEEN))
            seen.found += hits.found
            seen.withheld += hits.withheld
            seen.is_cut |= hits.is_cut
            seen.out_of_time |= hits.out_of_time
        return seen


def _sorted(path: str, text: str, hits: list[Hit], name: str, what: str) -> list[Hit]:
    """Of the lines of a file that have the word, those that define the name, or those that use it."""
    if "." + path.rpartition(".")[2] in NO_DEFINITIONS:
        return hits if what == "used" else []
    word = name.rpartition(".")[2]
    if what == "defined" and is_python(path) and not _may_define(hits, word):
        return []
    tree = parsed(text) if is_python(path) else None
    symbols = symbols_of(path, text) if tree is None else symbols_in(tree)
    named = [symbol for symbol in symbols if _is_called(symbol.name, word)]
    if what == "used":
        used = {hit.line for hit in hits} - {each.line for each in named} if tree is None else _used(tree, word)
        return [hit for hit in hits if hit.line in used]
    if "." in name:
        named = [symbol for symbol in named if f".{symbol.path}".endswith("." + name)]
    lines = {symbol.line for symbol in named}
    if tree is not None and "." not in name:
        lines |= _inside(tree, word)
    return [hit for hit in hits if hit.line in lines]


def _may_define(hits: list[Hit], word: str) -> bool:
    """Whether a Python file is worth parsing: most that use a name define nothing of that name."""
    pattern = re.compile(
        rf"\b(?:def|class)\s+{re.escape(word)}\b|\b{re.escape(word)}\b[^=]*=|^\s*{re.escape(word)}\s*:"
    )
    return any(pattern.search(hit.text[:LINE]) for hit in hits)


def _is_called(name: str, word: str) -> bool:
    """Whether a definition is of this word; some languages put more into a name (`Class::method`)."""
    return name == word or name.replace("::", ".").rpartition(".")[2] == word


def _inside(tree: ast.Module, word: str) -> set[int]:
    """Where functions and classes inside of functions have this name, which an outline does not show."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.lineno for node in ast.walk(tree) if isinstance(node, kinds) and node.name == word}


def _used(tree: ast.Module, word: str) -> set[int]:
    """The lines where a name is read, called, imported or given."""
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
