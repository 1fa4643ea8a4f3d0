"""apply_patch: change several files with one patch, after showing each change. All of them change, or none.

GPT models are trained on this tool and its format, so they get it instead of edit_file, write_file and move_or_delete.
Any other model may call it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from accord.coder.tools.argument_errors import HIDDEN
from accord.coder.tools.arguments import clean_path, normalize
from accord.coder.tools.base import Outcome, Preview, Tool, ToolContext, ToolError
from accord.coder.tools.edits.change import (
    Change,
    check_current,
    read_if_exists,
    refuse_unseen,
    write_text,
)
from accord.coder.tools.edits.omissions import refuse_placeholder
from accord.coder.tools.edits.passage import match_line_endings
from accord.coder.tools.edits.patch import FilePatch, apply_hunks, is_patch, parse_patch, prefers_patches, read_command
from accord.coder.tools.edits.problems import describe_problems
from accord.coder.tools.move_or_delete import Leaving, check_unchanged, prepare_delete, prepare_move
from accord.coder.tools.project.paths import origin, relative, whole_text
from accord.errors import AccordError, RequestFailed
from accord.model.record import Record
from accord.model.tool import Diff, FileChange, Location
from accord.policy.action import Action

log: logging.Logger = logging.getLogger("accord.coder")
MAX_FILES = 200
MAX_NAMED = 3
TITLES = {"add": "Write", "update": "Edit", "delete": "Delete"}
LETTERS = {"add": "A", "update": "M", "delete": "D"}
_COMMANDS = frozenset({"command", "cmd", "script"})
_PATHS = frozenset({"filepath", "path", "file", "filename", "targetfile"})
_PLACES = frozenset({"cwd", "workdir", "workingdirectory"})


class ApplyPatchArgs(Record):
    """The patch."""

    patch: Annotated[
        str,
        Meta(
            min_length=1,
            description="The whole patch, from *** Begin Patch to *** End Patch.",
            extra={"aliases": "input patch_text diff content text command cmd script"},
        ),
    ]
    directory: Annotated[str | None, Meta(extra_json_schema={HIDDEN: True}, extra={"aliases": "cwd workdir"})] = None
    """The directory of its paths, if it was sent as a command that changes the directory."""


class ApplyPatch(Tool[ApplyPatchArgs]):
    name = "apply_patch"
    description = (
        "Changes, creates, moves and deletes files with one patch. All files change, or none. Paths are relative to "
        "the working directory. The user sees a diff of each file before it is changed. Format:\n"
        "*** Begin Patch\n*** Update File: PATH\n*** Move to: NEW PATH (optional)\n@@ class or function (optional)\n"
        " context line\n-removed line\n+added line\n*** Add File: PATH\n+every line\n*** Delete File: PATH\n"
        "*** End Patch\n"
        "Give about 3 lines of context before and after each change, copied exactly; there are no line numbers. If the "
        "context isn't unique, add @@ lines."
    )
    kind: str = "edit"
    changes = True
    arguments = ApplyPatchArgs
    aliases = "applypatch apply_diff patch"

    def suits(self, model: str) -> bool:
        return prefers_patches(model)

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Take the patch out of a shell command."""
        for name, value in arguments.items():
            command = read_command(value) if normalize(name) in _COMMANDS | {"input", "patch"} else None
            if command is not None:
                places = [each for name, each in arguments.items() if normalize(name) in _PLACES and each]
                directory = os.path.join(*map(str, places[:1]), command.directory or "") or None
                return {"patch": command.patch, "directory": directory}
        return _add_header(arguments)

    def preview(self, arguments: dict[str, Any], partial: dict[str, Any]) -> Preview | None:
        patch = partial.get("patch")
        try:
            files = parse_patch(patch) if isinstance(patch, str) else []
        except ToolError:  # too little has arrived
            return None
        changes = [change for file in files for change in _preview(file)]
        return Preview(title=_title(files), path=files[0].path, changes=changes) if files else None

    def title(self, args: ApplyPatchArgs) -> str:
        return _title(_files(args))

    def locations(self, args: ApplyPatchArgs) -> Sequence[Location]:
        return [Location(path=path) for file in _files(args) for path in (file.path, file.destination) if path]

    def follows(self, args: ApplyPatchArgs, path: str, ctx: ToolContext) -> bool:
        # Deleting or moving a link is about the link itself.
        leaving = [file for file in _files(args) if file.operation == "delete" or file.destination is not None]
        names = [name for file in leaving for name in (file.path, file.destination) if name is not None]
        return path not in map(ctx.session.absolute, names)

    def early_actions(self, args: ApplyPatchArgs, ctx: ToolContext) -> Sequence[Action]:
        reads = [Action.of_read(ctx.session.absolute(file.path), **origin(ctx)) for file in _files(args)]
        return [*reads, *self.actions(args, ctx)]

    async def prepare(self, args: ApplyPatchArgs, ctx: ToolContext) -> None:
        try:
            steps = [await _prepare(file, ctx) for file in _files(args)]
        except ToolError:
            if ctx.may_quote:
                raise
            raise ToolError("the patch can't be applied; read the files first") from None
        targets = [ctx.reached[ctx.session.absolute(path)] for step in steps for path in step.file_paths]
        if len(set(targets)) < len(targets):
            raise ToolError("the patch changes the same file in several sections; put its hunks into one section")
        for step in steps:
            await ctx.call.show(Diff(changes=[step.describe(ctx)]))
        lines = {step.change.path: min(step.change.lines) for step in steps if step.change is not None}
        paths = [ctx.session.absolute(location.path) for location in self.locations(args)]
        await ctx.call.update(locations=[Location(path=path, line=lines.get(path)) for path in paths])
        ctx.prepared = steps

    def actions(self, args: ApplyPatchArgs, ctx: ToolContext) -> Sequence[Action]:
        return [action for file in _files(args) for action in _actions(file, ctx)]

    async def run(self, args: ApplyPatchArgs, ctx: ToolContext) -> Outcome:
        steps: list[Step] = ctx.prepared
        for step in steps:
            await _check(step, ctx)
        undo: list[Callable[[], Awaitable[None]]] = []
        try:
            # Changes that can't be fully restored come last.
            for step in sorted(steps, key=lambda step: step.file.operation == "delete"):
                await _carry_out(step, ctx, undo)
        except BaseException as error:
            kept = await _roll_back(undo)
            if isinstance(error, (ToolError, OSError)):
                raise ToolError(f"{str(error).rstrip('.')}. {kept}") from None
            raise
        lines = [
            f"{LETTERS[step.file.operation]} {relative(ctx, step.file.destination or step.file.path)}" for step in steps
        ]
        changes = [step.change for step in steps if step.change is not None]
        notes = [change.adjusted for change in changes if change.adjusted]
        text = "\n".join(["Success. Updated the following files:", *lines, *notes])
        text += await describe_problems(ctx, changes)
        return Outcome(text=text, raw={"files": [step.raw(ctx) for step in steps]})


class Step(NamedTuple):
    """The change of one file."""

    file: FilePatch
    change: Change | None = None
    """Its new text, at its new path if it is moved."""
    leaving: Leaving | None = None
    """The file that is moved or deleted."""

    @property
    def file_paths(self) -> list[str]:
        return [path for path in (self.file.path, self.file.destination) if path is not None]

    def describe(self, ctx: ToolContext) -> FileChange:
        """Describe the change as the user sees it."""
        change, leaving = self.change, self.leaving
        if leaving is not None:
            after = change.after if change is not None else leaving.change.new_text
            return FileChange(
                operation=leaving.change.operation,
                path=leaving.change.path,
                old_path=leaving.change.old_path,
                old_text=leaving.change.old_text,
                new_text=after,
            )
        assert change is not None
        return Diff.of(change.path, change.before, change.after).changes[0]

    def raw(self, ctx: ToolContext) -> dict[str, Any]:
        destination = ctx.session.absolute(self.file.destination) if self.file.destination else None
        operation = "move" if destination else self.file.operation
        path = ctx.session.absolute(self.file.path)
        return {"path": path, "operation": operation, **({"destination": destination} if destination else {})}


@lru_cache(maxsize=32)
def _parse(patch: str, directory: str | None) -> tuple[FilePatch, ...]:
    files = parse_patch(patch)
    if len(files) > MAX_FILES:
        raise ToolError(f"the patch changes {len(files)} files; at most {MAX_FILES} at once")
    if directory is None:
        return tuple(files)
    return tuple(
        file._replace(
            path=os.path.join(directory, file.path),
            destination=os.path.join(directory, file.destination) if file.destination else None,
        )
        for file in files
    )


def _add_header(arguments: dict[str, Any]) -> dict[str, Any]:
    """Put the path into the patch, if it came beside hunks without a header."""
    paths = [name for name in arguments if normalize(name) in _PATHS]
    patches = [name for name, value in arguments.items() if is_patch(value)]
    if len(paths) != 1 or len(patches) != 1:
        return arguments
    patch = arguments[patches[0]].lstrip("\n")
    rest = {name: value for name, value in arguments.items() if name not in (paths[0], patches[0])}
    header = f"*** Update File: {clean_path(str(arguments[paths[0]]))}\n" if patch.startswith("@@") else ""
    return {**rest, "patch": header + patch}


def _files(args: ApplyPatchArgs) -> tuple[FilePatch, ...]:
    return _parse(args.patch, args.directory)


def _title(files: Sequence[FilePatch]) -> str:
    if len(files) > 1:
        names = ", ".join(file.path for file in files[:MAX_NAMED])
        return f"Edit {names}" + (f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else "")
    (file,) = files
    if file.destination is not None:
        return f"Move {file.path} to {file.destination}"
    return f"{TITLES[file.operation]} {file.path}"


def _preview(file: FilePatch) -> Iterator[FileChange]:
    """Yield the changes of a file, without reading it."""
    if file.operation == "add":
        yield FileChange(operation="add", path=file.path, new_text=file.content)
    elif file.operation == "delete":
        yield FileChange(operation="delete", path=file.path)
    for hunk in file.hunks:
        old, new = ("".join(f"{line}\n" for line in lines) for lines in (hunk.old, hunk.new))
        yield FileChange(operation="modify", path=file.path, old_text=old, new_text=new, is_fragment=True)


def _actions(file: FilePatch, ctx: ToolContext) -> Iterator[Action]:
    path = ctx.session.absolute(file.path)
    if file.operation == "delete" or file.destination is not None:
        yield Action(kind="delete", paths=(path,), **origin(ctx))
    if file.destination is not None:
        yield Action.of_write(ctx.session.absolute(file.destination), **origin(ctx))
    elif file.operation != "delete":
        yield Action.of_write(path, **origin(ctx))


async def _prepare(file: FilePatch, ctx: ToolContext) -> Step:
    path = ctx.session.absolute(file.path)
    if file.operation == "delete":
        return Step(file, leaving=await prepare_delete(ctx, file.path))
    if file.operation == "add":
        before = await read_if_exists(ctx, file.path)
        if before is not None and before != file.content and ctx.may_quote:
            refuse_unseen(ctx, file.path, before)
            refuse_placeholder(file.content, before)
        after = match_line_endings(file.content, before) if before is not None else file.content
        return Step(file, Change(path, before, after, [1]))
    leaving = await prepare_move(ctx, file.path, file.destination) if file.destination is not None else None
    if leaving is not None and not file.hunks:
        return Step(file, leaving=leaving)
    for hunk in file.hunks:
        refuse_placeholder("\n".join(hunk.new), "\n".join(hunk.old))
    before = await whole_text(ctx, file.path)
    patched = await asyncio.to_thread(apply_hunks, before, file.hunks, file.path)
    if patched.text == before and leaving is None:
        raise ToolError(f"the patch doesn't change {file.path}")
    target = ctx.session.absolute(file.destination) if file.destination is not None else path
    return Step(file, Change(target, before, patched.text, patched.lines, patched.adjusted), leaving)


async def _check(step: Step, ctx: ToolContext) -> None:
    """Refuse if a file is not what the user was shown."""
    if step.leaving is not None:
        await check_unchanged(ctx, step.leaving, step.file.path)
        if step.file.destination is not None:
            await prepare_move(ctx, step.file.path, step.file.destination)  # fails if the destination exists
    elif step.change is not None:
        await check_current(ctx, step.change, step.file.path)


async def _carry_out(step: Step, ctx: ToolContext, undo: list[Callable[[], Awaitable[None]]]) -> None:
    """Change one file, and note how to restore it."""
    files, file, change, leaving = ctx.state.files, step.file, step.change, step.leaving
    path = ctx.session.absolute(file.path)
    if leaving is not None and file.destination is None:
        at, text = leaving.found.real, leaving.text
        await _try(files.delete(path, at=at), f"couldn't delete {file.path}")
        ctx.state.seen_files.drop(at)
        if text is not None:
            undo.append(lambda: files.write(path, text, at=at))
        else:
            undo.append(lambda: _stays(f"{file.path} was already deleted."))
        return
    if leaving is not None and file.destination is not None:
        target = ctx.session.absolute(file.destination)
        at, target_at = ctx.reached[path], ctx.reached[target]
        await _try(files.move(path, target, at=at, target_at=target_at), f"couldn't move {file.path}")
        ctx.state.seen_files.move(at, target, target_at)
        undo.append(lambda: files.move(target, path, at=target_at, target_at=at))
    if change is None or change.after == change.before:
        return
    written_at, before = ctx.reached[change.path], change.before
    if before is None:
        undo.append(lambda: _delete_if_exists(ctx, change.path, written_at))
    else:
        undo.append(lambda: files.write(change.path, before, at=written_at))
    await write_text(ctx, change, file.destination or file.path)


async def _try(doing: Awaitable[None], problem: str) -> None:
    try:
        await doing
    except RequestFailed as error:
        raise ToolError(f"{problem}: {error.explanation}") from None


async def _stays(what: str) -> None:
    raise ToolError(what)


async def _delete_if_exists(ctx: ToolContext, path: str, at: str) -> None:
    if await ctx.state.files.exists(path):
        await ctx.state.files.delete(path, at=at)


async def _roll_back(undo: Sequence[Callable[[], Awaitable[None]]]) -> str:
    """Restore what was changed, the last change first. Returns what couldn't be restored, for the model."""
    problems: list[str] = []
    for restore in reversed(undo):
        try:
            await restore()
        except (AccordError, OSError) as error:
            log.warning("a patch was applied in part: %s", error)
            problems.append(str(error))
    return f"Not everything could be restored: {' '.join(problems)}" if problems else "No file was changed."
