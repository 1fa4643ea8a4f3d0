"""Which program an agent's command means, and the environment it gets.

Agents send `command: "ls", args: ["-la"]` and also `command: "ls -la"` with no arguments. The first is run as it
stands, never by a shell. The second goes to a shell, as one string that nobody has changed, when three things are so:
there are no arguments, no program has exactly that name, and it has a space or a character that means something to a
shell. A plain word that names no program is not found; a shell could not do better.

Whoever decides whether a command may run judges the same string: `by_shell` says whether it is a line for a shell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

SHELL_CHARACTERS = frozenset(" \t\r\n|&;<>()$`\\\"'*?[]{}#~=%!^")

PTY_ENVIRONMENT = {"TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat"}
"""What a terminal device brings along. Nobody is there to turn the pages of a pager."""


def argv(command: str, args: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> list[str]:
    """The program and its arguments."""
    return [*shell(env), command] if by_shell(command, args, cwd=cwd, env=env) else [command, *args]


def by_shell(command: str, args: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> bool:
    """Whether a command is a line for a shell."""
    return not args and not SHELL_CHARACTERS.isdisjoint(command) and not is_program(command, cwd=cwd, env=env)


def is_program(name: str, *, cwd: str, env: Mapping[str, str]) -> bool:
    """Whether there is a program of exactly this name: on the PATH, or a file if the name has a directory."""
    if "\0" in name:
        return False
    if os.path.dirname(name):
        path = os.path.join(cwd, name)
        return os.path.isfile(path) and os.access(path, os.X_OK)
    return shutil.which(name, path=env.get("PATH")) is not None


def shell(env: Mapping[str, str]) -> list[str]:
    """The shell for lines: bash where there is one, since that is what agents write for, else the system's own."""
    if os.name == "nt":
        return [env.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c"]
    return [shutil.which("bash", path=os.defpath) or "/bin/sh", "-c"]


def environment(ours: Mapping[str, str] | None, theirs: Mapping[str, str], *, pty: bool) -> dict[str, str]:
    """The whole environment: the client's own (None: this process's), under what the agent asks for."""
    base = dict(os.environ if ours is None else ours)
    return {**base, **(PTY_ENVIRONMENT if pty else {}), **theirs}
