"""Helpers for tests: find running processes, and wait for a condition without an event loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

BOUND = 300.0


def find_by_token(token: str) -> list[int]:
    """The living processes with this in their environment, by a look of our own."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and is_alive(int(name)):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if token.encode() in file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def until(condition: Callable[[], bool], what: str = "") -> None:
    deadline = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < deadline, f"waited too long: {what}"
        time.sleep(0.005)
