"""Detect the changes of commands in the directories of a session, for checkpoints.

The snapshots of a directory are in `<project's checkpoints>/shadow/<directory>`, which all sessions of the project
share. A directory inside another one is part of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Sequence
from typing import NamedTuple

from accord.workspace.changes import State
from accord.workspace.paths import quote_path
from accord.workspace.shadow_repository import MAX_FILE_BYTES, NotCovered, ShadowRepository, TreeSnapshot

CLOCK_SECONDS = 1.0
"""How far the clock of a file system may be from ours."""
MAX_NAMED = 5
LEFT_OUT = f"ignored files and files above {MAX_FILE_BYTES // 1_000_000} MB"


class CommandChange(NamedTuple):
    """A file that commands changed."""

    path: str
    before: State
    after: State
    made_directories: tuple[str, ...]
    """Directories of the file that had no files before."""
    is_edited_before: bool
    """Whether the agent had edited it before the first command, so that its earlier state is already saved."""


class Period(NamedTuple):
    """A time in which commands ran, in nanoseconds."""

    start: int
    end: int

    def includes(self, time: int) -> bool:
        return self.start - CLOCK_SECONDS * 1e9 <= time <= self.end + CLOCK_SECONDS * 1e9


class WorkTrees:
    """Snapshots of all directories of a session, one before and one after its commands. Blocking."""

    def __init__(self, roots: Sequence[str], checkpoints: str) -> None:
        self._roots = [root for root in roots if not any(_is_below(root, other) for other in roots if other != root)]
        self._parent = os.path.join(checkpoints, "shadow")
        self._before: dict[str, tuple[ShadowRepository, TreeSnapshot]] = {}
        self._edited: frozenset[str] = frozenset()
        self._failed: dict[str, str] = {}
        self._pruned = False
        self.is_open: bool = False
        """Whether commands may be running: `begin` was called, but `finish` wasn't."""

    def begin(self, edited: frozenset[str]) -> str:
        """Take the first snapshots; `edited` are the files that are already saved. Returns a note about uncovered
        files."""
        self._before.clear()
        self._edited = edited
        self.is_open = True
        for root in self._roots:
            if root in self._failed:  # so that the user doesn't wait each time
                continue
            name = hashlib.sha256(os.path.realpath(root).encode(errors="surrogateescape")).hexdigest()[:16]
            shadow = ShadowRepository(root, os.path.join(self._parent, name), roots=self._roots)
            try:
                self._before[root] = shadow, shadow.take()
            except NotCovered as error:
                self._failed[root] = str(error)
        return self._describe()

    def finish(self, ran: Sequence[Period], edited: Container[str]) -> tuple[list[CommandChange], str]:
        """Take the second snapshots. Returns the changes in between, and what isn't covered.

        A file that was last changed when no command `ran` is somebody else's, unless the agent has `edited` it."""
        self.is_open = False
        others: list[str] = []
        changes: list[CommandChange] = []
        for root, (shadow, before) in list(self._before.items()):
            try:
                found = shadow.compare(before, shadow.take())
            except NotCovered as error:
                self._failed[root] = str(error)
                continue
            existing = {os.path.dirname(each.path) for each in found if each.before.kind != "absent"}
            for each in found:
                path = os.path.join(root, each.path)
                if path not in edited and not _was_changed_in(path, ran):
                    others.append(path)
                    continue
                made = () if each.before.kind != "absent" else _parents(root, each.path, existing)
                changes.append(CommandChange(path, each.before, each.after, made, path in self._edited))
            if not self._pruned:
                shadow.prune()
        self._pruned = True
        notes = self._describe()
        if others:
            more = f" and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
            names = ", ".join(quote_path(path) for path in others[:MAX_NAMED])
            notes += f" Left alone, because no command was running when they were last changed: {names}{more}."
        self._before.clear()
        return changes, notes

    def _describe(self) -> str:
        reasons = "; ".join(dict.fromkeys(self._failed.values()))
        if reasons:
            return f"Changes made by commands are not undone: {reasons}."
        more = dict.fromkeys(each for shadow, _ in self._before.values() for each in shadow.left_out)
        more = {each: None for each in more if not each.startswith("files above")}
        return f"Not covered: {', '.join([LEFT_OUT, *more])}."


def _was_changed_in(path: str, ran: Sequence[Period]) -> bool:
    """Return whether a file was last changed when commands ran, as far as its status tells."""
    try:
        changed = os.lstat(path).st_ctime_ns  # which programs can't set
    except OSError:  # deleted
        return True
    return any(period.includes(changed) for period in ran)


def _parents(root: str, path: str, existing: set[str]) -> tuple[str, ...]:
    """Return the directories above a new file, outermost first. An empty one is removed with the file."""
    names = path.split("/")[:-1]
    found = ["/".join(names[: end + 1]) for end in range(len(names))]
    return tuple(os.path.join(root, each) for each in found if each not in existing)


def _is_below(path: str, other: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(other).rstrip(os.sep) + os.sep)
