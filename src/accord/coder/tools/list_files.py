"""list_files: the entries of a directory, or the files below it whose names match a pattern."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative
from accord.coder.tools.project.walk import Step, Walk
from accord.coder.tools.text import code_block, count_of, format_size, one_line
from accord.model.record import Record
from accord.model.tool import Location, ToolKind
from accord.policy.action import Action
from accord.workspace.globs import compile_name_glob
from accord.workspace.place import Call

MAX_LISTED = 500
"""The most entries or matches."""
MAX_IGNORED = 20


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
    depth: Annotated[int, Meta(ge=1, le=20, description="Without pattern: the number of levels to list.")] = 1


class ListFiles(Tool[ListFilesArgs]):
    name = "list_files"
    description: str = (
        f"Lists a directory with file sizes; with a pattern, finds files by name at any depth. At most {MAX_LISTED} "
        "entries. Leaves out what .gitignore lists. To find files by content use search."
    )
    kind: str = "read"
    arguments = ListFilesArgs
    aliases = "ls list list_dir list_directory dir tree find_files glob find file_search glob_file_search"

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
    """The entries of a directory, down to a depth."""

    def collect(call: Call) -> tuple[list[Step], list[Step]]:
        walk = Walk(ctx.state.files.disk.disk, found.root_real, found.real, check_wanted=call.check_wanted)
        kept: list[Step] = []
        ignored: list[Step] = []
        for step in walk.steps(depth=depth, with_ignored=True):
            (ignored if step.ignored else kept).append(step)
            if len(kept) > MAX_LISTED:
                break
        return kept, ignored

    kept, ignored = await ctx.state.files.disk.away(collect)
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
    """The files below a directory whose names match."""
    pattern = compile_name_glob(glob.removeprefix("./"))

    def collect(call: Call) -> tuple[list[str], int, bool]:
        walk = Walk(ctx.state.files.disk.disk, found.root_real, found.real, check_wanted=call.check_wanted)
        below = found.real.rstrip(os.sep) + os.sep
        checked = 0
        paths: list[str] = []
        for step in walk.files():
            checked += 1
            if pattern.fullmatch(step.path[len(below) :]):
                paths.append(step.path)
                if len(paths) > MAX_LISTED:
                    break
        return paths, checked, walk.is_truncated

    paths, checked, is_truncated = await ctx.state.files.disk.away(collect)
    names = [relative(ctx, found.below_root(path)) for path in paths[:MAX_LISTED]]
    lines = [f"{count_of(len(names), 'file')}:", *names] if names else [_describe_nothing(checked)]
    if names:
        await ctx.call.show(code_block("\n".join(names)))
    if len(paths) > MAX_LISTED:
        lines.append("[there are more; give a narrower pattern or path]")
    if is_truncated:
        lines.append("[too many files to check them all; give a narrower path]")
    raw = {
        "paths": [found.below_root(path) for path in paths[:MAX_LISTED]],
        "names": names,
        "complete": len(paths) <= MAX_LISTED and not is_truncated,
    }
    return Outcome(text="\n".join(lines), raw=raw)


def _describe_nothing(checked: int) -> str:
    return f"No matching files: checked {count_of(checked, 'file')}, without those ignored by .gitignore."


async def find_directory(ctx: ToolContext, path: str) -> Found:
    """Find an existing directory."""
    found = await locate(ctx, path or ".")
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
