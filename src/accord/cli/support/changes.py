"""The changes in the working tree since the last commit, as a Git patch, for the terminal client."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from accord.model.tool import Diff
from accord.process.thread import run_in_thread

MAX_NEW_FILES = 100
MAX_NEW_BYTES = 200_000
"""Untracked files are shown up to this number, and only if they aren't larger."""


async def read_patch(cwd: Path) -> str:
    """Return the patch, followed by untracked files. Raises `AccordError` outside a Git repository."""
    from accord.coder.tools.project.paths import Found
    from accord.coder.tools.show_changes import Git

    path, real = str(cwd), os.path.realpath(cwd)  # noqa: ASYNC240  # the same disk as everything that follows
    # `Git` turns off hooks, filters and everything else a repository could run.
    git = Git(Found(path=path, kind="directory", real=real, root=path, root_real=real), [path], os.environ)
    await git.prepare()
    patch = await git.diff([])
    untracked = await git.lines("ls-files", "--others", "--exclude-standard", "-z", only=True)
    # Named relative to the directory in which Git runs, which is the top of the repository or this directory.
    new = await run_in_thread(_read_new, real, untracked[:MAX_NEW_FILES])
    return "\n".join(filter(None, [patch.rstrip("\n"), new]))


def _read_new(directory: str, names: list[str]) -> str:
    patches = []
    for name in names:
        text = _read_text(os.path.join(directory, name))
        if text is not None:
            patches.append(Diff.of(name, None, text).patch)
    return "\n".join(patches)


def _read_text(path: str) -> str | None:
    """Read a regular text file that isn't too large."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_NEW_BYTES:
            return None
        data = opened.read(MAX_NEW_BYTES)
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
