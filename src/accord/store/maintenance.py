"""Background maintenance of the session database: sync the log, checkpoint it, update the search index.

A commit only reaches SQLite's write-ahead log in the page cache of the operating system. That survives the death of the
process, but not a power failure. So the log is synced to disk at the end of each turn, and once a second during one. A
large log is moved into the database (a checkpoint). The end of a checkpoint locks out writers, which wait in their own
thread."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.store.worker import Worker, is_busy

if TYPE_CHECKING:
    from sqlite3 import Connection

SYNC_SECONDS = 1.0
LOG_BYTES = 8 * 1024 * 1024
_SAVES_PER_CHECK = 256


class Maintenance:
    """Schedules maintenance of one file on a worker thread."""

    def __init__(self, worker: Worker, path: Callable[[], str]) -> None:
        self._worker = worker
        self._path = path
        self._saves = 0
        self._synced_at = 0.0
        self._due: set[str] = set()

    def note_saved(self, packs: int) -> None:
        """Note that `packs` packs were saved."""
        if packs:
            self._saves += 1
            if self._saves >= _SAVES_PER_CHECK:
                self._saves = 0
                self._schedule("check", self._checkpoint_if_large)
            now = time.monotonic()
            if now - self._synced_at >= SYNC_SECONDS:
                self._synced_at = now
                self._schedule("sync", self._sync)

    def run_soon(self) -> None:
        """Sync the log and update the index in the background: a turn has ended."""
        self._schedule("sync", self._sync)
        self._schedule("index", self._index)

    async def index(self) -> None:
        """Update the index and wait for it."""
        await self._worker.do(update_index)

    def _schedule(self, what: str, work: Callable[[Connection], None]) -> None:
        if what not in self._due:
            self._due.add(what)
            # Errors are ignored: the work is repeated soon, and saving reports real problems.
            self._worker.submit(work, lambda: self._due.discard(what))

    def _index(self, connection: Connection) -> None:
        update_index(connection, lambda: self._worker.is_closing)

    def _sync(self, connection: Connection) -> None:
        # Closing this second descriptor of the log releases no POSIX lock: SQLite's locks are on other files.
        with suppress(OSError):
            log = os.open(f"{self._path()}-wal", os.O_RDWR)
            try:
                os.fsync(log)
            finally:
                os.close(log)

    def _checkpoint_if_large(self, connection: Connection) -> None:
        with suppress(OSError):
            if os.path.getsize(f"{self._path()}-wal") >= LOG_BYTES:
                checkpoint(connection)


def checkpoint(connection: Connection) -> None:
    """Move the log into the database: most of it while others work, the rest while writers wait."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not busy:
        # The first write after a checkpoint waits for the disk. Do it here, not on the event loop.
        try:
            connection.execute("UPDATE facts SET value = value WHERE name = 'salt'")
        except Exception as error:
            if not is_busy(error):
                raise


def is_stale(connection: Connection) -> bool:
    """Return whether any statement is missing from the index."""
    return connection.execute("SELECT 1 FROM stale LIMIT 1").fetchone() is not None


def update_index(connection: Connection, stop: Callable[[], bool] = lambda: False) -> None:
    """Add missing statements to the index until `stop` returns true."""
    if is_stale(connection):
        from accord.store.search_index import update

        update(connection, stop)
