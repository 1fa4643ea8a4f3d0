"""Run a helper program to completion, such as an installer or a login shell. Never leaves processes behind."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accord.process.launch import UnsupervisedProcess, start
from accord.process.supervision import SupervisedProcess

_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
_TICK_SECONDS = 0.25


class Finished(NamedTuple):
    """The exit status and output of a program."""

    status: int | None
    """The exit status; None if it timed out."""
    output: bytes
    complaints: str


def run(
    argv: Sequence[str],
    *,
    timeout: float,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    tick: Callable[[], None] | None = None,
) -> Finished:
    """Run a program without input. Raises `LaunchError` if it can't be started.

    `tick` is called regularly while it runs; an exception in it ends the program.

    Output goes to files, because a leftover child process could keep a pipe open forever."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        streams = output.fileno(), complaints.fileno()
        started = start(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1])
        try:
            status = _status(started.process, timeout, tick)
        finally:
            started.abandon()
        output.seek(0)
        complaints.seek(0)
        return Finished(
            status, output.read(_MAX_OUTPUT_BYTES), complaints.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace")
        )


def _status(
    process: SupervisedProcess | UnsupervisedProcess, timeout: float, tick: Callable[[], None] | None
) -> int | None:
    end = time.monotonic() + timeout
    while True:
        try:
            return process.wait(max(min(_TICK_SECONDS if tick is not None else timeout, end - time.monotonic()), 0))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                return None
        if tick is not None:
            tick()
