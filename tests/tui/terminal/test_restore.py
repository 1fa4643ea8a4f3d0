"""A terminal that disappears ends the client."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_SECONDS = 120.0


@pytest.mark.slow
@pytest.mark.parametrize("prompt", [b"", b"/stream\r"], ids=["idle", "during a turn"])
def test_a_terminal_that_closes_without_a_signal_ends_the_client(prompt: bytes, tmp_path: Path) -> None:
    """The terminal isn't the controlling one, so that no SIGHUP arrives."""
    theirs, ours = pty.openpty()
    try:
        environment = os.environ | {"TERM": "xterm-256color", "HOME": str(tmp_path), "ACCORD_DATA_HOME": str(tmp_path)}
        command = [sys.executable, "-m", "accord", "chat", f"{sys.executable} -m accord showcase"]
        client = subprocess.Popen(
            command, stdin=ours, stdout=ours, stderr=ours, cwd=tmp_path, env=environment, start_new_session=True
        )
    finally:
        os.close(ours)
    try:
        screen = b""
        while b"ready" not in screen:
            screen += os.read(theirs, 65536)
        os.write(theirs, prompt)
    finally:
        os.close(theirs)
    try:
        assert client.wait(TIMEOUT_SECONDS) == 129
    finally:
        client.kill()
        client.wait()
