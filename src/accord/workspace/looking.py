"""Looking at files in the roots: blocking calls, for a thread beside the event loop."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, cast

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.model.noun import Noun
from accord.workspace.changes import Change
from accord.workspace.folder import Swapped
from accord.workspace.overlay import Buffer, Overlay
from accord.workspace.paths import shown
from accord.workspace.place import Place, kind_of
from accord.workspace.replacing import TEMPORARY
from accord.workspace.roots import Roots
from accord.workspace.text import read_text, too_large

MAX_READ_BYTES = 64 << 20

EntryKind = Literal["file", "directory", "link", "other"]


class Entry(Noun):
    """One name in a directory. A name that is not UTF-8 is shown with escapes, as `other`: it cannot be asked for."""

    name: str
    kind: EntryKind
    size: int = 0
    has_escapes: bool = False


class Call:
    """One call: whether it is still wanted, and who hears of what it changes."""

    def __init__(self, tell: Callable[[Change], None] | None = None) -> None:
        self.tell = tell
        self.is_wanted = True

    def go_on(self) -> None:
        """Raises when nobody waits for the call any more."""
        if not self.is_wanted:
            raise RequestFailed("the call was cancelled; nothing has changed")


QUIET = Call()
"""A call that nobody cancels and of which nobody hears."""


class Looking:
    """Reads files and lists directories. A path is what an agent wrote; every call finds it anew, from the roots."""

    def __init__(self, roots: Roots, overlay: Overlay, max_read_bytes: int) -> None:
        self.roots = roots
        self.overlay = overlay
        self._max_read_bytes = max_read_bytes

    def read(self, path: str, line: int | None = None, limit: int | None = None, call: Call = QUIET) -> str:
        """The text of a file, as it is on screen or else on disk."""

        def work(place: Place) -> str:
            buffer = self._on_screen(place)
            if buffer is not None:
                source = io.BytesIO(buffer.text.encode(errors="replace"))
                return read_text(source, path, line=line, limit=limit, ceiling=self._max_read_bytes)
            place.need_file()
            with open(place.open(), "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                if size > self._max_read_bytes and limit is None and (line or 0) <= 1:
                    raise too_large(path, size, self._max_read_bytes)
                most = self._max_read_bytes
                return read_text(file, path, line=line, limit=limit, ceiling=most, size=size, go_on=call.go_on)

        return self.roots.at(path, work)

    def _on_screen(self, place: Place) -> Buffer | None:
        return self.overlay.find(place.real) if len(self.overlay) else None

    def exists(self, path: str, call: Call = QUIET) -> bool:
        """Whether there is anything of this name, on disk or on screen."""
        with suppress(NotFound):
            return self.roots.at(path, lambda place: bool(place.status or self._on_screen(place)))
        return False

    def list(self, path: str, call: Call = QUIET) -> list[Entry]:
        """What is in a directory, by name."""

        def work(place: Place) -> list[Entry]:
            if place.status is None:
                raise NotFound(f"there is no directory {shown(path)}", data={"path": path})
            if place.kind != "directory":
                raise InvalidParams(f"{shown(path)} is a {place.kind}, not a directory")
            folder = place.folder.child(place.name) if place.name else place.folder.copy()
            if folder is None:
                raise Swapped
            with folder:
                return sorted(map(_entry, folder.names()), key=lambda entry: entry.name)

        return [entry for entry in self.roots.at(path, work) if not TEMPORARY.fullmatch(entry.name)]


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return Entry(name=os.fsencode(entry.name).decode(errors="backslashreplace"), kind="other", has_escapes=True)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile, or not for us
        return Entry(name=entry.name, kind="other")
    kind = kind_of(status.st_mode)
    known = cast(EntryKind, kind if kind in ("file", "directory", "link") else "other")
    return Entry(name=entry.name, kind=known, size=status.st_size if kind == "file" else 0)
