"""Starting a program, and saying in words why it could not be started."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from accord.errors import LaunchError


def launch(
    argv: Sequence[str], *, cwd: str | os.PathLike[str] | None, env: Mapping[str, str], **streams: Any
) -> subprocess.Popen[bytes]:
    """Starts a program in a session and process group of its own. Raises `LaunchError`."""
    if not argv or not argv[0]:
        raise LaunchError("cannot start an agent: the command is empty; give a program and its arguments")
    try:
        # `start_new_session` keeps to vfork, which is quick whatever the size of this process; `preexec_fn` does not.
        return subprocess.Popen(list(argv), cwd=cwd, env=env, start_new_session=True, **streams)
    except (OSError, ValueError) as error:
        command = spoken(argv)
        where = None if cwd is None else os.fspath(cwd)
        raise LaunchError(f"cannot start {command}: {explain(error, argv[0], where, env)}", command=command) from error


def spoken(argv: Sequence[str]) -> str:
    """A command as people write it, in backquotes."""
    return f"`{shlex.join(argv)}`"


def explain(error: Exception, program: str, cwd: str | None, env: Mapping[str, str]) -> str:
    """What is wrong, and what to do."""
    if not isinstance(error, OSError):
        return f"{error}; check the command and its environment for characters that no program can be given"
    if cwd is not None and not os.path.isdir(cwd):
        state = "is not a directory" if os.path.exists(cwd) else "does not exist"
        return f"the working directory {cwd} {state}; create it, or choose another"
    if os.path.dirname(program):
        path: str | None = os.path.join(cwd or "", program)
    else:
        path = shutil.which(program, mode=os.F_OK, path=env.get("PATH"))
    if error.errno == errno.ENOENT:
        if path is None or not os.path.exists(path):
            if os.path.dirname(program):
                return f"there is no file {path}; check the path"
            return f"there is no command {program!r} on the PATH; install it, or give its full path"
        return f"{path} is there, but {_interpreter(path)} that it names in its first line is not; install that first"
    if error.errno == errno.EACCES:
        if path is None:  # a folder of the PATH may not be looked into, and none of the others has it
            return f"there is no command {program!r} on the PATH that you may start; install it, or give its full path"
        if os.path.isdir(path):
            return f"{path} is a directory; name the program in it"
        return f"{path} is not executable; run chmod +x on it, or start it through its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"{path or program} is neither a program nor a script with a #! line; start it through its interpreter"
    return error.strerror or str(error)


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return "the interpreter"
    if not first.startswith(b"#!"):
        return "the loader"
    return first[2:].decode(errors="replace").strip().partition(" ")[0]
