"""read_file: the text of a file, unsaved changes included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, Work
from accord.coder.tools.places import Found, look_for_file, text_of, who
from accord.coder.tools.text import MAX_LINES, beginning, counted, fenced, language_of, split_lines
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action

WHOLE_BYTES = 2_000_000
"""Up to here a file is read whole and its lines are counted by us: some clients count them in their own way."""


class ReadFileArgs(Noun):
    """What to read."""

    path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]
    line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The first line to read, counted from 1.")] = (
        None
    )
    limit: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="How many lines to read at most.")] = None


class ReadFile(Tool[ReadFileArgs]):
    name = "read_file"
    description = (
        "Reads a text file as the user sees it, unsaved changes in the editor included. Gives the plain text without "
        f"line numbers, at most {MAX_LINES:,} lines or 60 kB at once; a note in square brackets at the end says how to "
        "go on when there is more. For a large file, use outline or search first and read the part that matters with "
        "line and limit. Directories are listed by list_files. Pictures and other binary files cannot be read."
    )
    kind = "read"
    arguments = ReadFileArgs

    def title(self, args: ReadFileArgs) -> str:
        if args.line is None and args.limit is None:
            return f"Read {args.path}"
        first = args.line or 1
        return f"Read {args.path} from line {first}" + (f" to {first + args.limit - 1}" if args.limit else "")

    def locations(self, args: ReadFileArgs) -> Sequence[Location]:
        return [Location(path=args.path, line=args.line)]

    def actions(self, args: ReadFileArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path), **who(work))]

    async def run(self, args: ReadFileArgs, work: Work) -> Outcome:
        found = await look_for_file(work, args.path)
        first = args.line or 1
        text, total = await self._part(work, found, args)
        if not text:
            note = "[the file is empty]" if first == 1 else f"[there is no line {first:,}{_of(total)}]"
            return Outcome(text=note, raw={"path": found.path, "lines": 0})
        part = beginning(text.replace("\r\n", "\n"))
        last = first + part.lines - 1
        more = total is None or last < total
        notes = []
        if more or first > 1:
            whole = f" of {total:,}" if total is not None else ""
            notes.append(f"lines {first:,} to {last:,}{whole}" + (f"; go on with line={last + 1}" if more else ""))
        if text.count("\r\n") * 2 > text.count("\n"):
            notes.append("the lines of this file end in CRLF; edit_file and write_file keep that")
        await work.shown.show(fenced(part.text, language_of(args.path)))
        told = part.text + ("\n" if notes and not part.text.endswith("\n") else "")
        raw = {"path": found.path, "line": first, "lines": part.lines, "total": total, "text": part.text}
        return Outcome(text=told + "".join(f"[{note}]\n" for note in notes), raw=raw)

    async def _part(self, work: Work, found: Found, args: ReadFileArgs) -> tuple[str, int | None]:
        """The lines that are wanted, and how many the file has: None when it has more, and nobody counted them."""
        limit = min(args.limit or MAX_LINES, MAX_LINES)
        first = args.line or 1
        if found.size > WHOLE_BYTES:
            lines = split_lines(await text_of(work, found, args.path, line=first, limit=limit + 1))
            return "".join(lines[:limit]), None if len(lines) > limit else first + len(lines) - 1
        lines = split_lines(await text_of(work, found, args.path))
        return "".join(lines[first - 1 : first - 1 + limit]), len(lines)


def _of(total: int | None) -> str:
    return f"; the file has {counted(total, 'line')}" if total is not None else ""
