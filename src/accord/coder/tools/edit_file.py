"""edit_file and write_file: change a file, after showing the change as a diff.

An edit's old text must occur exactly once, or match whole lines as `edits/passage.py` explains; otherwise nothing is
changed and the error says why. Text with plain line feeds also matches CRLF line endings, and its replacement gets the
file's line endings. Text with carriage returns is matched literally."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from accord.coder.tools.arguments import normalize
from accord.coder.tools.base import Outcome, Preview, Tool, ToolContext, ToolError
from accord.coder.tools.edits.change import (
    Change,
    check_current,
    read_and_write,
    read_if_exists,
    refuse_unseen,
    show_change,
    write_text,
)
from accord.coder.tools.edits.omissions import describe_escapes, refuse_placeholder
from accord.coder.tools.edits.passage import match_line_endings, replace
from accord.coder.tools.edits.patch import prefers_patches
from accord.coder.tools.edits.problems import describe_problems
from accord.coder.tools.edits.search_replace import PATCHES, has_blocks, parse_blocks
from accord.coder.tools.project.paths import origin, relative, whole_text
from accord.coder.tools.text import count_of, describe_size
from accord.model.record import Record
from accord.model.tool import FileChange, Location
from accord.policy.action import Action


class EditFileArgs(Record):
    """The file and the edits."""

    file_path: Annotated[str, Meta(description="An existing file, absolute or relative to the working directory.")]
    edits: Annotated[
        list[Edit], Meta(min_length=1, description="The replacements, applied in this order; all of them or none.")
    ]


class EditFile(Tool[EditFileArgs]):
    name = "edit_file"
    description = (
        "Replaces passages of a text file. Each old_string must occur exactly once in the file (or set "
        "replace_all=true to replace every occurrence); otherwise nothing is changed and the result says where it "
        "occurs. Several edits are applied in order, all or nothing, so put all changes to one file in one call. Read "
        "the file first and copy old_string exactly, including indentation; if whole lines differ only in whitespace "
        "or typographic characters, the edit is adjusted and the result reports it. Line endings are preserved. The "
        "user sees the change as a diff before it is made. To create a file or replace all of it, use write_file."
    )
    kind: str = "edit"
    changes = True
    arguments = EditFileArgs
    aliases = "edit replace str_replace multi_edit search_replace replace_in_file apply_edit patch_file"

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate edits that come as blocks of text."""
        for name, value in arguments.items():
            if normalize(name) in PATCHES and has_blocks(value):
                rest = {other: each for other, each in arguments.items() if other != name}
                return {**rest, "edits": parse_blocks(value)}
        return arguments

    def preview(self, arguments: dict[str, Any], partial: dict[str, Any]) -> Preview | None:
        path, edits = arguments.get("file_path"), partial.get("edits")
        if not isinstance(path, str):
            return None
        texts = [
            (edit.get("old_string"), edit.get("new_string"))
            for edit in (edits if isinstance(edits, list) else [])
            if isinstance(edit, dict)
        ]
        changes = [
            FileChange(operation="modify", path=path, old_text=old, new_text=new, is_fragment=True)
            for old, new in texts
            if isinstance(old, str) and isinstance(new, str)
        ]
        return Preview(title=f"Edit {path}", path=path, changes=changes)

    def suits(self, model: str) -> bool:
        return not prefers_patches(model)

    def title(self, args: EditFileArgs) -> str:
        return f"Edit {args.file_path}"

    def locations(self, args: EditFileArgs) -> Sequence[Location]:
        return [Location(path=args.file_path)]

    def early_actions(self, args: EditFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return read_and_write(args.file_path, ctx)

    async def prepare(self, args: EditFileArgs, ctx: ToolContext) -> None:
        if len(args.edits) == 1 and not args.edits[0].old_string:
            existing = await read_if_exists(ctx, args.file_path)
            if not existing:  # replacing nothing by something is how some agents create files
                new = args.edits[0].new_string
                ctx.prepared = Change(ctx.session.absolute(args.file_path), existing, new, [1])
                await show_change(ctx, ctx.prepared)
                return
        before = await whole_text(ctx, args.file_path)
        try:
            edited = await asyncio.to_thread(apply_edits, before, args.edits, args.file_path)
        except ToolError:
            if ctx.may_quote:
                raise
            raise ToolError(f"the edits can't be applied to {args.file_path}; read it first") from None
        ctx.prepared = Change(ctx.session.absolute(args.file_path), before, *edited)
        await show_change(ctx, ctx.prepared)

    def actions(self, args: EditFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_write(ctx.session.absolute(args.file_path), **origin(ctx))]

    async def run(self, args: EditFileArgs, ctx: ToolContext) -> Outcome:
        change: Change = ctx.prepared
        await check_current(ctx, change, args.file_path)
        await write_text(ctx, change, args.file_path)
        lines = sorted(dict.fromkeys(change.lines))
        where = ", ".join(map(str, lines[:20])) + (", …" if len(lines) > 20 else "")
        done = count_of(len(change.lines), "replacement")
        text = f"Edited {relative(ctx, args.file_path)}: {done}, at line{'s' if len(lines) > 1 else ''} {where}."
        if change.before is None:
            text = f"Created {relative(ctx, args.file_path)} ({describe_size(change.after)})."
        if change.adjusted:
            text += f"\n{change.adjusted}"
        text += await describe_problems(ctx, [change])
        return Outcome(text=text, raw={"path": change.path, "lines": lines})


class WriteFileArgs(Record):
    """The file and its content."""

    file_path: Annotated[str, Meta(description="The file, absolute or relative to the working directory.")]
    content: Annotated[str, Meta(description="The whole new content of the file.")]


class WriteFile(Tool[WriteFileArgs]):
    name = "write_file"
    description = (
        "Creates a text file, or replaces all of its content; missing directories are created. Read an existing file "
        "before you replace it. The user sees the change as a diff before it is made. To change part of an existing "
        "file, use edit_file: it is safer and shorter."
    )
    kind: str = "edit"
    changes = True
    arguments = WriteFileArgs
    aliases = "write create create_file write_to_file save_file new_file"

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Refuse to append: the text would replace the content that it should follow."""
        for name, value in arguments.items():
            if (normalize(name) == "append" and str(value).lower() == "true") or (name, value) == ("mode", "append"):
                raise ToolError(
                    f"{self.name} replaces the whole file and can't append. Nothing was written. Use edit_file to "
                    "replace the last lines by themselves and the new text"
                )
        return arguments

    def preview(self, arguments: dict[str, Any], partial: dict[str, Any]) -> Preview | None:
        path, content = arguments.get("file_path"), partial.get("content")
        if not isinstance(path, str):
            return None
        changes = []
        if isinstance(content, str) and content:
            changes.append(FileChange(operation="add", path=path, new_text=content))
        return Preview(title=f"Write {path}", path=path, changes=changes)

    def suits(self, model: str) -> bool:
        return not prefers_patches(model)

    def title(self, args: WriteFileArgs) -> str:
        return f"Write {args.file_path}"

    def locations(self, args: WriteFileArgs) -> Sequence[Location]:
        return [Location(path=args.file_path)]

    def early_actions(self, args: WriteFileArgs, ctx: ToolContext) -> Sequence[Action]:
        return read_and_write(args.file_path, ctx)

    async def prepare(self, args: WriteFileArgs, ctx: ToolContext) -> None:
        before = await read_if_exists(ctx, args.file_path)
        after = match_line_endings(args.content, before) if before is not None else args.content
        change = Change(ctx.session.absolute(args.file_path), before, after, [1])
        if before == after:
            ctx.prepared = change
            return
        if before is not None and ctx.may_quote:  # otherwise the user decides, and the model must not learn its size
            refuse_unseen(ctx, args.file_path, before)
            refuse_placeholder(args.content, before)
        ctx.prepared = change
        await show_change(ctx, change)

    def actions(self, args: WriteFileArgs, ctx: ToolContext) -> Sequence[Action]:
        if ctx.may_quote and ctx.prepared.before == ctx.prepared.after:
            return ()
        return [Action.of_write(ctx.session.absolute(args.file_path), **origin(ctx))]

    async def run(self, args: WriteFileArgs, ctx: ToolContext) -> Outcome:
        change: Change = ctx.prepared
        name = relative(ctx, args.file_path)
        if ctx.may_quote and change.before == change.after:
            return Outcome(text=f"{name} already has this content; nothing was written.")
        await check_current(ctx, change, args.file_path)
        await write_text(ctx, change, args.file_path)
        did = "Created" if change.before is None else "Replaced"
        text = (
            f"{did} {name} ({describe_size(change.after)}).{describe_escapes(args.content)}"
            + await describe_problems(ctx, [change])
        )
        return Outcome(text=text, raw={"path": change.path, "created": change.before is None})


class Edit(Record):
    """One replacement."""

    old_string: Annotated[
        str,
        Meta(
            description="The text to replace, copied exactly from the file, indentation included. It must occur "
            "exactly once, so add neighboring lines until it does."
        ),
    ]
    new_string: Annotated[str, Meta(description="The replacement; empty to remove the text.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence instead of exactly one.")] = False


class EditedText(NamedTuple):
    """The text after all edits."""

    text: str
    lines: list[int]
    """The first line of each replacement, in the text as it was after that edit."""
    adjusted: str
    """How the old texts differed from the file; empty if they were found exactly."""


def apply_edits(text: str, edits: Sequence[Edit], path: str) -> EditedText:
    """Apply all edits in order. Raises `ToolError` if one can't be applied."""
    if not edits:
        raise ToolError("no edits given; give at least one")
    lines: list[int] = []
    adjusted: list[str] = []
    changed = text
    for number, edit in enumerate(edits, 1):
        which = f"edit {number} of {len(edits)}: " if len(edits) > 1 else ""
        try:
            refuse_placeholder(edit.new_string, edit.old_string)
            replaced = replace(changed, edit.old_string, edit.new_string, every=edit.replace_all)
        except ToolError as error:
            raise ToolError(f"{which}{error}\n{path} was not changed") from None
        changed = replaced.text
        lines += replaced.lines
        if replaced.adjusted:
            adjusted.append(f"{which.capitalize()}{replaced.adjusted}")
    if changed == text:
        raise ToolError(f"the edits don't change {path}")
    return EditedText(changed, lines, "\n".join(adjusted))
