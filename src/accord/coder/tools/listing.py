"""list_files and find_files: what is there, by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.globs import name_pattern
from accord.coder.tools.places import Found, look, missing, relative, who
from accord.coder.tools.text import counted, fenced, one_line, size_in_words
from accord.coder.tools.walking import Step, Walk
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action
from accord.workspace.looking import Call

MOST_LISTED = 500
MOST_FOUND = 500
MOST_IGNORED = 20


class ListFilesArgs(Noun):
    """What to list."""

    path: Annotated[str, Meta(description="The directory; the working directory if left out.")] = "."
    depth: Annotated[int, Meta(ge=1, le=20, description="How many levels to show; 1 is the directory itself.")] = 1


class ListFiles(Tool[ListFilesArgs]):
    name = "list_files"
    description = (
        f"Lists a directory, with the sizes of files; directories end in a slash. At most {MOST_LISTED} names. Hidden "
        "names are marked; what .gitignore leaves out is only named. For an overview of what is in the files use "
        "outline, to find files by name anywhere use find_files."
    )
    kind = "read"
    arguments = ListFilesArgs

    def title(self, args: ListFilesArgs) -> str:
        return f"List {args.path}"

    def locations(self, args: ListFilesArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: ListFilesArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path), **who(work))]

    async def run(self, args: ListFilesArgs, work: Work) -> Outcome:
        found = await directory(work, args.path)

        def collect(call: Call) -> tuple[list[Step], list[Step]]:
            walk = Walk(work.desk.files.disk.disk, found.root_real, found.real, go_on=call.go_on)
            kept: list[Step] = []
            ignored: list[Step] = []
            for step in walk.steps(depth=args.depth, with_ignored=True):
                (ignored if step.ignored else kept).append(step)
                if len(kept) > MOST_LISTED:
                    break
            return kept, ignored

        kept, ignored = await work.desk.files.disk.away(collect)
        lines = [_line(step) for step in kept[:MOST_LISTED]] or ["[the directory is empty]"]
        await work.shown.show(fenced("\n".join(lines)))
        if len(kept) > MOST_LISTED:
            lines.append(f"[there are more than these {MOST_LISTED}; list a directory further in, or fewer levels]")
        if ignored:
            names = ", ".join(_below(found, step) for step in ignored[:MOST_IGNORED])
            rest = len(ignored) - MOST_IGNORED
            lines.append(f"[left out because of .gitignore: {names}{f' and {rest:,} more' if rest > 0 else ''}]")
        raw = {"path": found.path, "names": [_below(found, step) for step in kept[:MOST_LISTED]]}
        return Outcome(text="\n".join(lines), raw=raw)


class FindFilesArgs(Noun):
    """Which files."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            description="A glob: *.py finds names at any depth, src/**/*.ts whole paths, *.{js,ts} either ending.",
        ),
    ]
    path: Annotated[str, Meta(description="The directory to search; the working directory if left out.")] = "."


class FindFiles(Tool[FindFilesArgs]):
    name = "find_files"
    description = (
        f"Finds files by name with a glob pattern. Gives their paths, sorted, at most {MOST_FOUND}. Files that "
        ".gitignore names are left out. To find files by what is in them use search."
    )
    kind = "search"
    arguments = FindFilesArgs

    def title(self, args: FindFilesArgs) -> str:
        where = "" if args.path in (".", "./", "") else f" in {args.path}"
        return f"Find {one_line(args.pattern, 60)}{where}"

    def locations(self, args: FindFilesArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    def actions(self, args: FindFilesArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path), **who(work))]

    async def run(self, args: FindFilesArgs, work: Work) -> Outcome:
        found = await directory(work, args.path)
        pattern = name_pattern(args.pattern.removeprefix("./"))

        def collect(call: Call) -> tuple[list[str], bool]:
            walk = Walk(work.desk.files.disk.disk, found.root_real, found.real, go_on=call.go_on)
            below = found.real.rstrip(os.sep) + os.sep
            same = (step.path for step in walk.files() if pattern.fullmatch(step.path[len(below) :]))
            paths = list(islice(same, MOST_FOUND + 1))
            return paths, walk.is_cut

        paths, is_cut = await work.desk.files.disk.away(collect)
        names = [relative(work, found.named(path)) for path in paths[:MOST_FOUND]]
        lines = [f"{counted(len(names), 'file')}:", *names] if names else ["No file has such a name."]
        if names:
            await work.shown.show(fenced("\n".join(names)))
        if len(paths) > MOST_FOUND:
            lines.append("[there are more; give a narrower pattern or path]")
        if is_cut:
            lines.append("[there are too many files to look at all of them; give a narrower path]")
        return Outcome(text="\n".join(lines), raw={"paths": [found.named(path) for path in paths[:MOST_FOUND]]})


async def directory(work: Work, path: str) -> Found:
    """A directory that is there."""
    found = await look(work, path or ".")
    if found.kind == "absent":
        raise await missing(work, path)
    if found.kind != "directory":
        raise ToolFault(f"{path} is a {found.kind}, not a directory; read_file reads files")
    return found


def _line(step: Step) -> str:
    name, kind = step.entry.name, step.entry.kind
    other = "  (a name that is no text: it cannot be asked for)" if step.entry.has_escapes else "  (no file)"
    end = {"directory": "/", "link": "  (link)", "other": other}.get(kind, f"  {size_in_words(step.entry.size)}")
    return f"{'  ' * (step.depth - 1)}{name}{end}{'  (hidden)' if name.startswith('.') else ''}"


def _below(found: Found, step: Step) -> str:
    name = step.path[len(found.real.rstrip(os.sep)) + 1 :]
    return f"{name}/" if step.entry.kind == "directory" else name
