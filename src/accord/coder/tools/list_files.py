"""list_files: the entries of a directory, or the files below it whose names match a pattern."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from accord.coder.tools.arguments import normalize
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative, split_glob
from accord.coder.tools.project.walk import Step, Walk
from accord.coder.tools.text import code_block, count_of, format_size, one_line
from accord.model.record import Record
from accord.model.tool import Location, ToolKind
from accord.policy.action import Action
from accord.workspace.globs import compile_name_glob
from accord.workspace.place import Call

MAX_LISTED = 500
"""The most entries or matches."""
MAX_DEPTH = 20
MAX_IGNORED = 20
_REGEX = re.compile(r"\\[.dwsb/]|\.\*|\.\+|\$\Z|\A\^|\|")
"""Syntax that only regular expressions have."""


class ListFilesArgs(Record):
    """The directory and what to list of it."""

    path: Annotated[str, Meta(description="The directory; defaults to the working directory.")] = "."
    pattern: Annotated[
        str | None,
        Meta(
            description="A glob to find files by name: *.py at any depth, src/**/*.ts whole paths, *.{js,ts} either "
            "ending.",
            extra={"aliases": "glob glob_pattern file_pattern name filename query"},
        ),
    ] = None
    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH, description="Without pattern: the number of levels to list.")] = 1


class ListFiles(Tool[ListFilesArgs]):
    name = "list_files"
    description: str = (
        f"Lists a directory with file sizes; with a pattern, finds files by name at any depth. At most {MAX_LISTED} "
        "entries. Leaves out what .gitignore lists. To find files by content use search."
    )
    kind: str = "read"
    arguments = ListFilesArgs
    aliases = "ls list list_dir list_directory dir tree find_files glob find file_search glob_file_search"

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate globs in the path, absolute patterns, several patterns, and `recursive`."""
        adapted = {name: value for name, value in arguments.items() if normalize(name) != "recursive"}
        if any(normalize(name) == "recursive" and str(value).lower() == "true" for name, value in arguments.items()):
            adapted.setdefault("depth", MAX_DEPTH)
        for name, value in arguments.items():
            is_path = normalize(name) in ("path", "directory", "dirpath")
            if isinstance(value, str) and "*" in value and (is_path or value.startswith("/")):
                del adapted[name]
                directory, glob = split_glob(value)
                adapted |= {"path": directory, **({} if "pattern" in adapted else {"pattern": glob})}
            elif isinstance(value, list) and len(value) > 1 and normalize(name) in ("pattern", "patterns", "glob"):
                adapted[name] = f"{{{','.join(map(str, value))}}}"
        return adapted

    def kind_of(self, args: ListFilesArgs) -> ToolKind:
        return "search" if args.pattern else "read"

    def title(self, args: ListFilesArgs) -> str:
        if not args.pattern:
            return f"List {args.path}"
        where = "" if args.path in (".", "./", "") else f" in {args.path}"
        return f"Find {one_line(args.pattern, 60)}{where}"

    def locations(self, args: ListFilesArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: ListFilesArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_read(ctx.session.absolute(args.path), **origin(ctx))]

    async def run(self, args: ListFilesArgs, ctx: ToolContext) -> Outcome:
        found = await find_directory(ctx, args.path)
        return await (_find(ctx, found, args.pattern) if args.pattern else _list(ctx, found, args.depth))


async def _list(ctx: ToolContext, found: Found, depth: int) -> Outcome:
    """Return the entries of a directory, down to a depth."""
    disk = ctx.state.files.outside if found.is_outside else ctx.state.files.disk

    def collect(call: Call) -> tuple[list[Step], list[Step]]:
        walk = Walk(disk.disk, found.root_real, found.real, check_wanted=call.check_wanted)
        kept: list[Step] = []
        ignored: list[Step] = []
        for step in walk.steps(depth=depth, with_ignored=True):
            (ignored if step.ignored else kept).append(step)
            if len(kept) > MAX_LISTED:
                break
        return kept, ignored

    kept, ignored = await disk.run_blocking(collect)
    lines = [_line(step) for step in kept[:MAX_LISTED]] or ["[the directory is empty]"]
    await ctx.call.show(code_block("\n".join(lines)))
    if len(kept) > MAX_LISTED:
        lines.append(f"[there are more than these {MAX_LISTED}; list a subdirectory, or fewer levels]")
    if ignored:
        names = ", ".join(_below(found, step) for step in ignored[:MAX_IGNORED])
        rest = len(ignored) - MAX_IGNORED
        lines.append(f"[ignored by .gitignore: {names}{f' and {rest:,} more' if rest > 0 else ''}]")
    raw = {
        "path": found.path,
        "names": [_below(found, step) for step in kept[:MAX_LISTED]],
        "ignored": [_below(found, step) for step in ignored[:MAX_IGNORED]],
    }
    return Outcome(text="\n".join(lines), raw=raw)


async def _find(ctx: ToolContext, found: Found, glob: str) -> Outcome:
    """Return the files below a directory whose names match."""
    names = await _match(ctx, found, compile_name_glob(glob.removeprefix("./")))
    note = ""
    for pattern, words in _alternatives(glob) if not names.paths else ():
        others = await _match(ctx, found, pattern)
        if others.paths:
            names, note = others, f"[no name matches the glob {one_line(glob)}; {words}]"
            break
    return await _report(ctx, found, glob, names, note)


class _Names(NamedTuple):
    """The files that match a pattern."""

    paths: list[str]
    checked: int
    is_truncated: bool


async def _match(ctx: ToolContext, found: Found, pattern: re.Pattern[str]) -> _Names:
    disk = ctx.state.files.outside if found.is_outside else ctx.state.files.disk

    def collect(call: Call) -> _Names:
        walk = Walk(disk.disk, found.root_real, found.real, check_wanted=call.check_wanted)
        below = found.real.rstrip(os.sep) + os.sep
        checked = 0
        paths: list[str] = []
        for step in walk.files():
            checked += 1
            if pattern.fullmatch(step.path[len(below) :]):
                paths.append(step.path)
                if len(paths) > MAX_LISTED:
                    break
        return _Names(paths, checked, walk.is_truncated)

    return await disk.run_blocking(collect)


def _alternatives(glob: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield other readings of a pattern that matches nothing, with a note about each."""
    if _REGEX.search(glob):
        translated = _as_glob(glob)
        yield compile_name_glob(translated), f"read as a regular expression, which means the glob {translated}"
    elif "*" not in glob and "?" not in glob and glob.strip("/"):
        part = glob.strip("/")
        yield compile_name_glob(f"{part}/**"), "these are in a directory of that name"
        yield compile_name_glob(f"*{part}*" if "/" not in part else f"**/{part}*"), "these contain it"


def _as_glob(regex: str) -> str:
    """Return a glob for a simple regular expression. Running it as it is could take forever."""
    body = regex.removeprefix("^").removesuffix("$")
    body = re.sub(r"/\.[*+]", "/**/*", body)
    body = re.sub(r"\.[*+]", "*", body)
    body = re.sub(r"\((?:\?:)?([^()]*)\)", lambda match: f"{{{match[1].replace('|', ',')}}}", body)
    body = f"{{{body.replace('|', ',')}}}" if "|" in body else body
    return re.sub(r"\\(?=[./-])", "", body)


async def _report(ctx: ToolContext, found: Found, glob: str, matched: _Names, note: str) -> Outcome:
    paths = matched.paths
    names = [relative(ctx, found.below_root(path)) for path in paths[:MAX_LISTED]]
    lines = [f"{count_of(len(names), 'file')}:", *names] if names else [_describe_nothing(matched.checked, glob)]
    if note:
        lines.insert(0, note)
    if names:
        await ctx.call.show(code_block("\n".join(names)))
    if len(paths) > MAX_LISTED:
        lines.append("[there are more; give a narrower pattern or path]")
    if matched.is_truncated:
        lines.append("[too many files to check them all; give a narrower path]")
    raw = {
        "paths": [found.below_root(path) for path in paths[:MAX_LISTED]],
        "names": names,
        "complete": len(paths) <= MAX_LISTED and not matched.is_truncated,
    }
    return Outcome(text="\n".join(lines), raw=raw)


def _describe_nothing(checked: int, glob: str) -> str:
    advice = " The pattern is a glob such as *.py, not a regular expression." if _REGEX.search(glob) else ""
    return f"No matching files: checked {count_of(checked, 'file')}, without those ignored by .gitignore.{advice}"


async def find_directory(ctx: ToolContext, path: str) -> Found:
    """Find an existing directory."""
    found = await locate(ctx, path or ".", outside=True)
    if found.kind == "absent":
        raise await missing(ctx, path)
    if found.kind != "directory":
        raise ToolError(f"{path} is a {found.kind}, not a directory; read_file reads files")
    return found


def _line(step: Step) -> str:
    name, kind = step.entry.name, step.entry.kind
    other = "  (name isn't valid text; can't be used)" if step.entry.has_escapes else "  (special file)"
    end = {"directory": "/", "link": "  (link)", "other": other}.get(kind, f"  {format_size(step.entry.size)}")
    return f"{'  ' * (step.depth - 1)}{name}{end}{'  (hidden)' if name.startswith('.') else ''}"


def _below(found: Found, step: Step) -> str:
    name = step.path[len(found.real.rstrip(os.sep)) + 1 :]
    return f"{name}/" if step.entry.kind == "directory" else name
