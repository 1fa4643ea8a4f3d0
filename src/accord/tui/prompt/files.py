"""The files of a project for completion, without those ignored by .gitignore."""

from __future__ import annotations

import heapq
import math
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from accord.tui.prompt.paste import mention

if TYPE_CHECKING:
    from accord.workspace.ignore import IgnoreRules

MAX_FILES = 50_000
MAX_SECONDS = 3.0
"""Limits of a scan: a home directory must not delay the prompt."""
FRESH_SECONDS = 15.0
"""Seconds for which a list of files is reused."""
NEVER = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}


class Files:
    """The files of a project that can be mentioned, as relative names; directories end in a slash."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: list[str] = []
        self._at = 0.0
        self._walking = threading.Lock()
        self._matching = threading.Lock()
        self._newest: object = None

    def matching(self, wanted: str, most: int = 50) -> list[str] | None:
        """Return the best matches for the text typed so far. Reads the disk: call it in a thread.

        Returns None if a newer call superseded this one, so that typing quickly doesn't pile up work. One thread
        renews an old list, while others use it."""
        asked = self._newest = object()
        if self._walking.acquire(blocking=not self._names):
            self._make(FRESH_SECONDS)
        with self._matching:
            return best(wanted, self._names, most) if self._newest is asked else None

    def surely_matching(self, wanted: str, most: int = 50) -> list[str]:
        """Return the best matches, without being superseded by a newer call. The list may be old."""
        if not self._names:
            self._walking.acquire()
            self._make(math.inf)
        return best(wanted, self._names, most)

    def _make(self, fresh: float) -> None:
        """Scan the project unless the list is fresh."""
        try:
            if not self._names or time.monotonic() - self._at > fresh:
                self._names = list(self._walk())
                self._at = time.monotonic()
        finally:
            self._walking.release()

    def _walk(self) -> Iterator[str]:
        end = time.monotonic() + MAX_SECONDS
        from accord.workspace.ignore import rules_above

        count = 0
        root = os.path.realpath(self._root)
        directories: list[tuple[str, IgnoreRules]] = [("", rules_above(root).rules)]
        while directories:
            directory, rules = directories.pop(0)  # the nearest first, so that a truncated list lacks only deep files
            path = os.path.join(root, directory)
            try:
                entries = sorted(os.scandir(path), key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name in (".gitignore", ".git") for entry in entries):
                rules = rules.enter_on_disk(path.rstrip("/"))
            for entry in entries:
                is_directory = entry.is_dir(follow_symlinks=False)
                name = f"{directory}{entry.name}{'/' if is_directory else ''}"
                if entry.name in NEVER or rules.ignores(entry.path, is_directory) or mention(name) is None:
                    continue
                yield name
                count += 1
                if count >= MAX_FILES or time.monotonic() > end:
                    return
                if is_directory:
                    directories.append((name, rules))


def best(wanted: str, names: list[str], most: int = 50) -> list[str]:
    """Fuzzy match: names that contain the letters in order, those with the letters closest together first."""
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
