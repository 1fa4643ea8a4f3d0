"""The program and the environment for an agent's command.

Agents send `command: "ls", args: ["-la"]`, but also `command: "ls -la"` without arguments. The first runs without a
shell. The second is passed unchanged to a shell if there are no arguments, if no program has exactly that name, and if
it contains a space or a character that is special in a shell. A single word that isn't a program fails: a shell
couldn't run it either.

The policy must decide about the same string: `needs_shell` returns whether a command is a line for a shell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

SHELL_CHARACTERS = frozenset(" \t\r\n|&;<>()$`\\\"'*?[]{}#~=%!^")

PTY_ENVIRONMENT = {"TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat"}
"""Variables for a pseudo-terminal. Pagers are disabled, because there is no user to page."""


def build_argv(command: str, args: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> list[str]:
    """Return the program and its arguments."""
    return [*shell_command(env), command] if needs_shell(command, args, cwd=cwd, env=env) else [command, *args]


def needs_shell(command: str, args: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> bool:
    """Return whether a command is a line for a shell."""
    return not args and not SHELL_CHARACTERS.isdisjoint(command) and not is_program(command, cwd=cwd, env=env)


def is_program(name: str, *, cwd: str, env: Mapping[str, str]) -> bool:
    """Return whether a program has exactly this name, on the PATH or, if the name has a directory, as a file."""
    if "\0" in name:
        return False
    if os.path.dirname(name):
        path = os.path.join(cwd, name)
        return os.path.isfile(path) and os.access(path, os.X_OK)
    return shutil.which(name, path=env.get("PATH")) is not None


def shell_command(env: Mapping[str, str]) -> list[str]:
    """Return the shell command for a line: bash if available, since agents write for it, else the system's shell."""
    if os.name == "nt":
        return [env.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c"]
    return [shutil.which("bash", path=os.defpath) or "/bin/sh", "-c"]


def build_environment(ours: Mapping[str, str] | None, theirs: Mapping[str, str], *, pty: bool) -> dict[str, str]:
    """Return the environment for a command: the client's (None: this process's), overridden by the agent's."""
    base = dict(os.environ if ours is None else ours)
    return harden_git({**base, **(PTY_ENVIRONMENT if pty else {}), **theirs})


def harden_git(env: Mapping[str, str]) -> dict[str, str]:
    """Prevent `git status` from running a program that a repository names. Keeps settings that the user passes this
    way.

    A bare repository is a few plain files, which an agent that may write files can create, and a `.git` file can lead
    to one. Its `core.fsmonitor` is a command line."""
    count = env.get("GIT_CONFIG_COUNT", "0") or "0"
    if not (count.isascii() and count.isdecimal()):
        return dict(env)  # Git would refuse to start
    made = dict(env)
    for number, (key, value) in enumerate(_CAREFUL_GIT.items(), int(count)):
        made[f"GIT_CONFIG_KEY_{number}"], made[f"GIT_CONFIG_VALUE_{number}"] = key, value
    made["GIT_CONFIG_COUNT"] = str(int(count) + len(_CAREFUL_GIT))
    return made


_CAREFUL_GIT = {"safe.bareRepository": "explicit", "core.fsmonitor": "false"}
