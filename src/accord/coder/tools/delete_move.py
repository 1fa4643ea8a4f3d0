"""delete_file and move_file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative
from accord.errors import RequestFailed
from accord.model.record import Record
from accord.model.tool import Diff, FileChange, Location
from accord.policy.action import Action

MAX_TEXT = 1_000_000
"""Larger files are deleted or moved without showing their text."""


class DeleteFileArgs(Record):
    """The file."""

    file_path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]


class DeleteFile(Tool[DeleteFileArgs]):
    name = "delete_file"
    description = (
        "Deletes one file; for a symbolic link, the link itself. Can't delete directories. The user is asked first and "
        "sees what will be deleted."
    )
    kind: str = "delete"
    changes = True
    follows_links = False
    arguments = DeleteFileArgs
    aliases = "delete remove remove_file rm unlink"

    def title(self, args: DeleteFileArgs) -> str:
        return f"Delete {args.file_path}"

    def locations(self, args: DeleteFileArgs) -> Sequence[Location]:
        return [Location(path=args.file_path)]

    def early_actions(self, args: DeleteFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [_read(args.file_path, ctx), *self.actions(args, ctx)]

    async def prepare(self, args: DeleteFileArgs, ctx: ToolContext) -> None:
        found = await _find_file(ctx, args.file_path, "deleted")
        text = await _saved_text(ctx, found)
        await _check_saved(ctx, found, text, args.file_path)
        ctx.prepared = (found, text)
        if text is not None:
            await ctx.call.diff(found.path, text, None)
        else:
            change = FileChange(operation="delete", path=found.path)
            await ctx.call.show(Diff(changes=[change]))

    def actions(self, args: DeleteFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action(kind="delete", paths=(ctx.session.absolute(args.file_path),), **origin(ctx))]

    async def run(self, args: DeleteFileArgs, ctx: ToolContext) -> Outcome:
        await _check_unchanged(ctx, args.file_path, *ctx.prepared)
        try:
            found, _ = ctx.prepared
            await ctx.state.files.delete(args.file_path, at=found.real)
        except RequestFailed as error:
            raise ToolError(f"couldn't delete {args.file_path}: {error.explanation}") from None
        ctx.state.seen_files.drop(found.real)
        return Outcome(text=f"Deleted {relative(ctx, args.file_path)}.")


class MoveFileArgs(Record):
    """The file and its new path."""

    source: Annotated[str, Meta(description="The current path of the file.")]
    destination: Annotated[str, Meta(description="The new path. Nothing may exist there yet.")]


class MoveFile(Tool[MoveFileArgs]):
    name = "move_file"
    description = (
        "Renames or moves one file inside the project; missing directories are created. Never replaces a file: the "
        "destination must not exist. Doesn't update imports and other mentions of the old name: search for them. Can't "
        "move directories."
    )
    kind: str = "move"
    changes = True
    follows_links = False
    arguments = MoveFileArgs
    aliases = "move rename rename_file mv"

    def title(self, args: MoveFileArgs) -> str:
        return f"Move {args.source} to {args.destination}"

    def locations(self, args: MoveFileArgs) -> Sequence[Location]:
        return [Location(path=args.source), Location(path=args.destination)]

    def early_actions(self, args: MoveFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [_read(args.source, ctx), *self.actions(args, ctx)]

    async def prepare(self, args: MoveFileArgs, ctx: ToolContext) -> None:
        found = await _find_file(ctx, args.source, "moved")
        target = await locate(ctx, args.destination, follow=False)
        if target.kind == "directory":
            raise ToolError(
                f"{args.destination} is a directory; include the file name: {args.destination.rstrip('/')}/…"
            )
        if target.kind != "absent":
            raise ToolError(f"{args.destination} already exists; delete it first to replace it")
        text = await _saved_text(ctx, found)
        await _check_saved(ctx, found, text, args.source)
        ctx.prepared = (found, text)
        change = FileChange(operation="move", path=target.path, old_path=found.path, old_text=text, new_text=text)
        await ctx.call.show(Diff(changes=[change]))

    def actions(self, args: MoveFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [
            Action(kind="delete", paths=(ctx.session.absolute(args.source),), **origin(ctx)),
            Action.of_write(ctx.session.absolute(args.destination), **origin(ctx)),
        ]

    async def run(self, args: MoveFileArgs, ctx: ToolContext) -> Outcome:
        await _check_unchanged(ctx, args.source, *ctx.prepared)
        try:
            at, target_at = (ctx.reached[ctx.session.absolute(path)] for path in (args.source, args.destination))
            await ctx.state.files.move(args.source, args.destination, at=at, target_at=target_at)
        except RequestFailed as error:
            raise ToolError(f"couldn't move {args.source}: {error.explanation}") from None
        ctx.state.seen_files.move(at, ctx.session.absolute(args.destination), target_at)
        return Outcome(text=f"Moved {relative(ctx, args.source)} to {relative(ctx, args.destination)}.")


def _read(path: str, ctx: ToolContext) -> Action:
    """The action of reading a file, whose text is shown to the user before it goes."""
    return Action.of_read(ctx.session.absolute(path), **origin(ctx))


async def _find_file(ctx: ToolContext, path: str, done: str) -> Found:
    """Find an existing file, or a link itself."""
    found = await locate(ctx, path, follow=False)
    if found.kind == "absent":
        raise await missing(ctx, path)
    if found.kind == "directory":
        raise ToolError(f"{path} is a directory; only files can be {done} with this tool")
    if found.kind == "link" and done == "moved":
        raise ToolError(f"{path} is a symbolic link; only files can be {done} with this tool")
    if found.kind not in ("file", "link"):
        raise ToolError(f"{path} is a {found.kind}, not a file")
    return found


async def _saved_text(ctx: ToolContext, found: Found) -> str | None:
    """A file's text on disk; None if it is binary or too large to show."""
    if found.kind != "file" or found.size > MAX_TEXT:
        return None
    try:
        return await ctx.state.files.disk.read(found.path, at=found.real)
    except RequestFailed:
        return None


async def _check_saved(ctx: ToolContext, found: Found, saved: str | None, path: str) -> None:
    """Refuse if the editor has unsaved changes: the file on disk changes, and they would be lost."""
    if saved is None or not ctx.session.client.offers.read_files:
        return
    try:
        shown = await ctx.state.files.read(found.path)
    except RequestFailed:
        return
    if shown.rstrip("\n") != saved.rstrip("\n"):
        raise ToolError(f"{path} has unsaved changes in the editor; ask the user to save or discard them first")


async def _check_unchanged(ctx: ToolContext, path: str, before: Found, text: str | None) -> None:
    """Refuse if the file is not what the user was shown."""
    now = await locate(ctx, path, follow=False)
    if now.kind == "absent":
        raise await missing(ctx, path)
    if now != before or await _saved_text(ctx, now) != text:
        raise ToolError(f"{path} has changed in the meantime; read it again")
