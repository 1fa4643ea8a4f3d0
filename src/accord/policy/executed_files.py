"""Files of a project that are executed because of their place, whatever their name.

These are programs in a directory of the PATH, and what Git's configuration names (`core.hooksPath`, included files)."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator

_GIT_PATH = re.compile(r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?(hookspath|path)[ \t]*=[ \t]*(.*)", re.IGNORECASE | re.MULTILINE)
"""A variable, perhaps on the line of its section. Not `\\s`: a file of empty lines would take quadratic time."""
_GIT_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"?|([^"#;\\]|\\.)')
"""The pieces of a value: a part in quotes, or a character."""
MAX_CONFIG_CHARS = 1_000_000


def find_executed(directory: str) -> list[str]:
    """Return the paths of such files and directories inside a directory. They may not exist yet.

    A link is returned as well as what it leads to."""
    base = os.path.realpath(directory)
    found = [
        *_path_places(os.environ.get("PATH", "")),
        *(place for path in _git_files(base) for place in _places(path)),
    ]
    inside = base.rstrip(os.sep) + os.sep
    return list(dict.fromkeys(place for place in found if place.startswith(inside)))


@functools.lru_cache(maxsize=4)  # each session has a policy
def _path_places(path: str) -> list[str]:
    return [place for entry in path.split(os.pathsep) if os.path.isabs(entry) for place in _places(entry)]


def _places(path: str) -> tuple[str, str]:
    """Return where a path is, and where it leads to if it is a link."""
    parent, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(parent), name), os.path.realpath(path)


def _git_files(directory: str) -> Iterator[str]:
    """Yield the hooks and included files of the repository that contains a directory."""
    top = directory
    while not os.path.lexists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            return
        top = os.path.dirname(top)
    git = _git_directory(os.path.join(top, ".git"))
    common = _common_directory(git)
    yield os.path.join(common, "hooks")
    own = (os.path.join(common, "config"), os.path.join(git, "config.worktree"))
    for config in (*own, *_user_configs()):
        for key, text in _GIT_PATH.findall(_read(config).replace("\\\n", "")):
            # Hooks are relative to the work tree, included files to the file that names them.
            base = top if key.casefold() == "hookspath" else os.path.dirname(config)
            if value := _read_value(text):
                yield os.path.join(base, os.path.expanduser(value))


def _read_value(text: str) -> str:
    """Return the value of a variable in Git's configuration: parts of it may be in quotes, and a comment may follow."""
    value = ""
    at = 0
    while (match := _GIT_VALUE.match(text, at)) is not None:
        value += match[1] if match[1] is not None else match[2]
        at = match.end()
    return re.sub(r"\\(.)", r"\1", value).strip()


def _user_configs() -> tuple[str, str]:
    directory = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.expanduser("~/.gitconfig"), os.path.join(directory, "git", "config")


def _git_directory(path: str) -> str:
    """Return the directory that `.git` is, or names."""
    if os.path.isdir(path):
        return path
    name = _read(path).partition("gitdir:")[2].strip()
    return os.path.join(os.path.dirname(path), name) if name else path


def _common_directory(git: str) -> str:
    """Return the directory that the work trees of a repository share."""
    name = _read(os.path.join(git, "commondir")).strip()
    return os.path.join(git, name) if name else git


def _read(path: str) -> str:
    """Read a file; empty if it isn't one or can't be read."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(MAX_CONFIG_CHARS)
    except (OSError, ValueError):
        return ""
