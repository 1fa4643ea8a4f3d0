"""search: find lines of text in the project."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative
from accord.coder.tools.project.ripgrep import Hit, Hits, Query, search
from accord.coder.tools.text import code_block, count_of, one_line, truncate
from accord.model.record import Record
from accord.model.tool import Location
from accord.policy.action import Action

MAX_LIMIT = 1_000
MAX_LINE = 300
"""Longer lines are truncated around the match."""
MAX_LOCATIONS = 20
"""The number of matches the client is sent as locations to follow."""


class SearchArgs(Record):
    """The pattern and where to search."""

    pattern: Annotated[
        str, Meta(min_length=1, description="The text to find, or with regex=true a regular expression.")
    ]
    path: Annotated[str, Meta(description="The directory or file to search; defaults to the working directory.")] = "."
    glob: Annotated[
        str | None,
        Meta(description="Only files with matching names: *.py, src/**/*.ts, *.{c,h}; with a leading ! all others."),
    ] = None
    regex: Annotated[bool, Meta(description="Whether the pattern is a regular expression.")] = False
    ignore_case: Annotated[bool, Meta(description="Whether to ignore case.")] = False
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="The maximum number of lines to return.")] = 200


class Search(Tool[SearchArgs]):
    name = "search"
    description = (
        "Finds lines of text in the project's files; the pattern is literal unless regex=true. Returns lines with line "
        "numbers, grouped by file. Skips binary files and files ignored by .gitignore; includes hidden files. Searches "
        "what is saved on disk, not unsaved changes. Use find_files to find files by name, and find_symbol for the "
        "definition or uses of a function, class or variable."
    )
    kind: str = "search"
    arguments = SearchArgs
    aliases = "grep rg ripgrep grep_search search_files search_file_content search_content find_in_files code_search"

    def title(self, args: SearchArgs) -> str:
        where = "" if args.path in (".", "./", "") else f" in {args.path}"
        return f"Search for {one_line(args.pattern, 60)}{where}" + (f" ({args.glob})" if args.glob else "")

    def locations(self, args: SearchArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: SearchArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_read(ctx.session.absolute(args.path), **origin(ctx))]

    async def run(self, args: SearchArgs, ctx: ToolContext) -> Outcome:
        query = Query(
            pattern=args.pattern, regex=args.regex, ignore_case=args.ignore_case, glob=args.glob, limit=args.limit
        )
        hits = await search(ctx, await find_scope(ctx, args.path), query)
        if not hits.found:
            return Outcome(
                text="\n".join(["No matches.", *notes(hits)]), raw={"matches": [], "complete": is_complete(hits)}
            )
        await send_locations(ctx, hits.found)
        return await report(ctx, hits)


async def find_scope(ctx: ToolContext, path: str) -> Found:
    """Find a file or directory to search in."""
    found = await locate(ctx, path or ".", outside=True)
    if found.kind == "absent":
        raise await missing(ctx, path)
    if found.kind not in ("file", "directory"):
        raise ToolError(f"{path} is a {found.kind}; only files and directories can be searched")
    return found


async def report(ctx: ToolContext, hits: Hits) -> Outcome:
    """Report matches to the model and the user."""
    listed = truncate(group_by_file(ctx, hits.found))
    files = len({hit.path for hit in hits.found})
    head = f"{count_of(len(hits.found), 'line')} in {count_of(files, 'file')}:"
    more = [] if listed.is_complete else ["[too much to show all of it; narrow the search]"]
    await ctx.call.show(code_block(listed.text))
    matches = [
        {"path": hit.path, "name": relative(ctx, hit.path), "line": hit.line, "text": excerpt(hit)}
        for hit in hits.found
    ]
    raw = {"matches": matches, "complete": is_complete(hits)}
    return Outcome(text="\n".join([head, listed.text.rstrip("\n"), *more, *notes(hits)]), raw=raw)


def group_by_file(ctx: ToolContext, found: Sequence[Hit]) -> str:
    """Lines with their numbers, grouped by file."""
    lines: list[str] = []
    for path, group in groupby(found, key=lambda hit: hit.path):
        lines.append(relative(ctx, path))
        lines += [f"  {hit.line}: {excerpt(hit)}" for hit in group]
    return "\n".join(lines) + "\n"


def excerpt(hit: Hit) -> str:
    """A line; if it is long, the part around the match."""
    if len(hit.text) <= MAX_LINE:
        return hit.text
    begin = max(0, min(hit.start - MAX_LINE // 3, len(hit.text) - MAX_LINE))
    part = hit.text[begin : begin + MAX_LINE]
    return f"{'…' if begin else ''}{part}{'…' if begin + MAX_LINE < len(hit.text) else ''}"


def is_complete(hits: Hits) -> bool:
    """Return whether there are no other matches than these and the protected ones."""
    return not hits.is_truncated and not hits.timed_out


def notes(hits: Hits) -> list[str]:
    """Notes for the model about an incomplete result."""
    lines = []
    if hits.is_truncated:
        lines.append("[there is more: narrow the pattern, the path or the glob, or raise limit]")
    if hits.timed_out:
        lines.append("[the search timed out; narrow the path or the glob]")
    if hits.withheld:
        lines.append(f"[{count_of(hits.withheld, 'file')} with matches omitted: protected by the user's rules]")
    return lines


async def send_locations(ctx: ToolContext, found: Sequence[Hit]) -> None:
    """Send the first matches to the client, which may open them."""
    await ctx.call.update(locations=[Location(path=hit.path, line=hit.line) for hit in found[:MAX_LOCATIONS]])
