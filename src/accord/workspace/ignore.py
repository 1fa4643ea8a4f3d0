"""Ignore rules from `.gitignore` files in the project, in the repository around it, and from `.git/info/exclude`.

This is our own implementation because Git is the specification: a random test compares every pattern with
`git ls-files`, and pathspec 1.1 differs from it (for example, its `[!a]` matches a slash).

The user's global ignore file isn't read, because the results of a tool shouldn't depend on the machine. The rules of a
repository don't apply inside a nested one."""

from __future__ import annotations

import os
import re
import stat
from typing import NamedTuple

from accord.workspace.globs import translate

MAX_FILE_BYTES = 1_000_000


class IgnorePattern(NamedTuple):
    """One line of a .gitignore file."""

    pattern: re.Pattern[str]
    is_negated: bool
    """Whether it starts with `!`, which means that matching paths are not ignored."""
    directories_only: bool


class IgnoreFile(NamedTuple):
    """The patterns of one file, and the directory they apply to."""

    directory: str
    patterns: tuple[IgnorePattern, ...]

    def check(self, path: str, is_directory: bool) -> bool | None:
        """Return whether a path is ignored, or None if no pattern matches. The last matching line wins."""
        prefix = self.directory.rstrip("/") + "/"
        if not path.startswith(prefix):
            return None
        below = path[len(prefix) :]
        for each in reversed(self.patterns):
            if (is_directory or not each.directories_only) and each.pattern.fullmatch(below):
                return not each.is_negated
        return None


class IgnoreRules(NamedTuple):
    """All rules that apply in one directory."""

    files: tuple[IgnoreFile, ...] = ()
    """The ignore files; the innermost one is last."""
    in_repository: bool = False

    def enter(self, directory: str, gitignore: str, exclude: str | None = None) -> IgnoreRules:
        """Return the rules inside a subdirectory, given the text of its .gitignore.

        `exclude` is the text of `.git/info/exclude` at the top of a repository; a nested repository starts over."""
        files = self.files
        if exclude is not None:
            files = (*(() if self.in_repository else files), parse(directory, exclude))
        return IgnoreRules((*files, parse(directory, gitignore)) if gitignore else files, self.in_repository)

    def enter_on_disk(self, directory: str) -> IgnoreRules:
        """Like `enter`, but read the files."""
        is_top = os.path.lexists(os.path.join(directory, ".git"))
        exclude = _read(os.path.join(directory, ".git", "info", "exclude")) if is_top else None
        return self.enter(directory, _read(os.path.join(directory, ".gitignore")), exclude)

    def ignores(self, path: str, is_directory: bool) -> bool:
        """Return whether a path is ignored. The innermost file with a matching pattern decides."""
        for file in reversed(self.files):
            verdict = file.check(path, is_directory)
            if verdict is not None:
                return verdict
        return False


def parse(directory: str, text: str) -> IgnoreFile:
    """Parse the text of a .gitignore file in a directory. Invalid lines are skipped."""
    lines = text.removeprefix("\ufeff").split("\n")
    return IgnoreFile(directory, tuple(found for line in lines if (found := _parse_line(line)) is not None))


def _parse_line(line: str) -> IgnorePattern | None:
    line = line.rstrip("\r")
    if not line or line.startswith("#"):
        return None
    is_negated = line.startswith("!")
    line = line[is_negated:]
    while line.endswith((" ", "\t")) and not line.endswith("\\ "):
        line = line[:-1]
    directories_only = line.endswith("/")
    line = line[:-1] if directories_only else line
    if not line:
        return None
    is_anchored = "/" in line
    body = translate(line.removeprefix("/"))
    try:
        pattern = re.compile(body if is_anchored else f"(?:.*/)?{body}", re.S)
    except re.error:
        return None
    return IgnorePattern(pattern, is_negated, directories_only)


class OuterRules(NamedTuple):
    """The rules of the directories above a root."""

    rules: IgnoreRules
    in_repository: bool
    agrees_with_ripgrep: bool
    """Whether ripgrep, which searches for parent rules in its own way, finds the same rules."""


def rules_above(root: str) -> OuterRules:
    """Return the rules of the repository that contains a root.

    The owner of those directories isn't checked: the rules can only hide files."""
    if os.path.lexists(os.path.join(root, ".git")):
        return OuterRules(IgnoreRules(in_repository=True), True, True)
    parents: list[str] = []
    directory = root
    while (parent := os.path.dirname(directory)) != directory:
        directory = parent
        parents.append(directory)
        if os.path.lexists(os.path.join(directory, ".git")):
            break
    else:
        has_rules = any(os.path.lexists(os.path.join(each, ".gitignore")) for each in parents)
        return OuterRules(IgnoreRules(), False, not has_rules)
    rules = IgnoreRules(in_repository=True)
    top = directory
    for each in reversed(parents):
        if each != top and rules.ignores(each, True):
            return OuterRules(IgnoreRules(), False, False)
        rules = rules.enter_on_disk(each)
    if rules.ignores(root, True):
        # The repository ignores the root itself. Its rules would hide everything in it.
        return OuterRules(IgnoreRules(), False, False)
    return OuterRules(rules, True, True)


def _read(path: str) -> str:
    """Read a file; empty if it isn't one. A FIFO must not hold up the reader, not even while it is opened."""
    try:
        with open(path, "rb", opener=_open) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(MAX_FILE_BYTES).decode(errors="replace")
    except OSError:
        pass
    return ""


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
