"""A terminal around tmux, for tests: it attaches to tmux and records everything that tmux writes."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from support.tmux import TIMEOUT_SECONDS, Tmux


class Outer:
    """A terminal attached to tmux."""

    def __init__(self) -> None:
        self.seen = b""

    def until(self, wanted: bytes) -> None:
        end = time.monotonic() + TIMEOUT_SECONDS
        while wanted not in self.seen:
            assert time.monotonic() < end, f"waited for {wanted!r}; the end of the output: {self.seen[-2000:]!r}"
            time.sleep(0.03)


@contextmanager
def looking_at(tmux: Tmux, described: Mapping[str, str] | None = None) -> Iterator[Outer]:
    """Attach a terminal to tmux, under another terminal name if there is a description for it."""
    outer = Outer()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 41, 120, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", **(described or {})}
    env.pop("TMUX", None)
    client = subprocess.Popen(
        ["tmux", "-u", "-L", tmux._name, "attach", "-t", "t"], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)

    def read() -> None:
        with suppress(OSError):
            while data := os.read(ours, 65536):
                outer.seen += data

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield outer
    finally:
        client.terminate()
        client.wait(TIMEOUT_SECONDS)
        reader.join(TIMEOUT_SECONDS)
        os.close(ours)
