"""Where the files are that a tool is about: inside the session's directories, or nowhere."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.coder.tools.base import ToolFault, Work
from accord.coder.tools.text import size_in_words
from accord.errors import NotFound, RequestFailed
from accord.workspace.roots import OutsideWorkspace

if TYPE_CHECKING:
    from accord.workspace.looking import Call
    from accord.workspace.place import Place

MAX_WHOLE = 10_000_000
"""The largest file, in bytes, that is read whole: to be edited, or to show what is replaced."""
HEAD = 8_192
"""How much of a file is looked at to tell text from other data."""


class Found(NamedTuple):
    """What a path leads to."""

    path: str
    """Absolute, as it was asked for."""
    kind: str
    """absent, file, directory, link, or another word."""
    size: int = 0
    real: str = ""
    """The path free of links; empty where nothing was found."""
    root: str = ""
    """The session's directory that it lies in, as that was given."""
    root_real: str = ""

    def named(self, real: str) -> str:
        """A real path in the same root, spelled as the root was given."""
        return self.root + real[len(self.root_real) :] if real.startswith(self.root_real) else real


def who(work: Work) -> dict[str, Any]:
    """Who acts, as the policy wants to know it."""
    return {"agent": "accord", "session": work.session.id, "project": work.session.cwd}


def relative(work: Work, path: str) -> str:
    """A path as the model and people know it: from the working directory where it lies in it."""
    cwd = work.session.cwd.rstrip(os.sep) + os.sep
    absolute = work.session.absolute(path)
    if absolute + os.sep == cwd:
        return "."
    return absolute[len(cwd) :] if absolute.startswith(cwd) else absolute


async def look(work: Work, path: str, *, follow: bool = True) -> Found:
    """Finds a path, whose file need not exist. Raises `ToolFault` when it leads out of the session's directories."""
    if not path:
        raise ToolFault("the path is empty; give a path inside the project")
    absolute = work.session.absolute(path)
    roots = work.desk.files.roots

    def found(place: Place) -> Found:
        size = place.status.st_size if place.status is not None else 0
        return Found(absolute, place.kind, size, place.real, place.root.path, place.root.real)

    def find(_: Call) -> Found:
        return roots.at(absolute, found, follow=follow)

    try:
        return await work.desk.files.disk.away(find)
    except OutsideWorkspace:
        where = ", ".join(roots.paths)
        raise ToolFault(f"{path} leads out of the project; tools work inside {where} and nowhere else") from None
    except NotFound:
        return Found(absolute, "absent")
    except RequestFailed as error:
        raise ToolFault(error.message) from None


async def look_for_file(work: Work, path: str, *, on_screen: bool = True) -> Found:
    """Finds a text file that is there. `on_screen` is whether one that only the client has will do."""
    found = await look(work, path)
    if found.kind == "absent" and on_screen and work.session.client.read_files:
        return found  # perhaps a buffer that was never saved: the client knows
    if found.kind == "absent":
        raise await missing(work, path)
    if found.kind == "directory":
        raise ToolFault(f"{path} is a directory; use list_files or outline for it")
    if found.kind != "file":
        raise ToolFault(f"{path} is a {found.kind}, not a file")
    head = await _head(work, found)
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = _what(head)
        raise ToolFault(f"{path} is no text but {what} of {size_in_words(found.size)}; only text files can be used")
    return found


async def whole_text(work: Work, path: str) -> str:
    """The whole text of a file, unsaved changes included. What the client lost at its very end is put back."""
    found = await look_for_file(work, path)
    if found.size > MAX_WHOLE:
        most = size_in_words(MAX_WHOLE)
        raise ToolFault(f"{path} has {size_in_words(found.size)}; files up to {most} can be read whole")
    text = await text_of(work, found, path)
    if work.session.client.read_files and found.kind == "file":
        # Some clients drop the last line feed, or add one. Only the disk knows.
        try:
            saved = await work.desk.files.disk.read(found.path)
        except RequestFailed:
            return text
        if text != saved and text.rstrip("\n") == saved.rstrip("\n"):
            return saved
    return text


async def text_of(work: Work, found: Found, path: str, *, line: int | None = None, limit: int | None = None) -> str:
    """Reads a file that was found; one that is missing after all is told with the names it may have."""
    try:
        return await work.desk.files.read(found.path, line=line, limit=limit)
    except NotFound:
        raise await missing(work, path) from None
    except RequestFailed as error:
        if found.kind == "absent":  # clients have many ways to say that there is nothing
            raise await missing(work, path) from None
        raise ToolFault(f"{path} cannot be read: {error.message}") from None


async def missing(work: Work, path: str) -> ToolFault:
    """What to say of a file that is not there: with the names that may have been meant."""
    names = await _similar(work, path)
    hint = f"; did you mean {' or '.join(names)}?" if names else "; find_files or list_files show what there is"
    return ToolFault(f"there is no file {path}{hint}")


async def _similar(work: Work, path: str) -> list[str]:
    """Names in the nearest directory that are like the wanted one; else files of that very name elsewhere."""
    from accord.coder.tools.walking import files_named

    absolute = work.session.absolute(path)
    folder, name = os.path.split(absolute)
    try:
        entries = await work.desk.files.list(folder)
    except RequestFailed:
        entries = []
    by_case = {entry.name.casefold(): entry.name for entry in entries}
    close = difflib.get_close_matches(name.casefold(), list(by_case), n=3, cutoff=0.6)
    if close:
        return [relative(work, os.path.join(folder, by_case[each])) for each in close]
    return [relative(work, each) for each in await files_named(work, name, most=3)]


async def _head(work: Work, found: Found) -> bytes:
    def read(place: Place) -> bytes:
        fd = place.open()
        try:
            return os.read(fd, HEAD)
        finally:
            os.close(fd)

    try:
        return await work.desk.files.disk.away(lambda _: work.desk.files.roots.at(found.path, read))
    except NotFound:
        raise await missing(work, found.path) from None
    except RequestFailed as error:
        raise ToolFault(error.message) from None


_KINDS = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "sound, video or a picture (RIFF)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program (ELF)"),
    (b"SQLite format 3", "an SQLite database"),
)


def _what(head: bytes) -> str:
    return next((words for mark, words in _KINDS if head.startswith(mark)), "binary data")
