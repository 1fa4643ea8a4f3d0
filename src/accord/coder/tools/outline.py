"""outline: the definitions in a file, the tree of a directory, or where a name is defined or used."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext
from accord.coder.tools.project.paths import Found, allowed_paths, locate, missing, origin, relative, whole_text
from accord.coder.tools.project.symbol_search import Use, find_symbol
from accord.coder.tools.project.symbols import Symbol, summary_of, symbols_of
from accord.coder.tools.project.walk import Step, Walk, read_bytes
from accord.coder.tools.text import code_block, count_of, cut, format_size, one_line, split_lines, truncate
from accord.model.record import Record
from accord.model.tool import Location, ToolKind
from accord.policy.action import Action
from accord.workspace.place import Call

MAX_SYMBOLS = 400
EVERYWHERE = (".", "./", "")
"""Paths that mean the whole project: for a name, all of the session's directories."""
MAX_ENTRIES = 300
MAX_NAMES = 8
MAX_READ_BYTES = 200_000
"""Larger files in a directory are listed without their definitions."""


class OutlineArgs(Record):
    """The file or directory, or the name to find."""

    path: Annotated[str, Meta(description="A file or directory; defaults to the whole project.")] = "."
    symbol: Annotated[
        str | None,
        Meta(description="Find this function, class, variable or type instead; Class.method for a method."),
    ] = None
    find: Annotated[
        Use, Meta(description="With symbol: where it is defined, or used.", extra={"aliases": "what kind"})
    ] = "definitions"


class Outline(Tool[OutlineArgs]):
    name = "outline"
    description = (
        "Shows the structure of code. For a file: classes, functions and other definitions (for a document, headings) "
        "with line numbers, so that read_file can read the right part. For a directory: a tree with sizes and "
        "top-level definitions; the best first look at a project. With symbol: the lines that define or use a name, "
        "in the whole project or below path. Python is parsed, so comments and strings don't count; other languages "
        "are matched by line and word."
    )
    kind: str = "read"
    arguments = OutlineArgs
    aliases = (
        "find_symbol symbols list_symbols document_symbols get_symbols_overview codebase_outline "
        "list_code_definition_names"
    )
    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "find_definition": {"find": "definitions"},
        "go_to_definition": {"find": "definitions"},
        "find_references": {"find": "uses"},
        "find_usages": {"find": "uses"},
    }

    def kind_of(self, args: OutlineArgs) -> ToolKind:
        return "search" if args.symbol else "read"

    def title(self, args: OutlineArgs) -> str:
        if args.symbol:
            what = "Find where {} is defined" if args.find == "definitions" else "Find uses of {}"
            return what.format(one_line(args.symbol, 60))
        return f"Outline {args.path}" if args.path not in EVERYWHERE else "Outline the project"

    def locations(self, args: OutlineArgs) -> Sequence[Location]:
        return [Location(path=args.path)] if args.symbol is None else []

    def actions(self, args: OutlineArgs, ctx: ToolContext) -> Sequence[Action]:
        is_everywhere = args.symbol is not None and args.path in EVERYWHERE
        paths = ctx.session.roots if is_everywhere else [ctx.session.absolute(args.path)]
        return [Action.of_read(path, **origin(ctx)) for path in paths]

    async def run(self, args: OutlineArgs, ctx: ToolContext) -> Outcome:
        if args.symbol is not None:
            paths = ctx.session.roots if args.path in EVERYWHERE else [args.path]
            return await find_symbol(ctx, args.symbol, args.find, paths)
        found = await locate(ctx, args.path or ".")
        if found.kind == "directory":
            text, raw = await _of_directory(ctx, found)
        elif found.kind == "absent" and not ctx.session.client.offers.read_files:
            raise await missing(ctx, args.path)
        else:
            text, raw = await _of_file(ctx, args.path), None
        await ctx.call.show(code_block(text))
        return Outcome(text=text, raw=raw)


async def _of_file(ctx: ToolContext, path: str) -> str:
    text = await whole_text(ctx, path)
    symbols, summary = await asyncio.to_thread(lambda: (symbols_of(path, text), summary_of(path, text)))
    name = relative(ctx, path)
    head = f"{name}: {count_of(len(split_lines(text)), 'line')}" + (f". {summary}" if summary else "")
    if not symbols:
        return f"{head}\n[no definitions found; use read_file to see the text]"
    lines = [head, *map(_line, symbols[:MAX_SYMBOLS])]
    if len(symbols) > MAX_SYMBOLS:
        lines.append(f"[{len(symbols) - MAX_SYMBOLS:,} more definitions; use search to find them]")
    return "\n".join(lines)


def _line(symbol: Symbol) -> str:
    where = f"{symbol.line}-{symbol.end}" if symbol.end > symbol.line else str(symbol.line)
    return f"{where:>9}  {'  ' * symbol.depth}{symbol.text}"


async def _of_directory(ctx: ToolContext, found: Found) -> tuple[str, dict[str, Any]]:
    """Return the outline of a directory, and the number of files in each directory directly below it."""

    def collect(call: Call) -> tuple[list[Step], bool]:
        walk = Walk(ctx.state.files.disk.disk, found.root_real, found.real, check_wanted=call.check_wanted)
        return list(walk.steps()), walk.is_truncated

    steps, is_truncated = await ctx.state.files.disk.run_blocking(collect)
    depth = _depth(steps)
    held: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for step in steps:
        if step.entry.kind == "file":
            directory = os.path.dirname(step.path)
            while len(directory) > len(found.real):
                held[directory] += 1
                sizes[directory] += step.entry.size
                directory = os.path.dirname(directory)
    shown = [step for step in steps if step.depth <= depth][:MAX_ENTRIES]
    readable = await allowed_paths(ctx, [found.below_root(step.path) for step in shown if step.entry.kind == "file"])

    def lines(call: Call) -> list[str]:
        written = []
        for step in shown:
            call.check_wanted()
            indent = "  " * (step.depth - 1)
            if step.entry.kind == "directory":
                inside = f"  ({count_of(held[step.path], 'file')}, {format_size(sizes[step.path])})"
                written.append(f"{indent}{step.entry.name}/{inside}")
            else:
                names = _names(ctx, step) if found.below_root(step.path) in readable else ""
                size = format_size(step.entry.size) if step.entry.kind == "file" else step.entry.kind
                written.append(f"{indent}{step.entry.name}  {size}{names}")
        return written

    tree = await ctx.state.files.disk.run_blocking(lines)
    count = sum(step.entry.kind == "file" for step in steps)
    total = format_size(sum(step.entry.size for step in steps))
    head = f"{relative(ctx, found.path)}: {count_of(count, 'file')}, {total}"
    rest = ["[deeper directories are not expanded; outline them separately]"] if depth < _deepest(steps) else []
    if is_truncated or len(shown) < sum(step.depth <= depth for step in steps):
        rest.append("[the tree is truncated]")
    inner = [step for step in steps if step.depth == 1 and step.entry.kind == "directory"]
    raw = {"path": found.path, "files": count, "directories": {step.entry.name: held[step.path] for step in inner}}
    return "\n".join([head, truncate("\n".join(tree)).text.rstrip("\n"), *rest]), raw


def _deepest(steps: Sequence[Step]) -> int:
    return max((step.depth for step in steps), default=0)


def _depth(steps: Sequence[Step]) -> int:
    """Return the number of levels that fit in `MAX_ENTRIES` lines."""
    at_depth = Counter(step.depth for step in steps)
    lines = 0
    for depth in range(1, _deepest(steps) + 1):
        lines += at_depth[depth]
        if lines > MAX_ENTRIES:
            return max(1, depth - 1)
    return max(1, _deepest(steps))


def _names(ctx: ToolContext, step: Step) -> str:
    """Return the first top-level names that a file defines."""
    if not 0 < step.entry.size <= MAX_READ_BYTES:
        return ""
    data = read_bytes(ctx.state.files.disk.disk, step.path, MAX_READ_BYTES, at=step.path)
    if b"\0" in data:
        return ""
    outermost = [each.name for each in symbols_of(step.path, data.decode(errors="replace")) if each.depth == 0]
    names = list(dict.fromkeys(cut(name, 40) for name in outermost))
    if not names:
        return ""
    return f"  {', '.join(names[:MAX_NAMES])}{', …' if len(names) > MAX_NAMES else ''}"
