"""Walk the project's files in order, without those ignored by .gitignore. Links are not followed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from accord.coder.tools.base import ToolContext
from accord.errors import RequestFailed
from accord.workspace.disk import Disk, Entry
from accord.workspace.ignore import MAX_FILE_BYTES, IgnoreRules, rules_above
from accord.workspace.place import Call, Moved, Place

MAX_ENTRIES = 200_000
"""The most entries one walk visits."""
MAX_SECONDS = 20.0


class Step(NamedTuple):
    """A visited file or directory."""

    path: str
    entry: Entry
    depth: int
    """1 for the entries of the start directory."""
    ignored: bool


class Walk:
    """A walk down from a directory inside a root. Blocking: run it in a thread."""

    def __init__(
        self, disk: Disk, root: str, start: str, *, check_wanted: Callable[[], None], max_entries: int = MAX_ENTRIES
    ) -> None:
        """`root` and `start` are resolved paths."""
        self.disk = disk
        self.root = root
        self.start = start
        self.is_truncated: bool = False
        """Whether it stopped early because of a limit."""
        self._check_wanted = check_wanted
        self._left = max_entries
        self._until = time.monotonic() + MAX_SECONDS

    def steps(
        self,
        *,
        depth: int | None = None,
        with_ignored: bool = False,
        skip: Callable[[str], bool] = lambda path: False,
    ) -> Iterator[Step]:
        """Yield everything below the start, sorted by name; a directory comes before its entries.

        Ignored entries are yielded only `with_ignored`, and never entered. `skip` omits paths."""
        self._max_depth = depth
        self._with_ignored = with_ignored
        self._skip = skip
        yield from self._below(self.start, self._outer_rules(), 1)

    def files(self) -> Iterator[Step]:
        """Return the files below the start."""
        return (step for step in self.steps() if step.entry.kind == "file")

    def _outer_rules(self) -> IgnoreRules:
        """Return the ignore rules from the top of the repository down to the start, without the start's own."""
        rules = rules_above(self.root).rules
        directory = self.root
        for name in self.start[len(self.root) :].strip(os.sep).split(os.sep):
            if name:
                rules = self._enter(rules, directory)
                directory = os.path.join(directory, name)
        return rules

    def _below(self, directory: str, rules: IgnoreRules, depth: int) -> Iterator[Step]:
        try:
            entries = self.disk.list(directory, Call(at=directory))
        except RequestFailed:  # deleted meanwhile, or not readable
            return
        except Moved:  # replaced by a link
            if depth == 1:
                raise
            return
        names = {entry.name for entry in entries}
        if names & {".gitignore", ".git"}:
            rules = self._enter(rules, directory)
        for entry in entries:
            self._check_wanted()
            self._left -= 1
            if self._left < 0 or time.monotonic() > self._until:
                self.is_truncated = True
                return
            path = os.path.join(directory, entry.name)
            is_directory = entry.kind == "directory"
            if entry.name == ".git" or self._skip(path):
                continue
            ignored = rules.ignores(path, is_directory)
            if ignored and not self._with_ignored:
                continue
            yield Step(path, entry, depth, ignored)
            if is_directory and not ignored and (self._max_depth is None or depth < self._max_depth):
                yield from self._below(path, rules, depth + 1)

    def _enter(self, rules: IgnoreRules, directory: str) -> IgnoreRules:
        is_top = self._exists(os.path.join(directory, ".git"))
        exclude = self._text(os.path.join(directory, ".git", "info", "exclude")) if is_top else None
        return rules.enter(directory, self._text(os.path.join(directory, ".gitignore")), exclude)

    def _exists(self, path: str) -> bool:
        try:
            return self.disk.exists(path)
        except RequestFailed:
            return False

    def _text(self, path: str) -> str:
        return read_bytes(self.disk, path, MAX_FILE_BYTES).decode(errors="replace")


def read_bytes(disk: Disk, path: str, max_bytes: int, *, at: str | None = None) -> bytes:
    """Read the beginning of a file; empty if it can't be read or (with `at`) has moved."""

    def read(place: Place) -> bytes:
        Call(at=at).check_place(path, place)
        place.require_file()
        with open(place.open(), "rb", buffering=0) as file:
            pieces: list[bytes] = []
            left = max_bytes
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)

    try:
        return disk.roots.at(path, read)
    except (RequestFailed, Moved, OSError):
        return b""


async def files_named(ctx: ToolContext, name: str, *, limit: int) -> list[str]:
    """Return files with a name, anywhere in the working directory."""
    from accord.coder.tools.project.paths import locate

    found = await locate(ctx, ".")

    def find(call: Call) -> list[str]:
        disk = ctx.state.files.disk.disk
        walk = Walk(disk, found.root_real, found.real, check_wanted=call.check_wanted, max_entries=20_000)
        same = (step.path for step in walk.files() if step.entry.name.casefold() == name.casefold())
        return [found.below_root(path) for path in islice(same, limit)]

    return await ctx.state.files.disk.run_blocking(find)
