"""One connection to a file of sessions and the one thread that works with it, so that the event loop need not wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, NoReturn, TypeVar

from accord.errors import StoreFailed

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")
Work = Callable[["Connection"], T]

PATIENCE = 5.0
"""Seconds to wait for another process that writes."""
_AGAIN = 0.005


class Hand:
    """Does work on a file: in its thread, or at once when it is free. It opens the file when it first needs it.

    The thread does not keep the process alive: what is cut off in the middle is undone by SQLite, as after kill −9."""

    def __init__(self, path: Callable[[], str], name: str) -> None:
        self.is_closing = False
        """Whether what need not be done should not be begun."""
        self._path = path
        self._name = name
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._connection: Connection | None = None

    async def do(self, work: Work[T]) -> T:
        """Does it in the thread, after what was asked before. Another process's lock is waited for."""
        return await self.start(work)

    def start(self, work: Work[T]) -> asyncio.Future[T]:
        """The same, without waiting for it."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result = self._patiently(work)
            except BaseException as error:
                tell, outcome = _set_exception, error
            else:
                tell, outcome = _set_result, result  # type: ignore[assignment]
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(tell, done, outcome)

        self._ask(run)
        return done

    def submit(self, work: Work[None], begins: Callable[[], None]) -> None:
        """Has it done in the thread at some time, or not at all; nobody waits. `begins` is called in any case."""

        def run() -> None:
            begins()
            if not self.is_closing:
                with suppress(Exception):
                    self._patiently(work)

        self._ask(run)

    def _ask(self, run: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name=f"accord-store-{self._name}", daemon=True)
            self._thread.start()
        self._queue.put(run)

    def _live(self) -> None:
        """The thread."""
        while (run := self._queue.get()) is not None:
            run()

    def at_once(self, work: Work[None]) -> bool:
        """Does it here and now; False when that would mean waiting, for the thread or for another process."""
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

    def _patiently(self, work: Work[T]) -> T:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self._lock:
                    if self._connection is None:
                        from accord.store.schema import connect

                        self._connection = connect(self._path())
                    return work(self._connection)
            except Exception as error:
                if not is_busy(error) or time.monotonic() > until:
                    raise_explained(error, self._path())
            time.sleep(_AGAIN)

    def close(self) -> None:
        """Waits for what is being done, and lets go of the file."""
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
    if not future.done():  # whoever waited may have been cancelled
        future.set_result(result)


def _set_exception(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def transaction(connection: Connection, work: Work[T]) -> T:
    """Does all of it, or nothing."""
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
    """Whether another process, or another connection, has the file for itself just now."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (5, 6)


_WHY = {
    5: ("another program has locked it", "end that program, or wait until it is done"),
    6: ("another program has locked it", "end that program, or wait until it is done"),
    8: ("it cannot be written to", "make it and its folder writable, or set ACCORD_DATA_HOME to another folder"),
    10: ("the disk gives an error", "check the disk; ACCORD_DATA_HOME puts the sessions elsewhere"),
    11: ("it is damaged", "put it aside (it is not touched any more); a new one is made in its place"),
    13: ("the disk is full", "free some space and go on"),
    14: ("it cannot be opened", "check that the folder exists and is yours"),
    26: ("it is no file of sessions", "put it aside; a new one is made in its place"),
}


def raise_explained(error: Exception, path: str) -> NoReturn:
    """Says what went wrong with the file in words for the person who must act. What is no fault of the file stays."""
    import sqlite3

    if isinstance(error, OSError):
        why, then = str(error.strerror or error), "check the folder; ACCORD_DATA_HOME puts the sessions elsewhere"
    elif isinstance(error, sqlite3.Error):
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        why, then = _WHY.get(code, (str(error), "check the file; ACCORD_DATA_HOME puts the sessions elsewhere"))
    else:
        raise error
    raise StoreFailed(f"sessions cannot be kept in {path}: {why}; {then}", data={"path": path}) from error
