"""One connection to the session database and the thread that uses it, so that the event loop doesn't block."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from accord.errors import StoreFailed

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")
Work = Callable[["Connection"], T]

LOCK_TIMEOUT_SECONDS = 5.0
"""How long to wait for another process that writes."""
_RETRY_SECONDS = 0.005


class Worker:
    """Runs functions on a database connection: in its thread, or immediately if it is free.

    The file is opened on first use. The thread is a daemon: SQLite rolls back an interrupted transaction, as after
    `kill -9`."""

    def __init__(self, path: Callable[[], str], name: str) -> None:
        self.is_closing: bool = False
        """True while closing: optional work should not start."""
        self._path = path
        self._name = name
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._connection: Connection | None = None

    async def do(self, work: Work[T]) -> T:
        """Run `work` in the thread, after earlier work. Waits for locks of other processes."""
        return await self.start(work)

    def start(self, work: Work[T]) -> asyncio.Future[T]:
        """Start `work` in the thread and return a future."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            tell: Callable[..., None]
            outcome: Any
            try:
                tell, outcome = _set_result, self._run_with_retries(work)
            except BaseException as error:
                tell, outcome = _set_exception, error
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, done, outcome)

        self._ask(run)
        return done

    def submit(self, work: Work[None], begins: Callable[[], None]) -> None:
        """Run optional `work` in the thread later, ignoring errors. `begins` is always called."""

        def run() -> None:
            begins()
            if not self.is_closing:
                with suppress(Exception):
                    self._run_with_retries(work)

        self._ask(run)

    def _ask(self, run: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_thread, name=f"accord-store-{self._name}", daemon=True)
            self._thread.start()
        self._queue.put(run)

    def _run_thread(self) -> None:
        """The main function of the thread."""
        while (run := self._queue.get()) is not None:
            run()

    def try_now(self, work: Work[None]) -> bool:
        """Run `work` on the calling thread. Returns False if that would block on the worker or on another process."""
        if self._connection is None or not self._lock.acquire(blocking=False):
            return False
        try:
            work(self._connection)
        except Exception as error:
            if is_busy(error):
                return False
            raise_explained(error, self._path())
        finally:
            self._lock.release()
        return True

    def _run_with_retries(self, work: Work[T]) -> T:
        until = time.monotonic() + LOCK_TIMEOUT_SECONDS
        while True:
            try:
                with self._lock:
                    if self._connection is None:
                        from accord.store.database import connect

                        self._connection = connect(self._path())
                    return work(self._connection)
            except Exception as error:
                if not is_busy(error) or time.monotonic() > until:
                    raise_explained(error, self._path())
            time.sleep(_RETRY_SECONDS)

    def close(self) -> None:
        """Finish current work and close the file."""
        self.is_closing = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        self.is_closing = False


def _set_result(future: asyncio.Future[T], result: T) -> None:
    if not future.done():  # the waiter may have been cancelled
        future.set_result(result)


def _set_exception(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def transaction(connection: Connection, work: Work[T]) -> T:
    """Run `work` in a transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def is_busy(error: BaseException) -> bool:
    """Return whether an error means that another connection holds the lock."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (5, 6)


_WHY = {
    5: ("another program has locked it", "close that program, or wait until it is done"),
    6: ("another program has locked it", "close that program, or wait until it is done"),
    8: ("it isn't writable", "make it and its directory writable, or set ACCORD_DATA_HOME to another directory"),
    10: ("disk I/O error", "check the disk, or set ACCORD_DATA_HOME to another directory"),
    11: ("it is corrupted", "move it away; a new one will be created"),
    13: ("the disk is full", "free some space and try again"),
    14: ("it can't be opened", "check that the directory exists and that you own it"),
    26: ("it isn't a session database", "move it away; a new one will be created"),
}


def raise_explained(error: Exception, path: str) -> NoReturn:
    """Raise `StoreFailed` with the reason and what to do. Re-raises errors that aren't about the file."""
    import sqlite3

    if isinstance(error, OSError):
        why, then = str(error.strerror or error), "check the directory, or set ACCORD_DATA_HOME to another one"
    elif isinstance(error, sqlite3.Error):
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        why, then = _WHY.get(code, (str(error), "check the file, or set ACCORD_DATA_HOME to another directory"))
    else:
        raise error
    raise StoreFailed(f"can't save sessions in {path}: {why}; {then}", data={"path": path}) from error
