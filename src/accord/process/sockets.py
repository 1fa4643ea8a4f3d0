"""Find the sockets of other programs that a command could connect to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress

_ESCAPED = re.compile(r"\\([0-7]{3})")
"""A space or another special character in `/proc/self/mountinfo`."""


def find_sockets() -> list[str]:
    """Return the sockets that other programs listen on. Connecting works on read-only file systems, too.

    `/proc/net/unix` has those of this network namespace. A container often gets one of its host's, as a mount or in a
    variable: that of Docker, or of an SSH agent."""
    candidates = [*_find_listening(), *_find_mount_points()]
    candidates += [value.removeprefix("unix:").removeprefix("//") for value in os.environ.values() if "/" in value]
    found: dict[str, None] = {}
    for path in candidates:
        with suppress(OSError, ValueError):
            if os.path.isabs(path) and stat.S_ISSOCK(os.stat(path).st_mode):
                found[os.path.realpath(path)] = None
    return list(found)


def _find_listening() -> Iterable[str]:
    with suppress(OSError), open("/proc/net/unix", errors="surrogateescape") as file:
        for line in file:
            if path := line.rstrip("\n").partition(" /")[2]:
                yield f"/{path}"


def _find_mount_points() -> Iterable[str]:
    with suppress(OSError), open("/proc/self/mountinfo", errors="surrogateescape") as file:
        for line in file:
            path = line.split(" ")[4]
            yield _ESCAPED.sub(lambda match: chr(int(match[1], 8)), path)
