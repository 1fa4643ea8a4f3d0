"""read_file: the text of a file, unsaved changes included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext
from accord.coder.tools.project.paths import Found, locate_file, origin, text_of
from accord.coder.tools.text import MAX_LINES, code_block, count_of, language_of, split_lines, truncate
from accord.model.record import Record
from accord.model.tool import Location
from accord.policy.action import Action

MAX_WHOLE_BYTES = 2_000_000
"""Up to this size we read the whole file and count its lines: some clients count them differently."""


class ReadFileArgs(Record):
    """The file and the lines."""

    file_path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]
    offset: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="The first line to read; line 1 is the first.")
    ] = None
    limit: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The maximum number of lines to read.")] = None


class ReadFile(Tool[ReadFileArgs]):
    name = "read_file"
    description: str = (
        "Reads a text file as the user sees it, including unsaved changes in the editor. Returns the text without "
        f"line numbers, at most {MAX_LINES:,} lines or 60 kB at once; if there is more, a note in square brackets at "
        "the end says how to continue. For a large file, use outline or search first and read the relevant part with "
        "offset and limit. Use list_files for directories. Images and other binary files can't be read."
    )
    kind: str = "read"
    arguments = ReadFileArgs
    aliases = "read cat view view_file open open_file read_text_file get_file_contents"

    def title(self, args: ReadFileArgs) -> str:
        if args.offset is None and args.limit is None:
            return f"Read {args.file_path}"
        first = args.offset or 1
        return f"Read {args.file_path} from line {first}" + (f" to {first + args.limit - 1}" if args.limit else "")

    def locations(self, args: ReadFileArgs) -> Sequence[Location]:
        return [Location(path=args.file_path, line=args.offset)]

    def actions(self, args: ReadFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_read(ctx.session.absolute(args.file_path), **origin(ctx))]

    async def run(self, args: ReadFileArgs, ctx: ToolContext) -> Outcome:
        found = await locate_file(ctx, args.file_path, outside=True)
        first = args.offset or 1
        text, total = await self._part(ctx, found, args)
        if not text:
            note = "[the file is empty]" if first == 1 else f"[there is no line {first:,}{_of(total)}]"
            raw = {"path": found.path, "line": first, "lines": 0, "total": total, "text": "", "complete": not total}
            return Outcome(text=note, raw=raw)
        text_lf = text.replace("\r\n", "\n")
        part = truncate(text_lf)
        last = first + part.lines - 1
        more = total is None or last < total
        notes = []
        if more or first > 1:
            whole = f" of {total:,}" if total is not None else ""
            notes.append(f"lines {first:,} to {last:,}{whole}" + (f"; continue with offset={last + 1}" if more else ""))
        if text.count("\r\n") * 2 > text.count("\n"):
            notes.append("this file has CRLF line endings; edits keep them")
        await ctx.call.show(code_block(part.text, language_of(args.file_path)))
        told = part.text + ("\n" if notes and not part.text.endswith("\n") else "")
        raw = {"path": found.path, "line": first, "lines": part.lines, "total": total, "text": part.text}
        raw["complete"] = first == 1 and not more and part.text == text_lf
        return Outcome(text=told + "".join(f"[{note}]\n" for note in notes), raw=raw)

    async def _part(self, ctx: ToolContext, found: Found, args: ReadFileArgs) -> tuple[str, int | None]:
        """The requested lines, and the number of lines in the file: None if it has more that weren't counted."""
        limit = min(args.limit or MAX_LINES, MAX_LINES)
        first = args.offset or 1
        if found.size > MAX_WHOLE_BYTES:
            lines = split_lines(await text_of(ctx, found, args.file_path, line=first, limit=limit + 1))
            return "".join(lines[:limit]), None if len(lines) > limit else first + len(lines) - 1
        text = await text_of(ctx, found, args.file_path)
        ctx.state.seen_files.note(found.path, found.real, text, is_outside=found.is_outside)
        lines = split_lines(text)
        return "".join(lines[first - 1 : first - 1 + limit]), len(lines)


def _of(total: int | None) -> str:
    return f"; the file has {count_of(total, 'line')}" if total is not None else ""
