"""move_or_delete: move or delete one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.edits.patch import prefers_patches
from accord.coder.tools.project.paths import Found, locate, missing, origin, relative
from accord.errors import RequestFailed
from accord.model.record import Record
from accord.model.tool import Diff, FileChange, Location, ToolKind
from accord.policy.action import Action

MAX_TEXT = 1_000_000
"""Larger files are deleted or moved without showing their text."""


class MoveOrDeleteArgs(Record):
    """The file and what to do with it."""

    operation: Annotated[Literal["move", "delete"], Meta(extra={"aliases": "action op"})]
    file_path: Annotated[
        str,
        Meta(
            description="The file, absolute or relative to the working directory.",
            extra={"aliases": "source from source_path old_path src"},
        ),
    ]
    destination: Annotated[
        str | None, Meta(description="For move: the new path, including the file name. Nothing may exist there yet.")
    ] = None


class MoveOrDelete(Tool[MoveOrDeleteArgs]):
    name = "move_or_delete"
    description = (
        "Moves (renames) or deletes one file; missing directories are created. Doesn't work on directories, and never "
        "replaces a file. Doesn't update imports and other mentions of a name: search for them. The user sees what "
        "will be moved or deleted, and is asked first."
    )
    kind: str = "move"
    changes = True
    follows_links = False
    arguments = MoveOrDeleteArgs
    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **{alias: {"operation": "delete"} for alias in ("delete_file", "delete", "remove_file", "remove", "rm")},
        **{alias: {"operation": "move"} for alias in ("move_file", "move", "rename_file", "rename", "mv")},
    }

    def suits(self, model: str) -> bool:
        return not prefers_patches(model)

    def kind_of(self, args: MoveOrDeleteArgs) -> ToolKind:
        return args.operation

    def read(self, arguments: dict[str, Any]) -> MoveOrDeleteArgs:
        args = super().read(arguments)
        if args.operation == "move" and args.destination is None:
            raise ToolError(f"{self.name}: destination is missing; it is required to move a file")
        if args.operation == "delete" and args.destination is not None:
            raise ToolError(f"{self.name}: a file that is deleted has no destination; did you mean operation=move?")
        return args

    def title(self, args: MoveOrDeleteArgs) -> str:
        return (
            f"Delete {args.file_path}" if args.destination is None else f"Move {args.file_path} to {args.destination}"
        )

    def locations(self, args: MoveOrDeleteArgs) -> Sequence[Location]:
        return [Location(path=path) for path in (args.file_path, args.destination) if path is not None]

    def early_actions(self, args: MoveOrDeleteArgs, ctx: ToolContext) -> Sequence[Action]:
        # Its text is shown to the user before it goes.
        return [Action.of_read(ctx.session.absolute(args.file_path), **origin(ctx)), *self.actions(args, ctx)]

    async def prepare(self, args: MoveOrDeleteArgs, ctx: ToolContext) -> None:
        if args.destination is None:
            ctx.prepared = await prepare_delete(ctx, args.file_path)
        else:
            ctx.prepared = await prepare_move(ctx, args.file_path, args.destination)
        await ctx.call.show(Diff(changes=[ctx.prepared.change]))

    def actions(self, args: MoveOrDeleteArgs, ctx: ToolContext) -> Sequence[Action]:
        source = Action(kind="delete", paths=(ctx.session.absolute(args.file_path),), **origin(ctx))
        if args.destination is None:
            return [source]
        return [source, Action.of_write(ctx.session.absolute(args.destination), **origin(ctx))]

    async def run(self, args: MoveOrDeleteArgs, ctx: ToolContext) -> Outcome:
        leaving: Leaving = ctx.prepared
        await check_unchanged(ctx, leaving, args.file_path)
        try:
            if args.destination is None:
                await ctx.state.files.delete(args.file_path, at=leaving.found.real)
                ctx.state.seen_files.drop(leaving.found.real)
                return Outcome(text=f"Deleted {relative(ctx, args.file_path)}.")
            at, target_at = (ctx.reached[ctx.session.absolute(path)] for path in (args.file_path, args.destination))
            await ctx.state.files.move(args.file_path, args.destination, at=at, target_at=target_at)
        except RequestFailed as error:
            raise ToolError(f"couldn't {args.operation} {args.file_path}: {error.explanation}") from None
        ctx.state.seen_files.move(at, ctx.session.absolute(args.destination), target_at)
        return Outcome(text=f"Moved {relative(ctx, args.file_path)} to {relative(ctx, args.destination)}.")


class Leaving(NamedTuple):
    """A file that is about to be moved or deleted."""

    found: Found
    text: str | None
    """None if it is binary, too large to show, or a link."""
    change: FileChange
    """The change as the user sees it."""


async def prepare_delete(ctx: ToolContext, path: str) -> Leaving:
    """Check that a file, or a link itself, can be deleted."""
    found, text = await _find_saved(ctx, path, "deleted")
    return Leaving(found, text, FileChange(operation="delete", path=found.path, old_text=text))


async def prepare_move(ctx: ToolContext, path: str, destination: str) -> Leaving:
    """Check that a file can be moved, and that nothing is at its new path."""
    found, text = await _find_saved(ctx, path, "moved")
    target = await locate(ctx, destination, follow=False)
    if target.kind == "directory":
        raise ToolError(f"{destination} is a directory; include the file name: {destination.rstrip('/')}/…")
    if target.kind != "absent":
        raise ToolError(f"{destination} already exists; delete it first to replace it")
    change = FileChange(operation="move", path=target.path, old_path=found.path, old_text=text, new_text=text)
    return Leaving(found, text, change)


async def _find_saved(ctx: ToolContext, path: str, done: str) -> tuple[Found, str | None]:
    found = await _find_file(ctx, path, done)
    text = await _saved_text(ctx, found)
    await _check_saved(ctx, found, text, path)
    return found, text


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
    """Return a file's text on disk; None if it is binary or too large to show."""
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


async def check_unchanged(ctx: ToolContext, leaving: Leaving, path: str) -> None:
    """Refuse if the file is not what the user was shown."""
    now = await locate(ctx, path, follow=False)
    if now.kind == "absent":
        raise await missing(ctx, path)
    if now != leaving.found or await _saved_text(ctx, now) != leaving.text:
        raise ToolError(f"{path} has changed in the meantime; read it again")
