"""Advisory file locks between processes. The system releases them when the process ends for any reason.

Lock files aren't deleted, unless their owner knows that no other process can have them open. Otherwise, if one process
unlinks a lock file that another has just opened, a third one can create it again, and two processes hold "the" lock."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TIMEOUT_SECONDS = 5.0
_POLL_SECONDS = 0.01

if sys.platform == "win32":
    import msvcrt

    CAN_SHARE = False

    def try_lock(handle: int, *, shared: bool = False) -> bool:
        """Lock an open file without waiting; return whether it is locked now. Windows has no shared locks."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    CAN_SHARE = True
    """Whether several processes can hold the same lock with `shared`."""

    def try_lock(handle: int, *, shared: bool = False) -> bool:
        """Lock an open file without waiting; return whether it is locked now. Closing the file releases the lock.

        A second call on the same handle converts the lock from shared to exclusive, or back."""
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def open_lock_file(path: Path) -> int:
    """Open a lock file, creating it if needed, readable by its owner only."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for other processes. Raises `OSError` after `TIMEOUT_SECONDS`."""
    handle = open_lock_file(path)
    try:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not try_lock(handle):
            if time.monotonic() > deadline:
                raise OSError(None, f"another process has held {path} for {TIMEOUT_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(handle)
