"""Start a program under supervision, and explain why it couldn't be started.

Starting needs no event loop: the CLI starts the agent first, and loads the modules that talk to it while the agent
loads as well. `Child.of` takes over from there."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, STDOUT
from typing import NamedTuple

from accord.errors import LaunchError
from accord.process.python import environment_for
from accord.process.supervision import FamilyMarker, Program, SupervisedProcess, can_supervise, spawn
from accord.process.tree import KILL_SECONDS, Family, end_family


class UnsupervisedProcess(subprocess.Popen[bytes]):
    """A child without a supervisor (Windows, frozen programs), with the same methods as `SupervisedProcess`."""

    token = ""
    has_lost_keeper: bool = os.name == "posix"
    """True: there is no keeper, so this process has to end the family."""

    @property
    def has_ended(self) -> bool:
        return self.returncode is not None

    def read(self, timeout: float | None = 0.0) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout)

    def wait_over(self, timeout: float) -> None:
        self.wait(timeout)

    def end(self, term_grace: float) -> None:
        self.terminate()

    def kill(self) -> None:
        if sys.platform != "win32":
            family = Family(self.token)
            if self.returncode is None:
                family.set_root(self.pid)
            family.signal(signal.SIGKILL)
        super().kill()

    def close(self) -> None:
        pass


def launch(program: Program) -> SupervisedProcess | UnsupervisedProcess:
    """Start a program, under the supervisor if possible. Raises `LaunchError`."""
    argv = program.argv
    if not argv or not argv[0]:
        raise LaunchError("can't start the agent: the command is empty; give a program and its arguments")
    env = environment_for(argv, program.env, program.cwd)
    try:
        if can_supervise():
            return spawn(program._replace(env=env))
        stdin, stdout, stderr = program.streams
        process = UnsupervisedProcess(
            list(argv), cwd=program.cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )
        process.token = program.token
        return process
    except (OSError, ValueError) as error:
        command = format_command(argv)
        where = None if program.cwd is None else os.fspath(program.cwd)
        reason = explain_launch_error(error, argv[0], where, env)
        raise LaunchError(f"cannot start {command}: {reason}", command=command) from error.with_traceback(None)


def format_command(argv: Sequence[str]) -> str:
    """Format a command for messages, in backquotes."""
    return f"`{shlex.join(argv)}`"


def explain_launch_error(error: Exception, program: str, cwd: str | None, env: Mapping[str, str]) -> str:
    """Describe the problem with a command, and its solution."""
    if not isinstance(error, OSError):
        return f"{error}; check the command and its environment for invalid characters"
    if cwd is not None and not os.path.isdir(cwd):
        state = "is not a directory" if os.path.exists(cwd) else "does not exist"
        return f"the working directory {cwd} {state}; create it, or choose another one"
    if os.path.dirname(program):
        path: str | None = os.path.join(cwd or "", program)
    else:
        path = shutil.which(program, mode=os.F_OK, path=env.get("PATH"))
    if error.errno == errno.ENOENT:
        if path is None or not os.path.exists(path):
            if os.path.dirname(program):
                return f"{path} doesn't exist; check the path"
            return f"{program!r} isn't on the PATH; install it, or give its full path"
        return f"{path} exists, but {_interpreter(path)} doesn't; install that first"
    if error.errno == errno.EACCES:
        if path is None:  # a directory on the PATH isn't readable, and the others don't have it
            return f"{program!r} isn't on the PATH, or you may not run it; install it, or give its full path"
        if os.path.isdir(path):
            return f"{path} is a directory; give the program in it"
        return f"{path} isn't executable; run chmod +x on it, or start it with its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"{path or program} is neither a program nor a script with a #! line; start it with its interpreter"
    return error.strerror or str(error)


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return "its interpreter"
    if not first.startswith(b"#!"):
        return "its dynamic loader"
    return f"its interpreter {first[2:].decode(errors='replace').strip().partition(' ')[0]}"


class StartedProgram(NamedTuple):
    """A running program that no `Child` has taken over yet."""

    process: SupervisedProcess | UnsupervisedProcess
    marker: FamilyMarker
    argv: list[str]
    pipes: dict[str, int]
    """Our ends of its pipes, by stream name."""

    def abandon(self) -> None:
        """Kill the program and all its descendants."""
        for fd in self.pipes.values():
            with suppress(OSError):
                os.close(fd)
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait_over(2 * KILL_SECONDS)
        if self.process.has_lost_keeper:
            family = Family(self.marker.token)
            family.set_root(self.process.pid)
            for pause in end_family(family, None):
                time.sleep(pause)
        self.process.close()


def start(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = PIPE,
    stdout: int | None = PIPE,
    stderr: int | None = PIPE,
    terminal: bool = False,
) -> StartedProgram:
    """Start a program. `env` is its whole environment (None: ours). Streams are as in `subprocess`.

    With `terminal`, its standard input becomes its controlling terminal. Raises `LaunchError`."""
    marker = FamilyMarker()
    theirs: list[int] = []
    ours: dict[str, int] = {}
    streams: list[int] = []
    try:
        for number, (name, stream) in enumerate({"stdin": stdin, "stdout": stdout, "stderr": stderr}.items()):
            if stream == PIPE:
                reading, writing = os.pipe()
                stream, ours[name] = (reading, writing) if name == "stdin" else (writing, reading)
                theirs.append(stream)
            elif stream == STDOUT:
                stream = streams[1]
            elif stream == DEVNULL or (stream is None and not _is_open(number)):
                stream = os.open(os.devnull, os.O_RDWR)
                theirs.append(stream)
            streams.append(number if stream is None else stream)
        # A program without a pipe for standard input can't detect our end, so it gets no time to exit by itself.
        exit_grace = None if stdin == PIPE else 0.0
        program = Program(argv, cwd, marker.environment(env), marker.token, streams, terminal, exit_grace)
        process = launch(program)
    except BaseException:
        for fd in ours.values():
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    return StartedProgram(process, marker, list(argv), ours)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
