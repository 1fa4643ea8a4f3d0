"""Start our own Python programs without importing anything from the directory they run in.

`python -m` puts the working directory on `sys.path`, and a relative `PYTHONPATH` does the same, so a `click.py` in a
project would run before any permission request. Our programs start with `-P` and without those entries. `restore` puts
the removed values back before the built-in agent runs commands for the user."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

ORIGINAL = "ACCORD_ORIGINAL_"
"""Prefix of the variables that hold the original values of those that `safe_environment` changed."""

_PATH_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX")
"""Variables that control where modules, `.pth` files and compiled code are loaded from. (PYTHONSTARTUP is only for
interactive use.)"""


def python(*args: str) -> list[str]:
    """Return the command for this interpreter without the working directory on `sys.path`."""
    return [sys.executable, "-P", *args]


def environment_for(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | os.PathLike[str] | None
) -> Mapping[str, str]:
    """Return the environment to start a command with: a safe one for our own Python, the given one for others."""
    return safe_environment(env, cwd) if list(argv[:2]) == python() else env


def safe_environment(env: Mapping[str, str], *directories: str | os.PathLike[str] | None) -> dict[str, str]:
    """Remove entries that are relative or inside one of the directories from Python's search path variables.

    None stands for the working directory."""
    projects = [os.path.realpath(directory or os.curdir) for directory in directories]
    safe = dict(env)
    for name in _PATH_VARIABLES:
        entries = env[name].split(os.pathsep) if name in env else []
        safe_entries = [entry for entry in entries if all(_is_safe(entry, project) for project in projects)]
        if safe_entries != entries:
            safe[ORIGINAL + name] = env[name]
            del safe[name]
            if safe_entries:
                safe[name] = os.pathsep.join(safe_entries)
    return safe


def restore() -> None:
    """Restore the user's environment in this process, for the commands that it starts."""
    for name in _PATH_VARIABLES:
        if (value := os.environ.pop(ORIGINAL + name, None)) is not None:
            os.environ[name] = value


def _is_safe(entry: str, project: str) -> bool:
    if not os.path.isabs(entry):
        return False
    place = os.path.realpath(entry)
    if place == _SOURCE_DIRECTORY:  # our own installation
        return True
    try:
        return os.path.commonpath([place, project]) != project
    except ValueError:  # on another drive of Windows
        return True


_SOURCE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
