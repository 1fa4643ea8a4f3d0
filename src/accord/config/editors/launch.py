"""Find commands that an editor can run: editors start in other directories and with another PATH than shells."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from accord.config.command import Resolved
from accord.config.editors.editor import Launch
from accord.errors import LaunchError
from accord.process.python import python

BUILT_IN = "Accord"


def built_in(name: str | None = None, *, full_path: bool = False) -> Launch:
    """Return the built-in agent."""
    return _launch(name or BUILT_IN, [*this_accord(full_path), "agent"])


def launch_of(agent: Resolved, target: str, name: str | None = None, *, full_path: bool = False) -> Launch:
    """Return the launch of an agent. A configured agent is started by name, so that its settings stay in one place; a
    remote one by `accord connect`."""
    if agent.is_remote:
        return _launch(name or agent.name, [*this_accord(full_path), "connect", target])
    if agent.how != "a command line":
        return _launch(name or agent.name, [*this_accord(full_path), "agents", "run", target])
    command, *args = agent.argv
    return _launch(name or Path(agent.name).stem, [startable(command, full_path), *map(_absolute_path, args)])


def this_accord(full_path: bool = False) -> list[str]:
    """Return the command of the running Accord."""
    script = _script()
    if script is None:
        return python("-m", "accord")
    found = shutil.which("accord")
    is_ours = found is not None and os.path.realpath(found) == os.path.realpath(script)
    return [startable("accord", full_path) if is_ours else script]


def startable(program: str, full_path: bool = False) -> str:
    """Return a program's name if every process would find it, otherwise its path."""
    found = shutil.which(program)
    if found is None:
        raise LaunchError(
            f"program {program!r} not found, so an editor couldn't start it", command=program, stage="resolve"
        )
    if os.path.dirname(program) or full_path or _is_in_virtual_environment(found):
        return os.path.abspath(found)
    return program


def _script() -> str | None:
    """Return the script that was called, or the one that belongs to this Python."""
    called = os.path.abspath(sys.argv[0])
    suffix = ".exe" if sys.platform == "win32" else ""
    for path in (called, called + suffix, os.path.join(os.path.dirname(sys.executable), "accord" + suffix)):
        if Path(path).stem == "accord" and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _is_in_virtual_environment(path: str) -> bool:
    """Return whether a program is on the PATH only because of an active virtual environment."""
    homes = [os.environ.get("VIRTUAL_ENV", ""), sys.prefix if sys.prefix != sys.base_prefix else ""]
    return any(home and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(home)) for home in homes)


def _absolute_path(word: str) -> str:
    """Make the path of an existing file absolute."""
    return os.path.abspath(word) if not word.startswith("-") and os.path.isfile(word) else word


def _launch(name: str, words: list[str]) -> Launch:
    name = " ".join(name.split())
    if not name.isprintable() or not name:
        raise LaunchError("an agent's name in an editor must be a line of text", stage="resolve")
    for word in words:
        if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
            raise LaunchError(
                f"{word!a} isn't valid text, so it can't be in an editor's settings",
                command=words[0],
                stage="resolve",
            )
    return Launch(name, words[0], words[1:])
