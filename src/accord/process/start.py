"""A program from its start to its first keeper: started, guarded, its pipes in our hands, and nothing else yet.

Starting needs no event loop, so whoever is in a hurry starts a program first and loads what it takes to talk to it
while the program loads too. `Child.of` takes it from there."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import PIPE
from typing import NamedTuple

from accord.errors import LaunchError
from accord.process.guard import Ward
from accord.process.launch import launch
from accord.process.tree import KILL_SECONDS, Family


class Started(NamedTuple):
    """A running program that nobody looks after yet."""

    process: subprocess.Popen[bytes]
    ward: Ward
    argv: list[str]
    pipes: dict[str, int]
    """Our ends of its streams, by name."""

    def abandon(self) -> None:
        """Ends it and everyone it started at once: nobody will look after it."""
        for fd in self.pipes.values():
            with suppress(OSError):
                os.close(fd)
        if os.name == "posix":
            _kill(self.ward)
        else:
            self.process.kill()
        self.process.wait()
        self.ward.over()


def start(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = PIPE,
    stdout: int | None = PIPE,
    stderr: int | None = PIPE,
) -> Started:
    """Starts a program. `env` is its whole environment (None: ours). Streams are as in `subprocess`.

    Raises `LaunchError`."""
    ward = Ward()
    theirs: list[int] = []
    ours: dict[str, int] = {}

    def piped(name: str, stream: int | None) -> int | None:
        if stream != PIPE:
            return stream
        reading, writing = os.pipe()
        theirs.append(reading if name == "stdin" else writing)
        ours[name] = writing if name == "stdin" else reading
        return theirs[-1]

    try:
        process = launch(
            argv,
            cwd=cwd,
            env=ward.environment(env),
            stdin=piped("stdin", stdin),
            stdout=piped("stdout", stdout),
            stderr=piped("stderr", stderr),
        )
    except BaseException as error:
        if not isinstance(error, LaunchError) and os.name == "posix":
            _kill(ward)  # Ctrl-C may come when it has begun to run and we do not know it yet
        ward.over()
        for fd in ours.values():
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    ward.started(process.pid)
    return Started(process, ward, list(argv), ours)


def _kill(ward: Ward) -> None:
    """Ends whoever carries the mark."""
    family = Family(ward.token)
    if ward.pid is not None:
        family.rooted(ward.pid)
    until = time.monotonic() + KILL_SECONDS
    family.signal(signal.SIGKILL)
    while family.remain() and time.monotonic() < until:  # one that was just being started was not seen before
        time.sleep(0.002)
        family.signal(signal.SIGKILL)
