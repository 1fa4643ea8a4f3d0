"""Which sessions are open in other clients of this user, too: whoever opens one that is hears of it.

A client holds a lock for each session that it shows, which goes with the process, however that ends. The lock is shared
among those who have the same session open; whether one is alone is found by asking to have it alone."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from accord.config.folders import data_folder


@dataclass
class _Held:
    file: IO[bytes]
    count: int = 1
    """How many agents of this process have the session open, the old and the new one while one is started again."""


_held: dict[Path, _Held] = {}
"""The locks of this process: they would get into each other's way otherwise."""


class OpenHere:
    """The sessions of one agent that are open here."""

    def __init__(self, agent: Callable[[], str]) -> None:
        """`agent` is by what name it is known, once it is there."""
        self._agent = agent
        self._paths: dict[str, Path] = {}

    def add(self, session: str) -> bool:
        """This client has a session open from now on. Gives whether another one has it open already; where that cannot
        be known, nobody has."""
        if session not in self._paths:
            self._paths[session] = path = _path(self._agent(), session)
            _hold(path)
        return self.is_elsewhere(session)

    def is_elsewhere(self, session: str) -> bool:
        """Whether another client has a session open that this one has."""
        held = _held.get(self._paths[session]) if session in self._paths else None
        return held is not None and not _is_alone(held)

    def remove(self, session: str) -> None:
        """This client has it open no more."""
        path = self._paths.pop(session, None)
        if path is not None:
            _let_go(path)

    def close(self) -> None:
        for session in list(self._paths):
            self.remove(session)


def _hold(path: Path) -> None:
    if path in _held:
        _held[path].count += 1
        return
    if sys.platform == "win32":  # has no locks that are shared
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _held[path] = _Held(os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "wb"))


def _is_alone(held: _Held) -> bool:
    """Whether nobody else has the lock. It is shared afterwards."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(held.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = True
    except OSError:
        is_alone = False
    with suppress(OSError):
        fcntl.flock(held.file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return is_alone


def _let_go(path: Path) -> None:
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
    name = hashlib.sha256(f"{agent}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return data_folder() / "chat" / "open" / f"{name}.lock"
