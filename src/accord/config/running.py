"""Runs a helper program to its end: an installer, a login shell. Nothing of it is left behind, whatever happens."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from accord.process.start import start

_MOST = 4 * 1024 * 1024
_TICK = 0.25


class Finished(NamedTuple):
    """How a program ended, and what it printed."""

    status: int | None
    """The exit status; None when it was not done in time."""
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
    """Runs a program without input. Raises `LaunchError` when it cannot be started.

    `tick` is called every now and then while it runs; what it raises ends the program.

    What it prints goes to files: a process that it leaves behind could hold a pipe open for ever."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output.fileno(), "stderr": complaints.fileno()}
        started = start(argv, cwd=cwd, env=env, **streams)
        try:
            status = _status(started.process, timeout, tick)
        finally:
            started.abandon()
        output.seek(0)
        complaints.seek(0)
        return Finished(status, output.read(_MOST), complaints.read(_MOST).decode("utf-8", "replace"))


def _status(process: subprocess.Popen[Any], timeout: float, tick: Callable[[], None] | None) -> int | None:
    end = time.monotonic() + timeout
    while True:
        try:
            return process.wait(max(min(_TICK if tick is not None else timeout, end - time.monotonic()), 0))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                return None
        if tick is not None:
            tick()
