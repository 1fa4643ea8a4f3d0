"""The supervisor: a small process that outlives its parent just long enough to end what the parent left behind.

`guard` starts it, one for each process that has children, and says why it is made as it is. It runs in a bare
interpreter: see `tree` for what may be imported."""

from __future__ import annotations

import os
import signal
import sys
import time

from accord.process.tree import Family, end


def main() -> None:
    """`supervisor LIST SINCE PATIENCE MERCY`: waits for the end of standard input, then ends the listed families."""
    families, since, patience, mercy = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # what ends the parent must not end this first
    while os.read(0, 4096):
        pass
    endings = [
        end(family, patience=patience, mercy=mercy) for family in listed(families, int(since) if since else None)
    ]
    while endings:
        # All families side by side: the stages of one do not wait for another.
        pauses = [(next(ending, None), ending) for ending in endings]
        endings = [ending for pause, ending in pauses if pause is not None]
        if endings:
            time.sleep(min(pause for pause, _ in pauses if pause is not None))


def listed(fd: int, since: int | None) -> list[Family]:
    """Reads the list: in each line a token and, once the child was started, its process id; or nothing."""
    families = []
    for line in os.pread(fd, os.fstat(fd).st_size, 0).split(b"\n"):
        token, _, pid = line.strip().partition(b" ")
        if token:
            family = Family(token.decode(), since)
            if pid:
                family.rooted(int(pid))
            families.append(family)
    return families
