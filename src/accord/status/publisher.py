"""Publishes the sessions of this process.

Each process has two files with random names: a lock that it holds while it runs, and the list, which it replaces. The
system releases the lock when the process ends for any reason, so a list without a holder is outdated. Process ids
aren't used for this, because they are reused. The list isn't synced to disk: after a crash of the machine, no session
is left."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from accord.config.locking import open_lock_file, try_lock
from accord.errors import ConfigError
from accord.status.attention_list import MAX_ENTRIES, AttentionList, status_directory
from accord.status.entry import SessionStatus


class Publisher:
    """Keeps the list of this process up to date. Does nothing if the directory isn't writable."""

    def __init__(self, directory: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._clock = clock
        self._name = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._lock: int | None = None
        self._is_off = False
        self._last: list[SessionStatus] = []

    def publish(self, sessions: Sequence[SessionStatus]) -> None:
        """Publish the sessions of this process. Does nothing if they haven't changed."""
        dates = {each.key: each.since for each in self._last}
        now = self._clock()
        new = [msgspec.structs.replace(each, since=dates.get(each.key, now)) for each in sessions[:MAX_ENTRIES]]
        if self._is_off or new == self._last:
            return
        self._last = new
        try:
            self._write(new)
        except (OSError, ConfigError):
            self._is_off = True

    def close(self, *, unseen: bool = False) -> None:
        """Stop publishing. With `unseen`, sessions that have finished or failed stay in the list until they are
        seen."""
        directory, lock, self._is_off = self._directory, self._lock, True
        if directory is None or lock is None:
            return
        with suppress(OSError):
            if unseen:
                AttentionList(directory).keep([each for each in self._last if each.state in ("finished", "failed")])
            (directory / f"{self._name}.json").unlink(missing_ok=True)
            (directory / f"{self._name}.lock").unlink(missing_ok=True)
        os.close(lock)

    def _write(self, sessions: list[SessionStatus]) -> None:
        if self._directory is None:
            self._directory = status_directory()
        if self._lock is None:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = open_lock_file(self._directory / f"{self._name}.lock")
            try_lock(self._lock)
        new = self._directory / f"{self._name}.new"
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(sessions))
        os.replace(new, self._directory / f"{self._name}.json")
