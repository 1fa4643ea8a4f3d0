"""The project as a tree for `@`: directories are read when they are opened, without files ignored by Git."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from accord.tui.prompt.files import NEVER
from accord.tui.prompt.paste import mention

if TYPE_CHECKING:
    from accord.workspace.ignore import IgnoreRules

MAX_ENTRIES = 200
"""Maximum number of entries listed per directory; typing finds the others."""
MAX_READ = 5000
"""Maximum number of entries read per directory."""


class TreeRow(NamedTuple):
    """A line of the tree. Directories end in a slash; the project itself is the empty path."""

    path: str
    depth: int
    is_open: bool = False
    omitted: int = 0
    """If not zero, the line stands for that many entries of the directory."""

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


class ProjectTree:
    """Lists the open directories of a project. Links to directories can't be opened."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._open: set[str] = set()

    def set_open(self, path: str, is_open: bool) -> None:
        """Open or close a directory."""
        (self._open.add if is_open else self._open.discard)(path)

    def list_rows(self) -> list[TreeRow]:
        """Return the lines from top to bottom. Reads the disk: call it in a thread."""
        from accord.workspace.ignore import rules_above

        rows: list[TreeRow] = []
        self._add("", 0, rules_above(self._root).rules, frozenset(self._open), rows)
        return rows

    def _add(self, directory: str, depth: int, rules: IgnoreRules, opened: frozenset[str], rows: list[TreeRow]) -> None:
        place = os.path.join(self._root, directory)
        try:
            with os.scandir(place) as scan:
                entries = list(islice(scan, MAX_READ))
        except OSError:
            return
        if any(entry.name in (".gitignore", ".git") for entry in entries):
            rules = rules.enter_on_disk(place.rstrip("/"))
        found: list[tuple[bool, bool, str]] = []
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            name = f"{directory}{entry.name}{'/' if is_directory else ''}"
            if entry.name not in NEVER and mention(name) is not None and not rules.ignores(entry.path, is_directory):
                found.append((entry.name.startswith("."), not is_directory, name))
        found.sort()
        for *_, name in found[:MAX_ENTRIES]:
            is_open = name in opened
            rows.append(TreeRow(name, depth, is_open))
            if is_open:
                self._add(name, depth + 1, rules, opened, rows)
        omitted = len(found) - MAX_ENTRIES
        if omitted > 0:
            rows.append(TreeRow(directory, depth, omitted=omitted))
