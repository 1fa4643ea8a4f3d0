"""Runs a helper program to its end: an installer, a login shell. Nothing of it is left behind, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from accord.process.guard import Ward
from accord.process.launch import launch

_MOST = 4 * 1024 * 1024


class Finished(NamedTuple):
    """How a program ended, and what it printed."""

    status: int | None
    """The exit status; None when it was not done in time."""
    output: bytes
    complaints: str


def run(
    argv: Sequence[str], *, timeout: float, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Runs a program without input. Raises `LaunchError` when it cannot be started.

    What it prints goes to files: a process that it leaves behind could hold a pipe open for ever."""
    ward = Ward()
    try:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
            process = launch(
                argv,
                cwd=cwd,
                env=ward.environment(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=complaints,
            )
            ward.started(process.pid)
            try:
                status: int | None = process.wait(timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end(process)
            output.seek(0)
            complaints.seek(0)
            return Finished(status, output.read(_MOST), complaints.read(_MOST).decode("utf-8", "replace"))
    finally:
        ward.over()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends it and everybody in its group."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
