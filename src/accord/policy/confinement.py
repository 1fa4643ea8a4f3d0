"""Files that a sandbox must keep from a command: protected ones, and those that rules deny or ask about.

The names in `protections` are looked up directly, because matching every file of a large project against every pattern
would take too long."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from accord.policy.engine import Policy
from accord.policy.protections import INSTALLED, PROTECTED

MAX_ENTRIES = 200_000
MAX_FOUND = 150
"""Each is a mount, and mounts take time."""


class TooLarge(Exception):
    """The project has too many entries, or too many protected ones."""


class Confined(NamedTuple):
    """The restricted paths of a directory, without links."""

    read_only: dict[str, tuple[int, int]]
    """Their device and inode numbers."""
    hidden: dict[str, tuple[int, int]]
    links: dict[str, tuple[int, int]]
    """Protected names that are links, which can't be made read-only. Here with the time of their last change: the
    number of a removed link is used again."""

    @property
    def all(self) -> dict[str, tuple[int, int]]:
        return {**self.read_only, **self.hidden, **self.links}


class _Names:
    """The protected names, by their last name and the one before."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.patterns: list[str] = []
        for text in (*PROTECTED, *INSTALLED):
            if not text.startswith("**/"):
                continue
            parts = text.removeprefix("**/").removesuffix("/**").casefold().split("/")
            if len(parts) == 2:
                self.pairs.add((parts[0], parts[1]))
            elif "*" in parts[0]:
                self.patterns.append(parts[0])
            else:
                self.names.add(parts[0])

    def match(self, parent: str, name: str) -> bool:
        folded = name.casefold()
        if folded in self.names or (parent.casefold(), folded) in self.pairs:
            return True
        return any(fnmatch.fnmatchcase(folded, pattern) for pattern in self.patterns)


_NAMES = _Names()
_PRUNED = "node_modules"
"""Its packages aren't searched: nothing runs or reads what they contain without being told to, except `.bin`."""


def find_confined(root: str, policy: Policy) -> Confined:
    """Find the restricted paths of a directory, the outermost ones only. Raises `TooLarge`."""
    found = Confined({}, {}, {})
    has_read_rules, has_write_rules = policy.restricts_files("read"), policy.restricts_files("write")
    count = 0
    for entry, parent in _walk(root, found):
        count += 1
        if count > MAX_ENTRIES or len(found.read_only) + len(found.hidden) > MAX_FOUND:
            raise TooLarge
        hides = has_read_rules and policy.restricts(entry.path, "read")
        if not (
            hides
            or _NAMES.match(parent, entry.name)
            or (has_write_rules and policy.restricts(entry.path, "write"))
            or _is_environment(entry)
        ):
            continue
        status = entry.stat(follow_symlinks=False)
        where = found.links if stat.S_ISLNK(status.st_mode) else found.hidden if hides else found.read_only
        is_link = stat.S_ISLNK(status.st_mode)
        where[entry.path] = (status.st_dev, status.st_ctime_ns if is_link else status.st_ino)
    return found


def _walk(root: str, found: Confined) -> Iterator[tuple[os.DirEntry[str], str]]:
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        parent = os.path.basename(directory)
        for entry in entries:
            if parent == _PRUNED and entry.name != ".bin":
                continue
            yield entry, parent
            is_restricted = entry.path in found.read_only or entry.path in found.hidden
            if not is_restricted and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a Python virtual environment."""
    return entry.is_dir(follow_symlinks=False) and os.path.lexists(os.path.join(entry.path, "pyvenv.cfg"))
