"""Start a program in a new pseudo-terminal.

To be the *controlling* terminal (for `/dev/tty`, job control, and the signals for Ctrl-C and resizing), the device must
be opened after the session is created and before the program is executed. The keeper does that (see `supervisor`).
Without a keeper, the program runs in a terminal that isn't its controlling terminal."""

from __future__ import annotations

import errno
import os
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence

from accord.errors import LaunchError
from accord.process.child import Child
from accord.process.launch import explain_launch_error, format_command


async def start_on_pty(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    columns: int = 80,
    rows: int = 24,
) -> Child:
    """Start a program with a new terminal as its three streams. Our end is the child's `stdout`, which is writable.

    Raises `LaunchError`."""
    if sys.platform == "win32":
        raise LaunchError(f"cannot start {format_command(argv)} on a terminal: not supported on this system; use pipes")
    whole = dict(os.environ if env is None else env)
    where = None if cwd is None else os.fspath(cwd)
    _check_program(argv, where, whole)
    ours, theirs = os.openpty()
    try:
        resize(ours, columns, rows)
        child = await Child.start(argv, cwd=cwd, env=whole, stdin=theirs, stdout=theirs, stderr=theirs, terminal=True)
    except BaseException as error:
        os.close(ours)
        if isinstance(error, LaunchError) and isinstance(error.__cause__, Exception):
            raise _launch_error(argv, error.__cause__, where, whole) from error.__cause__
        raise
    finally:
        os.close(theirs)
    child.stdout = ours
    return child


def resize(terminal: int, columns: int, rows: int) -> None:
    """Set the size of a terminal; its programs get SIGWINCH if it changes."""
    if sys.platform == "win32":
        raise NotImplementedError
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _check_program(argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
    """Raise `LaunchError` for problems that can be detected before the start."""
    if not argv or not argv[0]:
        raise LaunchError("the command is empty; give a program and its arguments")
    program = argv[0]
    if os.path.dirname(program):
        path: str | None = os.path.join(cwd or "", program)
    else:
        where = env.get("PATH")
        path = shutil.which(program, path=where) or shutil.which(program, mode=os.F_OK, path=where)
    if path is None or not os.path.exists(path) or not os.path.isdir(cwd or os.curdir):
        number = errno.ENOENT
    elif os.path.isdir(path) or not os.access(path, os.X_OK):
        number = errno.EACCES
    else:
        return
    raise _launch_error(argv, OSError(number, os.strerror(number)), cwd, env)


def _launch_error(argv: Sequence[str], error: Exception, cwd: str | None, env: Mapping[str, str]) -> LaunchError:
    return LaunchError(
        f"cannot start {format_command(argv)}: {explain_launch_error(error, argv[0], cwd, env)}",
        command=format_command(argv),
    )
