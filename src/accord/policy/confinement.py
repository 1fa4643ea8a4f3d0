"""Files that a sandbox must hide from a command: protected ones, and those that rules deny or ask about.

The names in `protections` are looked up directly, because matching every file of a large project against every pattern
would take too long."""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from accord.policy.engine import Policy
from accord.policy.executed_files import find_executed
from accord.policy.protections import INSTALLED, PROTECTED, is_repository

MAX_ENTRIES = 200_000
MAX_FOUND = 150
"""The maximum number of restricted paths: each is a mount, which takes time."""


class TooLarge(Exception):
    """The project has too many entries, or too many protected ones."""


class IsProtected(Exception):
    """The directory, or one that contains it, is protected."""


class Confined(NamedTuple):
    """The restricted paths of a directory, without links."""

    read_only: dict[str, tuple[int, int]]
    """Their device and inode numbers."""
    hidden: dict[str, tuple[int, int]]
    links: dict[str, tuple[int, int]]
    """Protected names that are links, which can't be made read-only, with the time of their last change, because the
    inode number of a removed link is reused."""
    pinned: set[str]
    """The directories that contain files which rules restrict. If one was renamed, the rule wouldn't match any more."""
    executed: set[str]
    """Paths that programs execute because of where they are, even if they don't exist yet (see `executed_files`)."""

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

    def children(self, name: str) -> list[str]:
        """Return the names of protected files in a directory of this name. A link of this name could bring some."""
        return [child for parent, child in self.pairs if name.casefold() == parent]


_NAMES = _Names()
_PRUNED = "node_modules"
"""Directories whose packages aren't searched: no program runs or reads their files unasked, except those in `.bin`."""


def find_confined(root: str, policy: Policy, *, before: Confined | None = None) -> Confined:
    """Find the restricted paths of a directory, the outermost ones only.

    With what was found `before` a command, find what it may have created: without limits, and without trusting the
    links and the configuration of Git that it may have created as well. Else raises `IsProtected` and `TooLarge`.
    Raises `OSError` if the directory can't be listed."""
    found = Confined({}, {}, {}, set(), set())
    is_limited = before is None
    places = _protected_places()
    if is_limited:
        _check_root(root, places)
    has_read_rules, has_write_rules = policy.restricts_files("read"), policy.restricts_files("write")
    count = 0
    repositories = [root]
    for entry, parent in _walk(root, found):
        count += 1
        if is_limited and (count > MAX_ENTRIES or len(found.read_only) + len(found.hidden) > MAX_FOUND):
            raise TooLarge
        hides = has_read_rules and policy.restricts(entry.path, "read")
        by_rule = hides or (has_write_rules and policy.restricts(entry.path, "write"))
        is_link = entry.is_symlink()
        if by_rule:
            _pin(found, root, entry.path)
            if is_link and hides and before is None:
                _hide_target(found, root, entry.path)
        elif not (
            _NAMES.match(parent, entry.name)
            or entry.path in places
            or (is_link and _NAMES.children(entry.name))
            or _is_environment(entry)
            or (entry.is_dir(follow_symlinks=False) and is_repository(entry.path))
        ):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        except OSError:  # its directory can be listed, but not searched
            _restrict_unreadable(os.path.dirname(entry.path), root, found)
            continue
        where = found.links if is_link else found.hidden if hides else found.read_only
        where[entry.path] = (status.st_dev, status.st_ctime_ns if is_link else status.st_ino)
        if entry.name == ".git" and parent:
            repositories.append(os.path.dirname(entry.path))
    if before is None:
        for link in list(found.links):
            _restrict_target(found, root, link)
        for repository in repositories:
            found.executed.update(find_executed(repository))
    for path in before.executed if before is not None else found.executed:
        _restrict(found, root, path)
    return found


def _restrict(found: Confined, root: str, path: str) -> None:
    """Restrict a path that has no protected name, unless it is restricted already or isn't there."""
    above = path
    while above != root:
        if above == os.path.dirname(above) or above in found.read_only or above in found.hidden:
            return
        above = os.path.dirname(above)
    if path == root:
        return
    try:
        status = os.lstat(path)
    except OSError:
        return
    is_link = stat.S_ISLNK(status.st_mode)
    where = found.links if is_link else found.read_only
    where[path] = (status.st_dev, status.st_ctime_ns if is_link else status.st_ino)
    _pin(found, root, path)


def _restrict_target(found: Confined, root: str, link: str) -> None:
    """Restrict what a link with a protected name leads to: `AGENTS.md` → `docs/guide.md`."""
    real = os.path.realpath(link)
    children = _NAMES.children(os.path.basename(link))
    for path in [os.path.join(real, child) for child in children] or [real]:
        _restrict(found, root, path)


def _protected_places() -> set[str]:
    """Return the protected paths in the home directory."""
    texts = [text.removesuffix("/**") for text in PROTECTED if text.startswith("~/")]
    return {os.path.realpath(os.path.expanduser(text)) for text in texts}


def _check_root(root: str, places: set[str]) -> None:
    if is_repository(root):
        raise IsProtected
    path = root
    while path != os.path.dirname(path):
        parent, name = os.path.split(path)
        if path in places or _NAMES.match(os.path.basename(parent), name):
            raise IsProtected
        path = parent


def _pin(found: Confined, root: str, path: str) -> None:
    directory = os.path.dirname(path)
    while directory != root and directory not in found.pinned:
        found.pinned.add(directory)
        directory = os.path.dirname(directory)


def _hide_target(found: Confined, root: str, link: str) -> None:
    """Hide the target of a link, because its name in the project may not be covered by a rule."""
    real = os.path.realpath(link)
    if real.startswith(root.rstrip("/") + "/") and os.path.lexists(real):
        status = os.lstat(real)
        found.hidden[real] = (status.st_dev, status.st_ino)
        _pin(found, root, real)


def _walk(root: str, found: Confined) -> Iterator[tuple[os.DirEntry[str], str]]:
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError as error:
            if directory == root:
                raise
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                _restrict_unreadable(directory, root, found)
            continue
        parent = os.path.basename(directory) if directory != root else ""
        for entry in entries:
            if parent == _PRUNED and entry.name != ".bin":
                continue
            yield entry, parent
            is_restricted = entry.path in found.read_only or entry.path in found.hidden
            if not is_restricted and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _restrict_unreadable(directory: str, root: str, found: Confined) -> None:
    """Restrict a directory that can't be listed: programs that know its protected files by name can open them."""
    while directory != root:
        try:
            status = os.lstat(directory)
        except OSError:  # in a directory that can't be searched either, or its path is too long
            directory = os.path.dirname(directory)
        else:
            found.read_only[directory] = (status.st_dev, status.st_ino)
            return
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), root)


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a Python virtual environment."""
    return entry.is_dir(follow_symlinks=False) and os.path.lexists(os.path.join(entry.path, "pyvenv.cfg"))
