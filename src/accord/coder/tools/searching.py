"""search: lines of text anywhere in the project."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.places import Found, look, missing, relative, who
from accord.coder.tools.seeking import Hit, Hits, Query, seek
from accord.coder.tools.text import beginning, counted, fenced, one_line
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action

MOST = 1_000
LINE = 300
"""How much of a line is told."""
PLACES = 20
"""How many places are named to the client, which may follow them."""


class SearchArgs(Noun):
    """What to look for, and where."""

    pattern: Annotated[
        str, Meta(min_length=1, description="The text to find, or with regex=true a regular expression.")
    ]
    path: Annotated[str, Meta(description="The directory or file to search; the working directory if left out.")] = "."
    glob: Annotated[
        str | None, Meta(description="Only files of such names: *.py, src/**/*.ts, *.{c,h}, or with ! all others.")
    ] = None
    regex: Annotated[bool, Meta(description="Whether the pattern is a regular expression.")] = False
    ignore_case: Annotated[bool, Meta(description="Whether upper and lower case are the same.")] = False
    limit: Annotated[int, Meta(ge=1, le=MOST, description="How many lines to find at most.")] = 200


class Search(Tool[SearchArgs]):
    name = "search"
    description = (
        "Finds lines of text in the project's files, literally unless regex=true. Gives the lines with their numbers, "
        "by file. Files that .gitignore names and binary files are left out; hidden ones are searched. It sees what is "
        "saved on the disk, not unsaved changes. To find files by name use find_files, for the definition or the uses "
        "of a function, class or variable find_symbol."
    )
    kind = "search"
    arguments = SearchArgs

    def title(self, args: SearchArgs) -> str:
        where = "" if args.path in (".", "./", "") else f" in {args.path}"
        return f"Search for {one_line(args.pattern, 60)}{where}" + (f" ({args.glob})" if args.glob else "")

    def locations(self, args: SearchArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: SearchArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path), **who(work))]

    async def run(self, args: SearchArgs, work: Work) -> Outcome:
        query = Query(
            pattern=args.pattern, regex=args.regex, ignore_case=args.ignore_case, glob=args.glob, limit=args.limit
        )
        hits = await seek(work, await place(work, args.path), query)
        if not hits.found:
            return Outcome(text="\n".join(["Nothing was found.", *notes(hits)]), raw={"matches": []})
        await point_out(work, hits.found)
        return await told(work, hits)


async def place(work: Work, path: str) -> Found:
    """A file or directory to search in."""
    found = await look(work, path or ".")
    if found.kind == "absent":
        raise await missing(work, path)
    if found.kind not in ("file", "directory"):
        raise ToolFault(f"{path} is a {found.kind}; files and directories can be searched")
    return found


async def told(work: Work, hits: Hits) -> Outcome:
    """What was found, for the model and for people."""
    listed = beginning(listing(work, hits.found))
    files = len({hit.path for hit in hits.found})
    head = f"{counted(len(hits.found), 'line')} in {counted(files, 'file')}:"
    more = [] if listed.is_whole else ["[too much to show all of it; narrow the search]"]
    await work.shown.show(fenced(listed.text))
    raw = {"matches": [{"path": hit.path, "line": hit.line, "text": excerpt(hit)} for hit in hits.found]}
    return Outcome(text="\n".join([head, listed.text.rstrip("\n"), *more, *notes(hits)]), raw=raw)


def listing(work: Work, found: Sequence[Hit]) -> str:
    """Lines by file."""
    lines: list[str] = []
    for path, group in groupby(found, key=lambda hit: hit.path):
        lines.append(relative(work, path))
        lines += [f"  {hit.line}: {excerpt(hit)}" for hit in group]
    return "\n".join(lines) + "\n"


def excerpt(hit: Hit) -> str:
    """A line; of a long one, the part that matters."""
    if len(hit.text) <= LINE:
        return hit.text
    begin = max(0, min(hit.start - LINE // 3, len(hit.text) - LINE))
    cut = hit.text[begin : begin + LINE]
    return f"{'…' if begin else ''}{cut}{'…' if begin + LINE < len(hit.text) else ''}"


def notes(hits: Hits) -> list[str]:
    """What the model should know besides."""
    said = []
    if hits.is_cut:
        said.append("[there is more: narrow the pattern, the path or the glob, or raise limit]")
    if hits.out_of_time:
        said.append("[the search took too long and was ended; narrow the path or the glob]")
    if hits.withheld:
        said.append(f"[{counted(hits.withheld, 'file')} with matches left out: the user's rules protect them]")
    return said


async def point_out(work: Work, found: Sequence[Hit]) -> None:
    """Tells the client where to look."""
    await work.shown.update(locations=[Location(path=hit.path, line=hit.line) for hit in found[:PLACES]])
