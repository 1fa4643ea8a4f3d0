"""The part of the system prompt that describes where the agent works: directories, date, system, Git and files.

It is computed once per session and mentions only the day, so that every request begins with the same bytes."""

from __future__ import annotations

import asyncio
import datetime
import os
import platform
from typing import TYPE_CHECKING

from accord.coder.agents_md import find_repository
from accord.coder.tools.text import count_of, one_line
from accord.errors import AccordError
from accord.process.thread import run_in_thread
from accord.workspace.command import shell_command

if TYPE_CHECKING:
    from accord.coder.models.base import Model
    from accord.coder.session import CoderSession

GIT_SECONDS = 3.0
"""How long Git may take. A user waits for the answer to the first prompt."""
MAX_ENTRIES = 60
_STATUS = ("status", "--porcelain=v1", "-z", "--branch", "--untracked-files=normal", "--no-renames")
"""One entry per changed file: a rename would have two."""
MAX_NAME = 80


async def describe_environment(state: CoderSession, model: Model) -> str:
    """Describe the environment of a session."""
    session = state.session
    lines = [f"Working directory: {session.cwd}"]
    lines += [f"Additional directory: {directory}" for directory in session.additional_directories]
    lines += [
        *await _describe_git(state),
        f"Date: {datetime.date.today().isoformat()}",
        f"System: {_describe_system()}",
        f"Shell: {shell_command(os.environ)[0]}",
        f"Model: {model.name} ({model.id})",
        f"Top-level entries: {await _list_entries(state)}",
    ]
    body = "\n".join(lines)
    return f"# Environment when the session started\n<environment>\n{body}\n</environment>"


def _describe_system() -> str:
    return " ".join(word for word in (platform.system(), platform.release(), platform.machine()) if word)


async def _describe_git(state: CoderSession) -> list[str]:
    """Describe the repository: its root, its branch, and the number of changed files."""
    from accord.coder.tools.project.paths import Found
    from accord.coder.tools.show_changes import Git

    cwd = state.session.cwd
    root = await run_in_thread(find_repository, cwd)
    if root is None:
        return ["Git: not a repository"]
    real = await run_in_thread(os.path.realpath, cwd)
    # `Git` turns off hooks, filters and everything else a repository could run.
    found = Found(path=cwd, kind="directory", real=real, root=cwd, root_real=real)
    git = Git(found, state.session.roots, state.secrets.environment)
    try:
        async with asyncio.timeout(GIT_SECONDS):
            await git.prepare()
            status = await git.lines(*_STATUS)
    except (AccordError, OSError, TimeoutError, ValueError):
        return [f"Git: repository at {root}; its status couldn't be read"]
    heads = [line.removeprefix("## ") for line in status if line.startswith("## ")]
    changed = len(status) - len(heads)
    dirty = (
        f"{count_of(changed, 'uncommitted change')}, made before this session" if changed else "no uncommitted changes"
    )
    return [f"Git: repository at {root}, {_describe_head(heads[0] if heads else '')}, {dirty}"]


def _describe_head(head: str) -> str:
    """Describe Git's line about HEAD: `main...origin/main [ahead 1]`, or a sentence in two special cases."""
    if head.startswith("HEAD (no branch)"):
        return "detached HEAD"
    name = head.removeprefix("No commits yet on ").partition("...")[0]
    return f"branch {one_line(name, MAX_NAME)}" + (" without commits" if head.startswith("No commits yet on ") else "")


async def _list_entries(state: CoderSession) -> str:
    """List the top level of the working directory."""
    try:
        entries = await state.files.disk.list(state.session.cwd)
    except (AccordError, OSError):
        return "unreadable"
    names = [
        one_line(entry.name, MAX_NAME) + ("/" if entry.kind == "directory" else "")
        for entry in entries
        if entry.name != ".git"
    ]
    more = f" and {len(names) - MAX_ENTRIES} more" if len(names) > MAX_ENTRIES else ""
    return (", ".join(names[:MAX_ENTRIES]) or "none") + more
