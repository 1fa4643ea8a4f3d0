"""read_file: the text of a file, unsaved changes included; also images, and the text of PDF documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from accord.coder.tools.arguments import as_number, normalize
from accord.coder.tools.base import Outcome, Tool, ToolContext
from accord.coder.tools.documents.media import read_image, read_pdf, recognize
from accord.coder.tools.project.paths import Found, check_text, locate_file, origin, read_head, text_of
from accord.coder.tools.text import MAX_LINES, code_block, count_of, language_of, split_lines, truncate
from accord.model.record import Record
from accord.model.tool import Location
from accord.policy.action import Action

RANGES = frozenset({"viewrange", "range", "linerange", "lines", "linenumbersrange"})
"""Names, normalized, of an argument with the first and the last line. A last line of -1 is the end of the file."""
FIRST_LINES = frozenset({"offset", "line", "startline", "linestart", "start", "fromline", "startlineoneindexed"})
LAST_LINES = frozenset({"endline", "lineend", "end", "toline", "lastline", "endlineoneindexedinclusive"})
MAX_WHOLE_BYTES = 2_000_000
"""Up to this size we read the whole file and count its lines: some clients count them differently."""


class ReadFileArgs(Record):
    """The file and the lines."""

    file_path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]
    offset: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="The first line, or page, to read; the first is 1.")
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="The maximum number of lines or pages to read.")
    ] = None
    line_numbers: Annotated[bool, Meta(description="Put its number before each line: `12: text`.")] = False


class ReadFile(Tool[ReadFileArgs]):
    name = "read_file"
    description: str = (
        f"Reads a text file, including unsaved changes in the editor, at most {MAX_LINES:,} lines or 60 kB at once; if "
        "there is more, a note in square brackets at the end says how to continue. For a large file, use outline or "
        "search first and read the relevant part with offset and limit. Also shows you PNG, JPEG, GIF and WebP images, "
        "and returns the text of PDF documents by pages. Use list_files for directories."
    )
    kind: str = "read"
    arguments = ReadFileArgs
    aliases = (
        "read cat view view_file view_image open open_file read_text_file get_file_contents read_many_files read_files"
    )

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate a range, or the last line, into the first line and a number of lines."""
        ends = {normalize(name): name for name in arguments if normalize(name) in RANGES | LAST_LINES}
        if len(ends) != 1:
            return arguments
        ((kind, name),) = ends.items()
        value = arguments[name]
        rest = {key: each for key, each in arguments.items() if key != name}
        if kind in RANGES:
            numbers = [int(each) for each in re.findall(r"(?<!\d)-?\d+", str(value))]
            if len(numbers) != 2:
                return arguments
            first, last = numbers
        else:
            starts = [each for key, each in rest.items() if normalize(key) in FIRST_LINES]
            begin, end = as_number(starts[0] if starts else 1), as_number(value)
            if begin is None or end is None:
                return arguments
            first, last = begin, end
            rest = {key: each for key, each in rest.items() if normalize(key) not in FIRST_LINES}
        first = max(first, 1)
        return {**rest, "offset": first, **({"limit": last - first + 1} if last >= first else {})}

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
        if found.kind == "file":
            head = await read_head(ctx, found)
            match recognize(head):
                case "application/pdf":
                    return await read_pdf(ctx, found, args.file_path, first, args.limit)
                case str() as kind:
                    return await read_image(ctx, found, args.file_path, kind)
            check_text(found, head, args.file_path)
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
        lines = split_lines(part.text)
        numbered = "".join(f"{number}: {line}" for number, line in enumerate(lines, first))
        returned = numbered if args.line_numbers else part.text
        returned += "\n" if notes and not returned.endswith("\n") else ""
        raw = {"path": found.path, "line": first, "lines": part.lines, "total": total, "text": part.text}
        raw["complete"] = first == 1 and not more and part.text == text_lf
        return Outcome(text=returned + "".join(f"[{note}]\n" for note in notes), raw=raw)

    async def _part(self, ctx: ToolContext, found: Found, args: ReadFileArgs) -> tuple[str, int | None]:
        """Return the requested lines, and the number of lines in the file: None if it has more that weren't counted."""
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
