"""outline: what a file defines, or what a directory holds."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, Work
from accord.coder.tools.places import Found, look, missing, relative, who, whole_text
from accord.coder.tools.symbols import Symbol, summary_of, symbols_of
from accord.coder.tools.telling import tellable
from accord.coder.tools.text import beginning, counted, fenced, size_in_words, split_lines
from accord.coder.tools.walking import Step, Walk, read_bytes
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action
from accord.workspace.looking import Call

MOST_SYMBOLS = 400
MOST_ENTRIES = 300
MOST_NAMES = 8
READ_BYTES = 200_000
"""Up to this size the files of a directory are looked into."""


class OutlineArgs(Noun):
    """Of what."""

    path: Annotated[str, Meta(description="A file or a directory; the working directory if left out.")] = "."


class Outline(Tool[OutlineArgs]):
    name = "outline"
    description = (
        "Shows how something is made up. Of a file: its classes, functions and other definitions (of a document, its "
        "headings) with line numbers, to read the right part with read_file. Of a directory: a tree of what .gitignore "
        "does not leave out, with sizes and what the files define. The best first look at a project or a large file."
    )
    kind = "read"
    arguments = OutlineArgs

    def title(self, args: OutlineArgs) -> str:
        return f"Outline {args.path}" if args.path not in (".", "./", "") else "Outline the project"

    def locations(self, args: OutlineArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: OutlineArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path), **who(work))]

    async def run(self, args: OutlineArgs, work: Work) -> Outcome:
        found = await look(work, args.path or ".")
        if found.kind == "directory":
            text = await _of_directory(work, found)
        elif found.kind == "absent" and not work.session.client.read_files:
            raise await missing(work, args.path)
        else:
            text = await _of_file(work, args.path)
        await work.shown.show(fenced(text))
        return Outcome(text=text)


async def _of_file(work: Work, path: str) -> str:
    text = await whole_text(work, path)
    symbols, summary = await asyncio.to_thread(lambda: (symbols_of(path, text), summary_of(path, text)))
    name = relative(work, path)
    head = f"{name}: {counted(len(split_lines(text)), 'line')}" + (f". {summary}" if summary else "")
    if not symbols:
        return f"{head}\n[no definitions found; read_file shows the text]"
    lines = [head, *map(_line, symbols[:MOST_SYMBOLS])]
    if len(symbols) > MOST_SYMBOLS:
        lines.append(f"[{len(symbols) - MOST_SYMBOLS:,} more definitions follow; search finds them]")
    return "\n".join(lines)


def _line(symbol: Symbol) -> str:
    where = f"{symbol.line}-{symbol.end}" if symbol.end > symbol.line else str(symbol.line)
    return f"{where:>9}  {'  ' * symbol.depth}{symbol.text}"


async def _of_directory(work: Work, found: Found) -> str:
    def collect(call: Call) -> tuple[list[Step], bool]:
        walk = Walk(work.desk.files.disk.disk, found.root_real, found.real, go_on=call.go_on)
        return list(walk.steps()), walk.is_cut

    steps, is_cut = await work.desk.files.disk.away(collect)
    depth = _depth(steps)
    held: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for step in steps:
        if step.entry.kind == "file":
            folder = os.path.dirname(step.path)
            while len(folder) > len(found.real):
                held[folder] += 1
                sizes[folder] += step.entry.size
                folder = os.path.dirname(folder)
    shown = [step for step in steps if step.depth <= depth][:MOST_ENTRIES]
    told = await tellable(work, [found.named(step.path) for step in shown if step.entry.kind == "file"])

    def lines(call: Call) -> list[str]:
        written = []
        for step in shown:
            call.go_on()
            indent = "  " * (step.depth - 1)
            if step.entry.kind == "directory":
                inside = f"  ({counted(held[step.path], 'file')}, {size_in_words(sizes[step.path])})"
                written.append(f"{indent}{step.entry.name}/{inside}")
            else:
                names = _names(work, step) if found.named(step.path) in told else ""
                size = size_in_words(step.entry.size) if step.entry.kind == "file" else step.entry.kind
                written.append(f"{indent}{step.entry.name}  {size}{names}")
        return written

    tree = await work.desk.files.disk.away(lines)
    count = sum(step.entry.kind == "file" for step in steps)
    total = size_in_words(sum(step.entry.size for step in steps))
    head = f"{relative(work, found.path)}: {counted(count, 'file')}, {total}"
    rest = ["[directories further in are not unfolded; outline them by themselves]"] if depth < _deepest(steps) else []
    if is_cut or len(shown) < sum(step.depth <= depth for step in steps):
        rest.append("[there is more than is shown]")
    return "\n".join([head, beginning("\n".join(tree)).text.rstrip("\n"), *rest])


def _deepest(steps: Sequence[Step]) -> int:
    return max((step.depth for step in steps), default=0)


def _depth(steps: Sequence[Step]) -> int:
    """How many levels can be shown without too many lines."""
    at_depth = Counter(step.depth for step in steps)
    lines = 0
    for depth in range(1, _deepest(steps) + 1):
        lines += at_depth[depth]
        if lines > MOST_ENTRIES:
            return max(1, depth - 1)
    return max(1, _deepest(steps))


def _names(work: Work, step: Step) -> str:
    """What a file defines outermost, in a few names."""
    if not 0 < step.entry.size <= READ_BYTES:
        return ""
    data = read_bytes(work.desk.files.disk.disk, step.path, READ_BYTES)
    if b"\0" in data:
        return ""
    outermost = [each.name for each in symbols_of(step.path, data.decode(errors="replace")) if each.depth == 0]
    names = list(dict.fromkeys(name[:40] for name in outermost))
    if not names:
        return ""
    return f"  {', '.join(names[:MOST_NAMES])}{', …' if len(names) > MOST_NAMES else ''}"
