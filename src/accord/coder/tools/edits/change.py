"""Changes of whole files: read the text, show the difference, and write it unless the file has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from accord.coder.tools.base import ToolContext, ToolError
from accord.coder.tools.project.paths import locate, missing, origin, whole_text
from accord.coder.tools.text import describe_size
from accord.errors import RequestFailed
from accord.model.tool import Location
from accord.policy.action import Action


class Change(NamedTuple):
    """A change that is about to be made."""

    path: str
    before: str | None
    """None if the file doesn't exist."""
    after: str
    lines: list[int]
    adjusted: str = ""
    """How the model's text differed from the file's, for the result."""


def read_and_write(path: str, ctx: ToolContext) -> Sequence[Action]:
    """Return the actions of changing a file: its text is shown to the user, and quoted in errors."""
    absolute = ctx.session.absolute(path)
    return [Action.of_read(absolute, **origin(ctx)), Action.of_write(absolute, **origin(ctx))]


async def read_if_exists(ctx: ToolContext, path: str) -> str | None:
    """Return a file's text; None if it exists neither on disk nor in the client."""
    found = await locate(ctx, path)
    if found.kind != "absent":
        return await whole_text(ctx, path)
    if ctx.session.client.offers.read_files:
        # Some clients return empty text for a missing file. Writing it then loses nothing.
        try:
            return await ctx.state.files.read(found.path) or None
        except RequestFailed:
            return None
    return None


def refuse_unseen(ctx: ToolContext, path: str, text: str) -> None:
    """Refuse to replace a file whose text the model hasn't seen, once for each version of the file."""
    if not ctx.state.seen_files.may_replace(ctx.reached[ctx.session.absolute(path)], text, ctx.state.history):
        raise ToolError(
            f"{path} exists ({describe_size(text)}), and you haven't read its current version. Nothing was written. "
            "Read it first, so that nothing is lost; to replace it anyway, repeat this call"
        )


async def show_change(ctx: ToolContext, change: Change) -> None:
    """Show a change to the user."""
    await ctx.call.diff(change.path, change.before, change.after)
    if change.before is not None:
        await ctx.call.update(locations=[Location(path=change.path, line=min(change.lines))])


async def check_current(ctx: ToolContext, change: Change, path: str) -> None:
    """Refuse if the file is not what it was when the change was shown."""
    now = await read_if_exists(ctx, path)
    if now is None and change.before is not None:
        raise await missing(ctx, path)
    if now != change.before:
        raise ToolError(f"{path} has changed since the edit was prepared; read it again and repeat the edit")


async def write_text(ctx: ToolContext, change: Change, path: str) -> None:
    """Write the text of a change to the file that was decided about."""
    try:
        await ctx.state.files.write(change.path, change.after, at=ctx.reached[change.path])
    except RequestFailed as error:
        raise ToolError(f"{path} was not written: {error.explanation}") from None
    ctx.state.seen_files.note(change.path, ctx.reached[change.path], change.after)
