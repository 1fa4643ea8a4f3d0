"""Locks that tell whether a session is also open in another client of this user.

A client holds a shared lock for each session that it shows; the operating system releases it when the process ends. To
find out whether it is alone, a client tries to make its lock exclusive."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from accord.config.directories import data_directory


@dataclass
class _Held:
    file: IO[bytes]
    count: int = 1
    """How many agents of this process have the session open: two while one is restarted."""


_held: dict[Path, _Held] = {}
"""The locks of this process. They are shared, because two locks of one process would conflict."""


class SessionLocks:
    """The locks for the sessions of one agent that are open here."""

    def __init__(self, agent: Callable[[], str]) -> None:
        """`agent` returns the name of the agent, once it is known."""
        self._agent = agent
        self._paths: dict[str, Path] = {}

    def add(self, session: str) -> bool:
        """Lock a session. Return whether another client has it open; False if that can't be found out."""
        if session not in self._paths:
            self._paths[session] = path = _path(self._agent(), session)
            _acquire(path)
        return self.is_elsewhere(session)

    def is_elsewhere(self, session: str) -> bool:
        """Return whether another client has this session open too."""
        held = _held.get(self._paths[session]) if session in self._paths else None
        return held is not None and not _is_alone(held)

    def remove(self, session: str) -> None:
        """Release the lock of a session."""
        path = self._paths.pop(session, None)
        if path is not None:
            _release(path)

    def close(self) -> None:
        for session in list(self._paths):
            self.remove(session)


def _acquire(path: Path) -> None:
    if path in _held:
        _held[path].count += 1
        return
    from accord.config.locking import CAN_SHARE, open_lock_file

    if not CAN_SHARE:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _held[path] = _Held(os.fdopen(open_lock_file(path), "wb"))


def _is_alone(held: _Held) -> bool:
    """Return whether no other process holds the lock. It is shared again afterwards."""
    from accord.config.locking import CAN_SHARE, try_lock

    if not CAN_SHARE:
        return True
    try:
        is_alone = try_lock(held.file.fileno())
    except OSError:
        is_alone = False
    with suppress(OSError):
        try_lock(held.file.fileno(), shared=True)
    return is_alone


def _release(path: Path) -> None:
    held = _held.get(path)
    if held is None:
        return
    held.count -= 1
    if held.count == 0:
        del _held[path]
        if _is_alone(held):
            with suppress(OSError):
                path.unlink()
        held.file.close()


def _path(agent: str, session: str) -> Path:
    import hashlib

    name = hashlib.sha256(f"{agent}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return data_directory() / "chat" / "open" / f"{name}.lock"
