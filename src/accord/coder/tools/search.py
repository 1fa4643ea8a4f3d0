"""search: find lines of text in the project."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from accord.coder.tools.arguments import normalize
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.coverage import survey
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative, split_glob
from accord.coder.tools.project.ripgrep import MAX_FILE_BYTES, Hit, Hits, InvalidPattern, Query, search
from accord.coder.tools.text import code_block, count_of, cut, drop_key_end, one_line, truncate
from accord.model.record import Record
from accord.model.tool import Location
from accord.policy.action import Action

MAX_LIMIT = 1_000
MAX_CONTEXT = 50
MAX_COUNTED = 20_000
"""The most lines that are counted."""
MAX_LINE = 300
"""Longer lines are truncated around the match."""
MAX_LOCATIONS = 20
"""The most matches that are sent to the client as locations to follow."""
FILE_TYPES = {
    "python": "py",
    "js": "js,jsx,mjs,cjs",
    "javascript": "js,jsx,mjs,cjs",
    "ts": "ts,tsx,mts,cts",
    "typescript": "ts,tsx,mts,cts",
    "rust": "rs",
    "c": "c,h",
    "cpp": "cpp,cc,cxx,hpp,hh,h",
    "ruby": "rb",
    "markdown": "md",
    "yaml": "yaml,yml",
}
"""The endings of ripgrep's file types; other types are endings themselves."""
ADAPTED = frozenset({"c", "context", "type", "exclude", "excludepattern"})
"""Arguments, normalized, that are translated and then dropped."""
_DELIMITED = re.compile(r"/(.+)/([a-z]*)|([\"'])(.+)\3")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


class SearchArgs(Record):
    """The pattern and where to search."""

    pattern: Annotated[str, Meta(min_length=1, description="A regular expression, matched against each line.")]
    path: Annotated[str, Meta(description="The directory or file to search; defaults to the working directory.")] = "."
    glob: Annotated[
        str | None,
        Meta(description="Only files with matching names: *.py, src/**/*.ts, *.{c,h}; with a leading ! all others."),
    ] = None
    output_mode: Annotated[
        Literal["content", "files_with_matches", "count"],
        Meta(description="Return matching lines, only the names of files, or the number of lines in each file."),
    ] = "content"
    before: Annotated[int, Meta(ge=0, le=MAX_CONTEXT, description="Lines to show before each match.")] = 0
    after: Annotated[int, Meta(ge=0, le=MAX_CONTEXT, description="Lines to show after each match.")] = 0
    ignore_case: Annotated[bool, Meta(description="Whether to ignore case.")] = False
    literal: Annotated[bool, Meta(description="Whether the pattern is plain text.")] = False
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="The maximum number of lines or files to return.")] = 200


class Search(Tool[SearchArgs]):
    name = "search"
    description = (
        "Finds lines that match a regular expression in the project's files. Returns lines with line numbers, grouped "
        "by file. Skips binary files and files ignored by .gitignore; includes hidden files. Searches what is saved on "
        "disk, not unsaved changes. Use list_files to find files by name, and outline for the definition or uses of a "
        "function, class or variable."
    )
    kind: str = "search"
    arguments = SearchArgs
    aliases = "grep rg ripgrep grep_search search_files search_file_content search_content find_in_files code_search"

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate ripgrep's options for context on both sides and for file types, several patterns, and paths that
        are globs."""
        adapted = {name: value for name, value in arguments.items() if normalize(name) not in ADAPTED}
        for name, value in arguments.items():
            match normalize(name), value:
                case (("pattern" | "patterns" | "queries"), [str(), str(), *_]):
                    adapted[name] = "|".join(f"(?:{each})" for each in value)
                case (("path" | "directory" | "searchpath"), str()) if "*" in value:
                    directory, glob = split_glob(value)
                    adapted |= {"path": directory}
                    adapted.setdefault("glob", glob)
                    if name != "path":
                        del adapted[name]
                case (("exclude" | "excludepattern"), str()) if value:
                    adapted.setdefault("glob", f"!{value}")
                case (("c" | "context"), _):
                    adapted.setdefault("before", value)
                    adapted.setdefault("after", value)
                case "type", str() if value:
                    ends = FILE_TYPES.get(value, value)
                    adapted.setdefault("glob", f"*.{{{ends}}}" if "," in ends else f"*.{ends}")
        return adapted

    def title(self, args: SearchArgs) -> str:
        where = "" if args.path in (".", "./", "") else f" in {args.path}"
        return f"Search for {one_line(args.pattern, 60)}{where}" + (f" ({args.glob})" if args.glob else "")

    def locations(self, args: SearchArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: SearchArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_read(ctx.session.absolute(args.path), **origin(ctx))]

    async def run(self, args: SearchArgs, ctx: ToolContext) -> Outcome:
        where = await find_scope(ctx, args.path)
        query = Query(
            pattern=args.pattern,
            regex=not args.literal,
            ignore_case=args.ignore_case,
            glob=join_globs(args.glob),
            first_only=args.output_mode == "files_with_matches",
            before=args.before,
            after=args.after,
            limit=MAX_COUNTED if args.output_mode == "count" else args.limit,
        )
        hits, note = await search_as_meant(ctx, where, query)
        await send_locations(ctx, hits.found)
        if not hits.found:
            outcome = await report_nothing(ctx, where, query, hits)
        elif args.output_mode == "content":
            outcome = await report(ctx, hits)
        else:
            outcome = await report_files(ctx, hits, with_counts=args.output_mode == "count", limit=args.limit)
        outcome.text = note + outcome.text
        return outcome


async def search_as_meant(ctx: ToolContext, where: Found, query: Query) -> tuple[Hits, str]:
    """Search, and if nothing matches or the pattern is invalid, try its other readings. Returns the matches, and a note
    for the model if they belong to another reading."""
    try:
        hits = await search(ctx, where, query)
        others = alternatives(query) if query.regex and not hits.timed_out and not hits.withheld else []
    except InvalidPattern as error:
        literal = msgspec.structs.replace(query, regex=False)
        return await search(
            ctx, where, literal
        ), f"[not a valid regular expression ({error}); searched as plain text]\n"
    if hits.found:
        return hits, ""
    for other, note in others:
        try:
            found = await search(ctx, where, other)
        except ToolError:
            continue
        if found.found or found.withheld:
            return found, f"[nothing matches the regular expression; {note}]\n"
    return hits, ""


def alternatives(query: Query) -> list[tuple[Query, str]]:
    """Return other readings of a regular expression that matched nothing, with a note about each."""
    pattern = query.pattern
    found: list[tuple[Query, str]] = []
    if delimited := _DELIMITED.fullmatch(pattern):
        inner, is_any_case = delimited[1] or delimited[4], "i" in (delimited[2] or "") or query.ignore_case
        undelimited = msgspec.structs.replace(query, pattern=inner, ignore_case=is_any_case)
        found.append((undelimited, f"searched for {inner}, without the delimiters"))
    if r"\|" in pattern:
        alternation = msgspec.structs.replace(query, pattern=pattern.replace(r"\|", "|"))
        found.append((alternation, r"\| was read as |, as grep does"))
    if "\\\\" in pattern:
        unescaped = msgspec.structs.replace(query, pattern=pattern.replace("\\\\", "\\"))
        found.append((unescaped, "double backslashes were read as single ones"))
    if _SPECIAL.search(pattern):
        found.append((msgspec.structs.replace(query, regex=False), "searched as plain text"))
    return found


def join_globs(glob: str | None) -> str | None:
    """Join globs that are separated by commas or spaces: `*.py, *.md`. A directory stands for everything in it."""
    if not glob or "{" in glob or glob.startswith("!"):
        return glob
    if glob.endswith("/"):
        return f"{glob}**"
    parts = [part for part in re.split(r"[,\s]+", glob) if part]
    return f"{{{','.join(parts)}}}" if len(parts) > 1 and all("*" in part for part in parts) else glob


async def report_nothing(ctx: ToolContext, where: Found, query: Query, hits: Hits) -> Outcome:
    """Report that there are no matches, and what was searched."""
    coverage = await survey(ctx, where, query.glob, MAX_FILE_BYTES)
    lines = [f"No matches {coverage.describe()}.", *coverage.notes(query.glob, MAX_FILE_BYTES), *notes(hits)]
    raw = {"matches": [], "complete": is_complete(hits), "searched": coverage.searched}
    return Outcome(text="\n".join(lines), raw=raw)


async def report_files(ctx: ToolContext, hits: Hits, *, with_counts: bool, limit: int) -> Outcome:
    """Report the files with matches, and how many lines match in each."""
    counts = Counter(hit.path for hit in hits.found)
    lines = [
        f"{relative(ctx, path)}: {number}" if with_counts else relative(ctx, path) for path, number in counts.items()
    ]
    hits.is_truncated |= len(lines) > limit
    listed = truncate("\n".join(lines[:limit]) + "\n")
    total = f"{count_of(len(hits.found), 'line')} in " if with_counts else ""
    more = [] if listed.is_complete else ["[too much to show all of it; narrow the search]"]
    await ctx.call.show(code_block(listed.text))
    firsts = {hit.path: hit for hit in reversed(hits.found)}
    raw = {"matches": [describe_hit(ctx, firsts[path]) for path in list(counts)[:limit]], "complete": is_complete(hits)}
    head = f"{total}{count_of(len(counts), 'file')}:"
    return Outcome(text="\n".join([head, listed.text.rstrip("\n"), *more, *notes(hits)]), raw=raw)


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
    listed = truncate(group_by_file(ctx, hits))
    files = len({hit.path for hit in hits.found})
    head = f"{count_of(len(hits.found), 'line')} in {count_of(files, 'file')}:"
    more = [] if listed.is_complete else ["[too much to show all of it; narrow the search]"]
    await ctx.call.show(code_block(listed.text))
    raw = {"matches": [describe_hit(ctx, hit) for hit in hits.found], "complete": is_complete(hits)}
    return Outcome(text="\n".join([head, listed.text.rstrip("\n"), *more, *notes(hits)]), raw=raw)


def describe_hit(ctx: ToolContext, hit: Hit) -> dict[str, Any]:
    """Describe a match as structured output."""
    return {"path": hit.path, "name": relative(ctx, hit.path), "line": hit.line, "text": excerpt(hit)}


def group_by_file(ctx: ToolContext, hits: Hits) -> str:
    """Return lines with their numbers, grouped by file: `12: match`, `13- line around it`."""
    lines: list[str] = []
    for path, group in groupby(hits.found, key=lambda hit: hit.path):
        lines.append(relative(ctx, path))
        shown = {number: f"  {number}- {text}" for number, text in hits.around.get(path, {}).items()}
        shown |= {hit.line: f"  {hit.line}: {excerpt(hit)}" for hit in group}
        last = 0
        for number in sorted(shown):
            if last and number > last + 1 and path in hits.around:
                lines.append("  --")
            lines.append(shown[number])
            last = number
    return "\n".join(lines) + "\n"


def excerpt(hit: Hit) -> str:
    """Return the line of a match, or the part around the match if the line is long."""
    if len(hit.text) <= MAX_LINE:
        return hit.text
    begin = max(0, min(hit.start - MAX_LINE // 3, len(hit.text) - MAX_LINE))
    part = cut(hit.text[begin:], MAX_LINE)
    part = drop_key_end(part) if begin else part
    return f"{'…' if begin else ''}{part}{'…' if begin + MAX_LINE < len(hit.text) else ''}"


def is_complete(hits: Hits) -> bool:
    """Return whether there are no other matches than these and the protected ones."""
    return not hits.is_truncated and not hits.timed_out


def notes(hits: Hits) -> list[str]:
    """Return notes for the model about an incomplete result."""
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
    if not found:
        return
    await ctx.call.update(locations=[Location(path=hit.path, line=hit.line) for hit in found[:MAX_LOCATIONS]])
