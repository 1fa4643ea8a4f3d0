"""Keeping a file of sessions in order, in a thread of its own, where nobody waits for it.

What was written lies in SQLite's log, in the hands of the operating system: a killed process loses nothing, a power cut
what was not on the disk yet. So the log is put onto the disk when a turn has ended, and once a second while one lasts.
When it has grown, it is moved into the file (a checkpoint); the last bit of that keeps writers out, who then wait in
their thread. And the index is filled."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.store.hand import Hand, is_busy

if TYPE_CHECKING:
    from sqlite3 import Connection

SYNC_SECONDS = 1.0
LOG_BYTES = 8 * 1024 * 1024
_LOOK_EVERY = 256  # saves


class Tending:
    """What is to be done for one file, and when."""

    def __init__(self, hand: Hand, path: Callable[[], str]) -> None:
        self._hand = hand
        self._path = path
        self._saves = 0
        self._synced_at = 0.0
        self._due: set[str] = set()

    def wrote(self, packs: int) -> None:
        """Something was saved."""
        if packs:
            self._saves += 1
            if self._saves >= _LOOK_EVERY:
                self._saves = 0
                self._soon("look", self._look)
            now = time.monotonic()
            if now - self._synced_at >= SYNC_SECONDS:
                self._synced_at = now
                self._soon("sync", self._sync)

    def rest(self) -> None:
        """A turn has ended: there is time."""
        self._soon("sync", self._sync)
        self._soon("index", self._index)

    async def index(self) -> None:
        """Waits until the index holds everything that was said."""
        await self._hand.do(indexed_if_stale)

    def _soon(self, what: str, work: Callable[[Connection], None]) -> None:
        if what not in self._due:
            self._due.add(what)
            # What fails is done again before long; what must be told is told by whoever saves.
            self._hand.submit(work, lambda: self._due.discard(what))

    def _index(self, connection: Connection) -> None:
        indexed_if_stale(connection, lambda: self._hand.is_closing)

    def _sync(self, connection: Connection) -> None:
        # Another descriptor than SQLite's own: closing one of the *log* frees no lock (those are on other files).
        with suppress(OSError):
            log = os.open(f"{self._path()}-wal", os.O_RDWR)
            try:
                os.fsync(log)
            finally:
                os.close(log)

    def _look(self, connection: Connection) -> None:
        with suppress(OSError):
            if os.path.getsize(f"{self._path()}-wal") >= LOG_BYTES:
                checkpoint(connection)


def checkpoint(connection: Connection) -> None:
    """Moves the log into the file: most of it beside everybody's work, the rest while writers wait."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not busy:
        # Whoever writes first now waits for the disk once. Let that be us.
        try:
            connection.execute("UPDATE facts SET value = value WHERE name = 'salt'")
        except Exception as error:
            if not is_busy(error):
                raise


def is_stale(connection: Connection) -> bool:
    """Whether something was said that is not in the index."""
    return connection.execute("SELECT 1 FROM stale LIMIT 1").fetchone() is not None


def indexed_if_stale(connection: Connection, stop: Callable[[], bool] = lambda: False) -> None:
    """Fills the index, or as much of it as can be done before it is time to stop."""
    if is_stale(connection):
        from accord.store.indexing import bring_up

        bring_up(connection, stop)
