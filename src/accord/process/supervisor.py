"""The supervisor: a small process that outlives its parent just long enough to end what the parent left behind.

`guard` starts it, one for each process that has children. It reads lines from its standard input, the other end of
which only the parent holds: `+token` before a child is started, `=token pid` after, `-token` when all of the child's
family is gone. When the parent is no more, however it went, the supervisor ends every family it still knows, stage by
stage, and then itself. It runs in a bare interpreter: see `tree` for what may be imported."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from accord.process.tree import Family, end, has_proc, read_process

STRAGGLER_SECONDS = 2.0
"""How long to wait for the pipe to break after the parent's death: a child between fork and exec still holds it."""


def main() -> None:
    """`supervisor PARENT PATIENCE MERCY`."""
    parent, patience, mercy = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # what ends the parent must not end this first
    os.chdir("/")
    families = listen(parent)
    endings = [end(family, patience=patience, mercy=mercy) for family in families]
    while endings:
        # All families side by side: the stages of one do not wait for another.
        pauses = [(next(ending, None), ending) for ending in endings]
        endings = [ending for pause, ending in pauses if pause is not None]
        if endings:
            time.sleep(min(pause for pause, _ in pauses if pause is not None))


def listen(parent: int) -> list[Family]:
    """Keeps the list of families until the parent is gone, and gives what is left of it."""
    me = read_process(os.getpid()) if has_proc() else None
    families: dict[bytes, Family] = {}
    rest = b""
    while data := _read(parent):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            token, _, pid = line[1:].partition(b" ")
            if line.startswith(b"+"):
                # This process is older than any child, so nobody of the family is older than this process.
                families[token] = Family(token.decode(), since=me.start if me is not None else None)
            elif line.startswith(b"=") and token in families:
                families[token].rooted(int(pid))
            elif line.startswith(b"-"):
                families.pop(token, None)
    return list(families.values())


def _read(parent: int) -> bytes:
    """What the parent says next; empty when it is gone."""
    try:
        watched = [0, os.pidfd_open(parent)]
    except (OSError, AttributeError):
        watched = [0]
    try:
        while 0 not in select.select(watched, [], [], 1.0 if len(watched) == 1 else None)[0]:
            if os.getppid() != parent:
                # Dead, though the pipe holds: a fork of the parent has the other end, or a child before its exec.
                if not select.select([0], [], [], STRAGGLER_SECONDS)[0]:
                    return b""
                break
        return os.read(0, 65536)
    except OSError:
        return b""
    finally:
        for fd in watched[1:]:
            os.close(fd)
