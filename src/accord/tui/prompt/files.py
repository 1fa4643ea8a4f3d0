"""The files of the project, for completion: what .gitignore leaves out is left out here too."""

from __future__ import annotations

import heapq
import math
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from accord.tui.prompt.mention import mention

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_FILES = 50_000
MOST_SECONDS = 3.0
"""How many files are looked at, and for how long: a home directory must not hold up a prompt."""
FRESH = 15.0
"""Seconds for which a list of files is used before it is made again."""
_NEVER = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}


class Ignoring(NamedTuple):
    """What one .gitignore leaves out: of a folder of the project, or of one that the project is in."""

    spec: GitIgnoreSpec
    folder: str = ""
    above: str = ""
    """The way from its folder to the project, for one outside."""

    def verdict(self, name: str) -> bool | None:
        """Whether a name is left out; None where it is not spoken of."""
        return self.spec.check_file(f"{self.above}{name[len(self.folder) :]}").include


class Files:
    """The names of a project's files, relative to it, folders with a slash behind them; those that can be mentioned."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: list[str] = []
        self._at = 0.0
        self._walking = threading.Lock()
        self._matching = threading.Lock()
        self._newest: object = None

    def matching(self, wanted: str, most: int = 50) -> list[str] | None:
        """The names that fit best what was typed so far. Reads the disk: call it in a thread.

        Typing quickly does not make more work: who was asked before somebody else gives way, and gives None. A list
        that is no longer fresh is made again by one thread, while others use the old one."""
        asked = self._newest = object()
        if self._walking.acquire(blocking=not self._names):
            self._make(FRESH)
        with self._matching:
            return best(wanted, self._names, most) if self._newest is asked else None

    def surely_matching(self, wanted: str, most: int = 50) -> list[str]:
        """The same for somebody who waits for just this: nobody else's question matters, and any list will do."""
        if not self._names:
            self._walking.acquire()
            self._make(math.inf)
        return best(wanted, self._names, most)

    def _make(self, fresh: float) -> None:
        """Makes the list if there is none that is fresh, and lets others do so again."""
        try:
            if not self._names or time.monotonic() - self._at > fresh:
                self._names = list(self._walk())
                self._at = time.monotonic()
        finally:
            self._walking.release()

    def _walk(self) -> Iterator[str]:
        end = time.monotonic() + MOST_SECONDS
        count = 0
        folders: list[tuple[str, list[Ignoring]]] = [("", list(_above(self._root)))]
        while folders:
            folder, specs = folders.pop(0)  # the nearest first, so that what is cut is far away
            try:
                entries = sorted(os.scandir(self._root / folder), key=lambda entry: entry.name)
            except OSError:
                continue
            own = _spec(self._root / folder)
            specs = [*specs, Ignoring(own, folder)] if own is not None else specs
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                name = f"{folder}{entry.name}{'/' if is_folder else ''}"
                if entry.name in _NEVER or _is_ignored(name, specs) or mention(name) is None:
                    continue
                yield name
                count += 1
                if count >= MOST_FILES or time.monotonic() > end:
                    return
                if is_folder:
                    folders.append((name, specs))


def _spec(folder: Path) -> GitIgnoreSpec | None:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # a pattern that is none
        return None


def _above(root: Path) -> Iterator[Ignoring]:
    """What is left out by the folders that the project is in, up to the one where git keeps its things."""
    try:
        root = root.resolve()
        inside = next((each for each in (root, *root.parents) if (each / ".git").exists()), root)
    except OSError:
        return
    for parent in reversed(root.parents):
        if parent.is_relative_to(inside) and (spec := _spec(parent)) is not None:
            yield Ignoring(spec, above=f"{root.relative_to(parent).as_posix()}/")


def _is_ignored(name: str, specs: list[Ignoring]) -> bool:
    """Whether a name is left out; of several files the innermost one that speaks of it counts."""
    for ignoring in reversed(specs):
        verdict = ignoring.verdict(name)
        if verdict is not None:
            return verdict
    return False


def best(wanted: str, names: list[str], most: int = 50) -> list[str]:
    """The names that have the wanted letters in their order, those first that have them closest together."""
    if not wanted:
        return heapq.nsmallest(most, names, key=lambda name: (name.count("/"), name))
    letters = re.compile(".*?".join(map(re.escape, wanted)), re.IGNORECASE)
    low = wanted.lower()
    found = ((_cost(low, name, match), name) for name in names if (match := letters.search(name)))
    return [name for _, name in heapq.nsmallest(most, found)]


def _cost(wanted: str, name: str, match: re.Match[str]) -> tuple[int, int]:
    base = name.rstrip("/").rpartition("/")[2].lower()
    if base == wanted or name.lower() == wanted:
        rank = 0
    elif base.startswith(wanted):
        rank = 1
    elif wanted in base:
        rank = 2
    elif wanted in name.lower():
        rank = 3
    else:
        rank = 4 + match.end() - match.start()
    return rank, len(name)
