"""A command that an editor can start: editors are started from other places and with another PATH than shells."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from accord.config.command import Resolved
from accord.config.editors.editor import Launch
from accord.errors import LaunchError

BUILT_IN = "Accord"


def built_in(name: str | None = None, *, full_path: bool = False) -> Launch:
    """The built-in agent."""
    return _launch(name or BUILT_IN, [*this_accord(full_path), "agent"])


def launch_of(agent: Resolved, target: str, name: str | None = None, *, full_path: bool = False) -> Launch:
    """Any agent. One that has a name is started by it: its environment and its version stay in one place, ours."""
    if agent.how != "a command line":
        return _launch(name or agent.name, [*this_accord(full_path), "agents", "run", target])
    command, *args = agent.argv
    return _launch(name or Path(agent.name).stem, [startable(command, full_path), *map(_whole_path, args)])


def this_accord(full_path: bool = False) -> list[str]:
    """The words that start the accord that is running now."""
    script = _script()
    if script is None:
        return [sys.executable, "-m", "accord"]
    found = shutil.which("accord")
    is_ours = found is not None and os.path.realpath(found) == os.path.realpath(script)
    return [startable("accord", full_path) if is_ours else script]


def startable(program: str, full_path: bool = False) -> str:
    """A program by its name, if any process would find it so; by its path otherwise."""
    found = shutil.which(program)
    if found is None:
        raise LaunchError(
            f"there is no program {program!r} here, so no editor could start it", command=program, stage="resolve"
        )
    if os.path.dirname(program) or full_path or _is_of_environment(found):
        return os.path.abspath(found)
    return program


def _script() -> str | None:
    """The file that was called, or the one that belongs to this Python."""
    called = os.path.abspath(sys.argv[0])
    suffix = ".exe" if sys.platform == "win32" else ""
    for path in (called, called + suffix, os.path.join(os.path.dirname(sys.executable), "accord" + suffix)):
        if Path(path).stem == "accord" and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _is_of_environment(path: str) -> bool:
    """Whether a program is on the PATH only because a virtual environment is active here."""
    homes = [os.environ.get("VIRTUAL_ENV", ""), sys.prefix if sys.prefix != sys.base_prefix else ""]
    return any(home and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(home)) for home in homes)


def _whole_path(word: str) -> str:
    """A file that is named from here, named from everywhere."""
    return os.path.abspath(word) if not word.startswith("-") and os.path.isfile(word) else word


def _launch(name: str, words: list[str]) -> Launch:
    name = " ".join(name.split())
    if not name.isprintable() or not name:
        raise LaunchError("an agent's name in an editor is a line of text", stage="resolve")
    for word in words:
        if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
            raise LaunchError(
                f"{word!a} is no text, so it cannot stand in an editor's settings",
                command=words[0],
                stage="resolve",
            )
    return Launch(name, words[0], words[1:])
