"""edit_file and write_file: changes of a file's text, shown as a diff before anybody allows them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.places import look, missing, relative, who, whole_text
from accord.coder.tools.replacing import Edit, replaced, with_ends_of
from accord.coder.tools.text import counted, size_in_words
from accord.errors import RequestFailed
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action


class Change(NamedTuple):
    """What a call is about to do to a file's text."""

    path: str
    before: str | None
    """None for a file that is not there."""
    after: str
    lines: list[int]


class EditFileArgs(Noun):
    """What to change."""

    path: Annotated[str, Meta(description="The file, absolute or relative to the working directory. It must exist.")]
    edits: Annotated[
        list[Edit], Meta(min_length=1, description="The replacements, made in this order; all of them or none.")
    ]


class EditFile(Tool[EditFileArgs]):
    name = "edit_file"
    description = (
        "Replaces passages of a text file. Each edit's old text must occur exactly once in the file (or set all=true "
        "to replace every occurrence); otherwise nothing is changed and the answer says where it was found. Several "
        "edits are made in order, all or nothing, so put all changes of one file in one call. Read the file first and "
        "copy old exactly, indentation included. Line ends are kept as the file has them. The user sees the change as "
        "a diff before it is made. To create a file or replace it whole, use write_file."
    )
    kind = "edit"
    changes = True
    arguments = EditFileArgs

    def title(self, args: EditFileArgs) -> str:
        return f"Edit {args.path}"

    def locations(self, args: EditFileArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    async def prepare(self, args: EditFileArgs, work: Work) -> None:
        before = await whole_text(work, args.path)
        after, lines = await asyncio.to_thread(replaced, before, args.edits, args.path)
        await _show(work, Change(work.session.absolute(args.path), before, after, lines))

    def actions(self, args: EditFileArgs, work: Work) -> Sequence[Action]:
        return [Action.of_write(work.session.absolute(args.path), **who(work))]

    async def run(self, args: EditFileArgs, work: Work) -> Outcome:
        change: Change = work.prepared
        await _write(work, change, args.path)
        lines = sorted(dict.fromkeys(change.lines))
        where = ", ".join(map(str, lines[:20])) + (", …" if len(lines) > 20 else "")
        done = counted(len(change.lines), "replacement")
        text = f"Edited {relative(work, args.path)}: {done}, at line{'s' if len(lines) > 1 else ''} {where}."
        return Outcome(text=text, raw={"path": change.path, "lines": lines})


class WriteFileArgs(Noun):
    """What to write."""

    path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]
    content: Annotated[str, Meta(description="The whole new content of the file.")]


class WriteFile(Tool[WriteFileArgs]):
    name = "write_file"
    description = (
        "Creates a text file, or replaces one whole; missing directories are made. The user sees the change as a diff "
        "before it is made. To change a part of an existing file, use edit_file: it is safer and shorter."
    )
    kind = "edit"
    changes = True
    arguments = WriteFileArgs

    def title(self, args: WriteFileArgs) -> str:
        return f"Write {args.path}"

    def locations(self, args: WriteFileArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    async def prepare(self, args: WriteFileArgs, work: Work) -> None:
        before = await text_if_there(work, args.path)
        after = with_ends_of(args.content, before) if before is not None else args.content
        change = Change(work.session.absolute(args.path), before, after, [1])
        if before == after:
            work.prepared = change
        else:
            await _show(work, change)

    def actions(self, args: WriteFileArgs, work: Work) -> Sequence[Action]:
        if work.prepared.before == work.prepared.after:
            return ()
        return [Action.of_write(work.session.absolute(args.path), **who(work))]

    async def run(self, args: WriteFileArgs, work: Work) -> Outcome:
        change: Change = work.prepared
        name = relative(work, args.path)
        if change.before == change.after:
            return Outcome(text=f"{name} has this very content already; nothing was written.")
        await _write(work, change, args.path)
        did = "Created" if change.before is None else "Replaced"
        size = f"{counted(change.after.count(chr(10)), 'line')}, {size_in_words(len(change.after.encode()))}"
        return Outcome(text=f"{did} {name} ({size}).", raw={"path": change.path, "created": change.before is None})


async def text_if_there(work: Work, path: str) -> str | None:
    """A file's text; None when there is no such file, neither on the disk nor on the screen."""
    found = await look(work, path)
    if found.kind != "absent":
        return await whole_text(work, path)
    if work.session.client.read_files:
        # Some clients answer for a file that is not there with nothing: then nothing is lost by writing it.
        try:
            return await work.desk.files.read(found.path) or None
        except RequestFailed:
            return None
    return None


async def _show(work: Work, change: Change) -> None:
    work.prepared = change
    await work.shown.diff(change.path, change.before, change.after)
    if change.before is not None:
        await work.shown.update(locations=[Location(path=change.path, line=min(change.lines))])


async def _write(work: Work, change: Change, path: str) -> None:
    """Writes what was shown, unless the file is no longer what it was then."""
    now = await text_if_there(work, path)
    if now is None and change.before is not None:
        raise await missing(work, path)
    if now != change.before:
        raise ToolFault(f"{path} has changed since the edit was prepared; read it again and repeat the edit")
    try:
        await work.desk.files.write(change.path, change.after)
    except RequestFailed as error:
        raise ToolFault(f"{path} was not written: {error.message}") from None
