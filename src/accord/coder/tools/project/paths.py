"""Resolve and read the paths that tools are given. Only reading may leave the session's directories, if the policy
allows it."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.coder.tools.base import ToolContext, ToolError
from accord.coder.tools.text import format_size
from accord.errors import NotFound, RequestFailed
from accord.policy.action import Action
from accord.workspace.place import Call, Moved
from accord.workspace.roots import OutsideWorkspace

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.workspace.place import Place

MAX_WHOLE_BYTES = 10_000_000
"""The largest file that can be read whole: to edit it, or to show what is replaced."""
HEAD_BYTES = 8_192
"""How much of a file is examined to tell text from binary data."""


class Found(NamedTuple):
    """A path and its target."""

    path: str
    """Absolute, with links not resolved."""
    kind: str
    """absent, file, directory, link or other."""
    size: int = 0
    real: str = ""
    """The path with links resolved."""
    root: str = ""
    """The session directory that contains it, as the client spelled it."""
    root_real: str = ""
    is_outside: bool = False
    """Whether it is outside the session's directories, and only to be read."""

    def below_root(self, real: str) -> str:
        """Return a resolved path in the same root, with the client's spelling of the root."""
        return self.root + real[len(self.root_real) :] if real.startswith(self.root_real) else real


def origin(ctx: ToolContext) -> dict[str, Any]:
    """Return the agent, session and project of an action, for the policy."""
    return {"agent": "accord", "session": ctx.session.id, "project": ctx.session.cwd}


def relative(ctx: ToolContext, path: str) -> str:
    """Return a path relative to the working directory, or absolute if it is outside."""
    return from_cwd(ctx.session, path)


def from_cwd(session: Session, path: str) -> str:
    """Make a path relative to the session's working directory, or leave it absolute if it is outside."""
    cwd = session.cwd.rstrip(os.sep) + os.sep
    absolute = session.absolute(path)
    if absolute + os.sep == cwd:
        return "."
    return absolute[len(cwd) :] if absolute.startswith(cwd) else absolute


async def locate(ctx: ToolContext, path: str, *, follow: bool = True, outside: bool = False) -> Found:
    """Find a path, whose file needn't exist. Raises `ToolError` if it leads out of the session's directories, unless
    `outside` is set, and `Moved` if its target has changed during this call, after a decision that may have been about
    the old one."""
    if not path:
        raise ToolError("the path is empty; give a path inside the project")
    found = await _find(ctx, path, ctx.session.absolute(path), follow, outside)
    if ctx.reached.setdefault(found.path, found.real) != found.real:
        raise Moved(path, found.real)
    return found


async def reach(ctx: ToolContext, path: str, *, follow: bool = True) -> str:
    """Resolve an absolute path, for the decision about it."""
    if path not in ctx.reached:
        try:
            await locate(ctx, path, follow=follow)
        except ToolError as error:  # the tool reports it later
            try:
                ctx.reached[path] = await asyncio.to_thread(os.path.realpath, path)
            except ValueError:  # no path at all: it contains a NUL
                raise error from None
    return ctx.reached[path]


async def _find(ctx: ToolContext, path: str, absolute: str, follow: bool, outside: bool) -> Found:
    roots = ctx.state.files.roots

    def describe(place: Place) -> Found:
        size = place.status.st_size if place.status is not None else 0
        return Found(absolute, place.kind, size, place.real, place.root.path, place.root.real)

    def find(_: Call) -> Found:
        return roots.at(absolute, describe, follow=follow)

    try:
        return await ctx.state.files.disk.run_blocking(find)
    except OutsideWorkspace:
        if outside:
            return await _find_outside(ctx, absolute)
        where = ", ".join(roots.paths)
        raise ToolError(f"{path} is outside the project; tools only work inside {where}") from None
    except NotFound:
        return Found(absolute, "absent", real=await asyncio.to_thread(os.path.realpath, absolute))
    except RequestFailed as error:
        raise ToolError(error.explanation) from None


async def _find_outside(ctx: ToolContext, absolute: str) -> Found:
    """Find a file or directory anywhere, to read it. It is its own root, or its directory is."""

    def describe(place: Place) -> Found:
        size = place.status.st_size if place.status is not None else 0
        root = place.real if place.kind == "directory" else os.path.dirname(place.real)
        given = absolute if place.kind == "directory" else root
        return Found(absolute, place.kind, size, place.real, given, root, is_outside=True)

    files = ctx.state.files.outside
    try:
        return await files.run_blocking(lambda _: files.roots.at(absolute, describe))
    except RequestFailed as error:
        raise ToolError(error.explanation) from None


async def locate_text(ctx: ToolContext, path: str) -> Found:
    """Find an existing text file. One that only the client has (never saved) is accepted."""
    found = await locate_file(ctx, path)
    if found.kind == "file":
        check_text(found, await read_head(ctx, found), path)
    return found


async def locate_file(ctx: ToolContext, path: str, *, outside: bool = False) -> Found:
    """Find an existing file. One that only the client has (never saved) is accepted."""
    found = await locate(ctx, path, outside=outside)
    if found.kind == "absent" and not found.is_outside and ctx.session.client.offers.read_files:
        return found  # perhaps a buffer that was never saved; only the client knows
    if found.kind == "absent":
        raise await missing(ctx, path)
    if found.kind == "directory":
        raise ToolError(f"{path} is a directory; use list_files or outline")
    if found.kind != "file":
        raise ToolError(f"{path} is a {found.kind}, not a file")
    return found


def check_text(found: Found, head: bytes, path: str) -> None:
    """Refuse a binary file."""
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = _describe(head)
        raise ToolError(f"{path} is {what} ({format_size(found.size)}), not text")


async def whole_text(ctx: ToolContext, path: str) -> str:
    """Return a file's whole text, including unsaved changes. Restores a final line feed that the client dropped."""
    found = await locate_text(ctx, path)
    if found.size > MAX_WHOLE_BYTES:
        most = format_size(MAX_WHOLE_BYTES)
        raise ToolError(f"{path} is {format_size(found.size)}; only files up to {most} can be read whole")
    text = await text_of(ctx, found, path)
    if ctx.session.client.offers.read_files and found.kind == "file":
        # Some clients drop or add a final line feed. The file on disk is right.
        try:
            saved = await ctx.state.files.disk.read(found.path, at=found.real)
        except RequestFailed:
            return text
        if text != saved and text.rstrip("\n") == saved.rstrip("\n"):
            return saved
    return text


async def text_of(
    ctx: ToolContext, found: Found, path: str, *, line: int | None = None, limit: int | None = None
) -> str:
    """Read a file that was found. If it is missing after all, the error suggests similar names."""
    files = ctx.state.files
    try:
        if found.is_outside:
            return await files.outside.read(found.path, line, limit, at=found.real)
        return await files.read(found.path, line=line, limit=limit, at=found.real)
    except NotFound:
        raise await missing(ctx, path) from None
    except RequestFailed as error:
        if found.kind == "absent":  # clients report missing files in many ways
            raise await missing(ctx, path) from None
        raise ToolError(f"couldn't read {path}: {error.explanation}") from None


def split_glob(path: str) -> tuple[str, str]:
    """Split a glob into the directory it starts from and the rest: `src/**/*.py` is `**/*.py` in `src`."""
    parts = path.split("/")
    first = next(index for index, part in enumerate(parts) if "*" in part)
    directory = "/".join(parts[:first])
    return directory or ("/" if path.startswith("/") else "."), "/".join(parts[first:])


async def missing(ctx: ToolContext, path: str) -> ToolError:
    """Return the error for a missing file, with suggestions."""
    names = await _similar(ctx, path)
    if "*" in path:
        hint = "; use list_files with a pattern to find files, or search in them with a glob"
    else:
        hint = f"; did you mean {' or '.join(names)}?" if names else "; use list_files to see what exists"
    return ToolError(f"there is no file {path}{hint}", kind="missing")


async def _similar(ctx: ToolContext, path: str) -> list[str]:
    """Return similar names in the same directory, or else files with that name elsewhere."""
    from accord.coder.tools.project.walk import files_named

    if "\\" in path and await ctx.state.files.exists(path.replace("\\", "/")):  # written for Windows
        return [path.replace("\\", "/")]
    absolute = ctx.session.absolute(path)
    directory, name = os.path.split(absolute)
    try:
        entries = await ctx.state.files.list(directory)
    except RequestFailed:
        entries = []
    by_case = {entry.name.casefold(): entry.name for entry in entries}
    close = difflib.get_close_matches(name.casefold(), list(by_case), n=3, cutoff=0.6)
    here = [relative(ctx, os.path.join(directory, by_case[each])) for each in close]
    if name.casefold() in close:
        return here
    elsewhere = [relative(ctx, each) for each in await files_named(ctx, name, limit=3)]
    return (elsewhere + here)[:3]


async def read_head(ctx: ToolContext, found: Found) -> bytes:
    """Return the beginning of a file that was found."""
    fd = await open_file(ctx, found)
    try:
        return await asyncio.to_thread(os.read, fd, HEAD_BYTES)
    finally:
        os.close(fd)


async def open_file(ctx: ToolContext, found: Found) -> int:
    """Open exactly the file that was found, for reading. The caller closes it."""

    def open_place(place: Place) -> int:
        Call(at=found.real).check_place(found.path, place)
        return place.open()

    files = ctx.state.files.outside if found.is_outside else ctx.state.files.disk
    try:
        return await files.run_blocking(lambda _: files.roots.at(found.path, open_place))
    except NotFound:
        raise await missing(ctx, found.path) from None
    except RequestFailed as error:
        raise ToolError(error.explanation) from None


_KINDS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "audio, video or an image (RIFF)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program (ELF)"),
    (b"SQLite format 3", "an SQLite database"),
)


def _describe(head: bytes) -> str:
    return next((words for mark, words in _KINDS if head.startswith(mark)), "binary data")


PATHS_PER_STEP = 20
"""How many paths are checked before other tasks get a turn."""


async def allowed_paths(ctx: ToolContext, paths: Iterable[str]) -> set[str]:
    """Return the paths a tool may reveal without asking. A path that no rule covers was allowed with its directory."""
    allowed: set[str] = set()
    for index, path in enumerate(dict.fromkeys(paths), 1):
        decision = ctx.state.policy.decide(Action.of_read(path, **origin(ctx)))
        if decision.effect == "allow" or (decision.effect == "ask" and decision.by == "default"):
            allowed.add(path)
        if index % PATHS_PER_STEP == 0:
            await asyncio.sleep(0)
    return allowed
