"""What .gitignore files leave out: those in the project, those of the repository above it, and `.git/info/exclude`.

The user's own, global list is not read: what a tool finds should not depend on whose machine it is. Rules of an outer
repository end at the door of an inner one."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from accord.coder.tools.globs import regex

MAX_RULES_BYTES = 1_000_000


class Rule(NamedTuple):
    """One line of a .gitignore file."""

    pattern: re.Pattern[str]
    keeps: bool
    """Whether what it matches is not left out after all."""
    only_folders: bool


class Rules(NamedTuple):
    """The lines of one file, and the directory that they are about."""

    folder: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is left out; None when nothing is said of it. Of several lines the last one counts."""
        prefix = self.folder.rstrip("/") + "/"
        if not path.startswith(prefix):
            return None
        below = path[len(prefix) :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.only_folders) and rule.pattern.fullmatch(below):
                return not rule.keeps
        return None


class Ignoring(NamedTuple):
    """Everything that is known about what is left out, as seen from one directory. The innermost rules come last."""

    levels: tuple[Rules, ...] = ()

    in_repository: bool = False

    def entered(self, folder: str, gitignore: str, exclude: str | None = None) -> Ignoring:
        """As seen from a directory further in. `exclude` is given at the top of a repository; in an outer one it begins
        anew."""
        levels = self.levels
        if exclude is not None:
            levels = (*(() if self.in_repository else levels), read(folder, exclude))
        return Ignoring((*levels, read(folder, gitignore)) if gitignore else levels, self.in_repository)

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether a path is left out."""
        for level in reversed(self.levels):
            verdict = level.verdict(path, is_folder)
            if verdict is not None:
                return verdict
        return False


def read(folder: str, text: str) -> Rules:
    """Reads a .gitignore file that lies in a directory."""
    rules = (_rule(line) for line in text.removeprefix("\ufeff").split("\n"))
    return Rules(folder, tuple(rule for rule in rules if rule is not None))


def _rule(line: str) -> Rule | None:
    line = line.rstrip("\r")
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line[keeps:]
    while line.endswith((" ", "\t")) and not line.endswith("\\ "):
        line = line[:-1]
    only_folders = line.endswith("/")
    line = line[:-1] if only_folders else line
    if not line:
        return None
    anchored = "/" in line
    body = regex(line.removeprefix("/"))
    try:
        pattern = re.compile(body if anchored else f"(?:.*/)?{body}", re.S)
    except re.error:
        return None
    return Rule(pattern, keeps, only_folders)


class Above(NamedTuple):
    """The rules of the directories above a root."""

    ignoring: Ignoring
    in_repository: bool
    is_plain: bool
    """Whether ripgrep, which climbs in its own way, sees the same."""


def above(root: str) -> Above:
    """The rules that the repository around a root has for it. They are read whoever owns the directories above: what is
    learnt from them is only what not to show."""
    if os.path.lexists(os.path.join(root, ".git")):
        return Above(Ignoring(in_repository=True), True, True)
    folders: list[str] = []
    folder = root
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        folders.append(folder)
        if os.path.lexists(os.path.join(folder, ".git")):
            break
    else:
        return Above(Ignoring(), False, not any(os.path.lexists(os.path.join(each, ".gitignore")) for each in folders))
    ignoring = Ignoring(in_repository=True)
    for each in reversed(folders):
        exclude = _text(os.path.join(each, ".git", "info", "exclude")) if each == folder else None
        inside = ignoring.entered(each, _text(os.path.join(each, ".gitignore")), exclude)
        if each != folder and ignoring.ignores(each, True):
            return Above(Ignoring(), False, False)
        ignoring = inside
    if ignoring.ignores(root, True):
        # The repository wants nothing to do with this directory; in it, its rules would leave nothing over.
        return Above(Ignoring(), False, False)
    return Above(ignoring, True, True)


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_RULES_BYTES).decode(errors="replace")
    except OSError:
        return ""
