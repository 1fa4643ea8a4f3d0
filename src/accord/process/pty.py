"""Starting a program on a terminal device of its own.

A program that is to have the device as *its* terminal (for `/dev/tty`, job control, and the signals of Ctrl-C and of a
change of size) must take it after its session has begun and before it is itself. `subprocess` offers nothing between
the two but `preexec_fn`, which is slow and unsafe among threads. So a bare interpreter goes first: it takes the
terminal and becomes the program, which costs 15 ms of the command's time and none of ours. What is surely wrong with a
command is found before; the rest the interpreter says on the terminal, ending with 126 or 127, as shells do."""

from __future__ import annotations

import errno
import os
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence

from accord.errors import LaunchError
from accord.process.child import Child
from accord.process.guard import can_supervise
from accord.process.launch import explain, spoken

# Python ignores two signals and may choose a locale; the program must find both as they were. The keys of its own
# terminal must work, also where we run behind `nohup` or in the background of a script, which ignore their signals.
_LEAD = """\
import errno, fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for name in ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.environ.pop(sys.argv[1], None)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    os.write(2, os.fsencode(f"{sys.argv[2]}: {error.strerror}\\n"))
    os._exit(127 if error.errno == errno.ENOENT else 126)
"""


async def start_on_pty(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    columns: int = 80,
    rows: int = 24,
) -> Child:
    """Starts a program whose three streams are a new terminal. Our end is the child's `stdout`; it can be written to.

    Raises `LaunchError`."""
    if os.name != "posix":
        raise LaunchError(f"cannot start {spoken(argv)} on a terminal: this system has none; start it on pipes")
    whole = dict(os.environ if env is None else env)
    where = None if cwd is None else os.fspath(cwd)
    _check(argv, where, whole)
    ours, theirs = os.openpty()
    try:
        resize(ours, columns, rows)
        child = await Child.start(_leading(argv, whole), cwd=cwd, env=whole, stdin=theirs, stdout=theirs, stderr=theirs)
    except BaseException as error:
        os.close(ours)
        if isinstance(error, LaunchError) and isinstance(error.__cause__, Exception):
            raise _refused(argv, error.__cause__, where, whole) from error.__cause__  # ours, not the interpreter's
        raise
    finally:
        os.close(theirs)
    child.argv = list(argv)
    child.stdout = ours
    return child


def resize(terminal: int, columns: int, rows: int) -> None:
    """Says how wide and high a terminal is; its programs are told when that changes."""
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _leading(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    if not can_supervise():  # no interpreter to go first: a terminal, but not its own
        return list(argv)
    return [sys.executable, "-I", "-S", "-c", _LEAD, "" if "LC_CTYPE" in env else "LC_CTYPE", *argv]


def _check(argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
    """Finds what is surely wrong before anything is started."""
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
    raise _refused(argv, OSError(number, os.strerror(number)), cwd, env)


def _refused(argv: Sequence[str], error: Exception, cwd: str | None, env: Mapping[str, str]) -> LaunchError:
    return LaunchError(f"cannot start {spoken(argv)}: {explain(error, argv[0], cwd, env)}", command=spoken(argv))
