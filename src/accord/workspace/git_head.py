"""Read the checked-out branch of a directory's Git repository without running Git.

Git would read the repository's configuration, which can name programs to run."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_MAX_BYTES = 4096
_MAX_NAME = 100
_BRANCH = re.compile(r"ref: refs/heads/(\S+)\s*")
_COMMIT = re.compile(r"([0-9a-f]{7})[0-9a-f]{33,57}\s*")


def read_branch(directory: Path) -> str:
    """Return the name of the branch, the start of a commit's id if it is detached, or nothing outside a repository."""
    try:
        real = directory.resolve()
        for parent in (real, *real.parents):
            git = parent / ".git"
            if git.is_dir():
                return _parse(_read(git / "HEAD"))
            if git.is_file():  # a worktree or a submodule
                target = _read(git).removeprefix("gitdir:").strip()
                return _parse(_read(parent / target / "HEAD"))
    except (OSError, ValueError, RuntimeError):
        pass
    return ""


def _read(path: Path) -> str:
    """Read the start of a regular file. A pipe or device in a hostile repository must not block."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        is_regular = stat.S_ISREG(os.fstat(file).st_mode)
        return os.read(file, _MAX_BYTES).decode("utf-8", "replace") if is_regular else ""
    finally:
        os.close(file)


def _parse(head: str) -> str:
    if (branch := _BRANCH.fullmatch(head)) is not None:
        # Git allows names of any length, and Unicode control characters, which affect terminals.
        name = branch[1] if branch[1].isprintable() else ""
        return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
    commit = _COMMIT.fullmatch(head)
    return commit[1] if commit is not None else ""
