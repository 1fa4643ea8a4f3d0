"""Going through the project's files, in order, without what .gitignore files leave out. Links are not followed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from accord.coder.tools.base import Work
from accord.coder.tools.ignoring import MAX_RULES_BYTES, Ignoring, above
from accord.errors import RequestFailed
from accord.workspace.disk import Disk
from accord.workspace.looking import Call, Entry
from accord.workspace.place import Place

MAX_ENTRIES = 200_000
"""How many names one walk looks at."""
MAX_SECONDS = 20.0


class Step(NamedTuple):
    """Something on the way."""

    path: str
    entry: Entry
    depth: int
    """1 for what is in the first directory itself."""
    ignored: bool


class Walk:
    """One walk, from a directory in a root down. Blocking: for a thread beside the event loop."""

    def __init__(
        self, disk: Disk, root: str, start: str, *, go_on: Callable[[], None], max_entries: int = MAX_ENTRIES
    ) -> None:
        """`root` and `start` are real paths, free of links."""
        self.disk = disk
        self.root = root
        self.start = start
        self.is_cut = False
        """Whether it took too long, or there was too much, and something was left out."""
        self._go_on = go_on
        self._left = max_entries
        self._until = time.monotonic() + MAX_SECONDS

    def steps(
        self,
        *,
        depth: int | None = None,
        with_ignored: bool = False,
        unwanted: Callable[[str], bool] = lambda path: False,
    ) -> Iterator[Step]:
        """Everything below the start, by name; a directory comes before what is in it. What is ignored is given when it
        is asked for, and never entered; what is unwanted is left out like it."""
        self._most = depth
        self._with_ignored = with_ignored
        self._unwanted = unwanted
        yield from self._below(self.start, self._known(), 1)

    def files(self) -> Iterator[Step]:
        """The files below the start."""
        return (step for step in self.steps() if step.entry.kind == "file")

    def _known(self) -> Ignoring:
        """The rules on the way from the top of the repository to the start, that of the start itself left out."""
        ignoring = above(self.root).ignoring
        folder = self.root
        for name in self.start[len(self.root) :].strip(os.sep).split(os.sep):
            if name:
                ignoring = self._entered(ignoring, folder)
                folder = os.path.join(folder, name)
        return ignoring

    def _below(self, folder: str, ignoring: Ignoring, depth: int) -> Iterator[Step]:
        try:
            entries = self.disk.list(folder)
        except RequestFailed:  # gone meanwhile, or not for us
            return
        names = {entry.name for entry in entries}
        if names & {".gitignore", ".git"}:
            ignoring = self._entered(ignoring, folder)
        for entry in entries:
            self._go_on()
            self._left -= 1
            if self._left < 0 or time.monotonic() > self._until:
                self.is_cut = True
                return
            path = os.path.join(folder, entry.name)
            is_folder = entry.kind == "directory"
            if entry.name == ".git" or self._unwanted(path):
                continue
            ignored = ignoring.ignores(path, is_folder)
            if ignored and not self._with_ignored:
                continue
            yield Step(path, entry, depth, ignored)
            if is_folder and not ignored and (self._most is None or depth < self._most):
                yield from self._below(path, ignoring, depth + 1)

    def _entered(self, ignoring: Ignoring, folder: str) -> Ignoring:
        is_top = self._exists(os.path.join(folder, ".git"))
        exclude = self._text(os.path.join(folder, ".git", "info", "exclude")) if is_top else None
        return ignoring.entered(folder, self._text(os.path.join(folder, ".gitignore")), exclude)

    def _exists(self, path: str) -> bool:
        try:
            return self.disk.exists(path)
        except RequestFailed:
            return False

    def _text(self, path: str) -> str:
        return read_bytes(self.disk, path, MAX_RULES_BYTES).decode(errors="replace")


def read_bytes(disk: Disk, path: str, most: int) -> bytes:
    """The beginning of a file; nothing of one that cannot be read."""

    def read(place: Place) -> bytes:
        place.need_file()
        with open(place.open(), "rb", buffering=0) as file:
            pieces: list[bytes] = []
            left = most
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)

    try:
        return disk.roots.at(path, read)
    except (RequestFailed, OSError):
        return b""


async def files_named(work: Work, name: str, *, most: int) -> list[str]:
    """Files of a name, anywhere in the working directory."""
    from accord.coder.tools.places import look

    found = await look(work, ".")

    def find(call: Call) -> list[str]:
        disk = work.desk.files.disk.disk
        walk = Walk(disk, found.root_real, found.real, go_on=call.go_on, max_entries=20_000)
        same = (step.path for step in walk.files() if step.entry.name.casefold() == name.casefold())
        return [found.named(path) for path in islice(same, most)]

    return await work.desk.files.disk.away(find)
