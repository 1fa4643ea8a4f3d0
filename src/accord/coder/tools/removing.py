"""delete_file and move_file: what happens to whole files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.places import Found, look, missing, relative, who
from accord.errors import RequestFailed
from accord.model.noun import Noun
from accord.model.tool import Diff, FileChange, Location
from accord.policy.action import Action

MAX_TEXT = 1_000_000
"""Up to this size the text of a file is shown when it goes."""


class DeleteFileArgs(Noun):
    """What to delete."""

    path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]


class DeleteFile(Tool[DeleteFileArgs]):
    name = "delete_file"
    description = (
        "Deletes one file; of a symbolic link, the link itself. Directories are not deleted. The user is asked and "
        "sees what goes."
    )
    kind = "delete"
    changes = True
    arguments = DeleteFileArgs

    def title(self, args: DeleteFileArgs) -> str:
        return f"Delete {args.path}"

    def locations(self, args: DeleteFileArgs) -> Sequence[Location]:
        return [Location(path=args.path)]

    async def prepare(self, args: DeleteFileArgs, work: Work) -> None:
        found = await _file(work, args.path, "deleted")
        text = await _saved(work, found)
        await _need_saved(work, found, text, args.path)
        work.prepared = (found, text)
        if text is not None:
            await work.shown.diff(found.path, text, None)
        else:
            change = FileChange(operation="delete", path=found.path)
            await work.shown.show(Diff(changes=[change]))

    def actions(self, args: DeleteFileArgs, work: Work) -> Sequence[Action]:
        return [Action(kind="delete", paths=(work.session.absolute(args.path),), **who(work))]

    async def run(self, args: DeleteFileArgs, work: Work) -> Outcome:
        await _unchanged(work, args.path, *work.prepared)
        try:
            await work.desk.files.delete(args.path)
        except RequestFailed as error:
            raise ToolFault(f"{args.path} was not deleted: {error.message}") from None
        return Outcome(text=f"Deleted {relative(work, args.path)}.")


class MoveFileArgs(Noun):
    """What to move, and where to."""

    source: Annotated[str, Meta(description="The file as it is called now.")]
    target: Annotated[str, Meta(description="The path it should have. Nothing may be there yet.")]


class MoveFile(Tool[MoveFileArgs]):
    name = "move_file"
    description = (
        "Renames or moves one file inside the project; missing directories are made, and nothing is ever replaced: the "
        "target must be free. Imports and other mentions of the old name are not touched: search for them. Directories "
        "are not moved."
    )
    kind = "move"
    changes = True
    arguments = MoveFileArgs

    def title(self, args: MoveFileArgs) -> str:
        return f"Move {args.source} to {args.target}"

    def locations(self, args: MoveFileArgs) -> Sequence[Location]:
        return [Location(path=args.source), Location(path=args.target)]

    async def prepare(self, args: MoveFileArgs, work: Work) -> None:
        found = await _file(work, args.source, "moved")
        target = await look(work, args.target, follow=False)
        if target.kind == "directory":
            raise ToolFault(f"{args.target} is a directory; name the file in it: {args.target.rstrip('/')}/…")
        if target.kind != "absent":
            raise ToolFault(f"{args.target} exists already; delete it first if it is to be replaced")
        text = await _saved(work, found)
        await _need_saved(work, found, text, args.source)
        work.prepared = (found, text)
        change = FileChange(operation="move", path=target.path, old_path=found.path, old_text=text, new_text=text)
        await work.shown.show(Diff(changes=[change]))

    def actions(self, args: MoveFileArgs, work: Work) -> Sequence[Action]:
        return [
            Action(kind="delete", paths=(work.session.absolute(args.source),), **who(work)),
            Action.of_write(work.session.absolute(args.target), **who(work)),
        ]

    async def run(self, args: MoveFileArgs, work: Work) -> Outcome:
        await _unchanged(work, args.source, *work.prepared)
        try:
            await work.desk.files.move(args.source, args.target)
        except RequestFailed as error:
            raise ToolFault(f"{args.source} was not moved: {error.message}") from None
        return Outcome(text=f"Moved {relative(work, args.source)} to {relative(work, args.target)}.")


async def _file(work: Work, path: str, done: str) -> Found:
    """A file, or a link itself, that is there."""
    found = await look(work, path, follow=False)
    if found.kind == "absent":
        raise await missing(work, path)
    if found.kind == "directory":
        raise ToolFault(f"{path} is a directory; only files can be {done} with this tool")
    if found.kind == "link" and done == "moved":
        raise ToolFault(f"{path} is a symbolic link; only files can be {done} with this tool")
    if found.kind not in ("file", "link"):
        raise ToolFault(f"{path} is a {found.kind}, not a file")
    return found


async def _saved(work: Work, found: Found) -> str | None:
    """The text of a file on the disk; None of what is no text, or too large to be shown."""
    if found.kind != "file" or found.size > MAX_TEXT:
        return None
    try:
        return await work.desk.files.disk.read(found.path)
    except RequestFailed:
        return None


async def _need_saved(work: Work, found: Found, saved: str | None, path: str) -> None:
    """What happens to a file happens on the disk: what is only on the screen would be lost, or come back."""
    if saved is None or not work.session.client.read_files:
        return
    try:
        shown = await work.desk.files.read(found.path)
    except RequestFailed:
        return
    if shown.rstrip("\n") != saved.rstrip("\n"):
        raise ToolFault(f"{path} has unsaved changes in the editor; ask the user to save or discard them first")


async def _unchanged(work: Work, path: str, before: Found, text: str | None) -> None:
    """The file is still what the user was shown."""
    now = await look(work, path, follow=False)
    if now.kind == "absent":
        raise await missing(work, path)
    if now != before or await _saved(work, now) != text:
        raise ToolFault(f"{path} has changed since this was prepared; look at it again")
