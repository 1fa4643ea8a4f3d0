"""Runs a helper program to its end: an installer, a login shell. Nothing of it is left behind, whatever happens."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from accord.process.start import start

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
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output.fileno(), "stderr": complaints.fileno()}
        started = start(argv, cwd=cwd, env=env, **streams)
        try:
            status: int | None = started.process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            started.abandon()
        output.seek(0)
        complaints.seek(0)
        return Finished(status, output.read(_MOST), complaints.read(_MOST).decode("utf-8", "replace"))
