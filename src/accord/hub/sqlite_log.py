"""An event log in one SQLite file: every event that a client has received survives `kill -9` of the server.

Writes are collected and saved in one transaction on the event loop itself, which takes less time than waking a thread.
A thread copies the write-ahead log into the database, because that waits for the disk. Only one process can use a file
at a time."""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from accord.config.locking import open_lock_file, try_lock
from accord.errors import StoreFailed
from accord.hub.event_log import (
    MAX_REQUESTS_WITHOUT_SESSION,
    PRUNE_EVERY,
    Event,
    EventLog,
    SavedRequest,
    SessionFilter,
    SessionRecord,
    Spent,
    take_page,
)

APPLICATION = 0x41434855  # "ACHU", which identifies the file type
VERSION = 2
CHECKPOINT_BYTES = 4 * 1024 * 1024
"""The number of bytes that are written before the write-ahead log is copied into the database."""

_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        updated_at REAL NOT NULL,
        owner TEXT NOT NULL,
        cwd TEXT NOT NULL,
        is_archived INTEGER NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE INDEX sessions_by_time ON sessions (updated_at, id)",
    "CREATE INDEX sessions_of ON sessions (owner, updated_at, id)",
    """CREATE TABLE shares (
        session TEXT NOT NULL, principal TEXT NOT NULL, PRIMARY KEY (session, principal)
    ) WITHOUT ROWID""",
    "CREATE INDEX shares_with ON shares (principal, session)",
    """CREATE TABLE events (
        session TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        method TEXT NOT NULL,
        params BLOB NOT NULL,
        recorded_at REAL NOT NULL,
        origin TEXT NOT NULL,
        request TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID""",
    "CREATE TABLE requests (key TEXT PRIMARY KEY, method TEXT NOT NULL, session TEXT NOT NULL, response BLOB)",
    "CREATE INDEX requests_of ON requests (session)",
    """CREATE TABLE spent (
        principal TEXT NOT NULL, day TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL,
        PRIMARY KEY (principal, day)
    ) WITHOUT ROWID""",
)
# Plain placeholders only: Python 3.12.0 to 3.12.3 warn about numbered ones (`?1`) bound by position.
_ADD_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_SESSION = """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, owner = excluded.owner, cwd = excluded.cwd,
        is_archived = excluded.is_archived, data = excluded.data"""
_DROP_SHARES = "DELETE FROM shares WHERE session = ?"
_ADD_REQUEST = """INSERT INTO requests VALUES (?, ?, ?, NULL)
    ON CONFLICT (key) DO UPDATE SET session = excluded.session"""
# Row ids ascend with time, so that the index on `session` has these requests in their order.
_PRUNE_REQUESTS = """DELETE FROM requests WHERE session = '' AND rowid <= (
    SELECT rowid FROM requests WHERE session = '' ORDER BY rowid DESC LIMIT 1 OFFSET ?)"""
_ADD_RESPONSE = "UPDATE requests SET response = ? WHERE key = ?"
_ADD_SPENT = """INSERT INTO spent VALUES (?, ?, ?, ?)
    ON CONFLICT (principal, day) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost"""

_record = msgspec.json.Decoder(SessionRecord)
_WHY = {
    8: ("it isn't writable", "make the file and its directory writable"),
    10: ("disk I/O error", "check the disk"),
    11: ("it is corrupted", "move it away; a new one will be created"),
    13: ("the disk is full", "free some space"),
    14: ("it can't be opened", "check that the directory exists and that you own it"),
    26: ("it isn't an event log", "choose another file"),
}


class SqliteEventLog(EventLog):
    """A log in a file. Raises `StoreFailed` if the file can't be used or another server uses it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.abspath(path)
        self._statements: list[tuple[str, Sequence[Any]]] = []
        self._events: list[Sequence[Any]] = []
        self._written = 0
        self._unpruned = PRUNE_EVERY  # requests without a session of earlier runs are pruned with the first new one
        self._is_closed = False
        self._checkpoint: asyncio.Future[None] | None = None
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        self._lock = open_lock_file(Path(f"{self.path}.lock"))
        if not try_lock(self._lock):
            os.close(self._lock)
            raise StoreFailed(f"{self.path} is in use by another server; stop that server")
        try:
            self._connection = _connect(self.path)
            self.epoch: str = _prepare(self._connection, self.path)
        except sqlite3.Error as error:
            os.close(self._lock)
            raise _explain(error, self.path) from error
        except BaseException:
            os.close(self._lock)
            raise

    # -- writing

    def append(self, session_id: str, event: Event) -> None:
        self._events.append(_row(session_id, event))
        self._written += len(event.params) + 100

    def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
        self._write("DELETE FROM events WHERE session = ? AND seq > ? AND seq <= ?", (session_id, after, until))
        for event in events:
            self._write(_ADD_EVENT, _row(session_id, event))
            self._written += len(event.params)

    def save_session(self, record: SessionRecord) -> None:
        self._write(_ADD_SESSION, _session_row(record))
        self._write(_DROP_SHARES, (record.id,))
        for principal in record.shared_with:
            self._write("INSERT INTO shares VALUES (?, ?)", (record.id, principal))

    def delete_session(self, session_id: str) -> None:
        self._write("DELETE FROM sessions WHERE id = ?", (session_id,))
        self._write(_DROP_SHARES, (session_id,))
        self._write("DELETE FROM events WHERE session = ?", (session_id,))
        self._write("DELETE FROM requests WHERE session = ?", (session_id,))

    def save_request(self, key: str, method: str, session_id: str) -> None:
        self._write(_ADD_REQUEST, (key, method, session_id))
        if not session_id:
            self._unpruned += 1
            if self._unpruned >= PRUNE_EVERY:
                self._prune_requests()

    def _prune_requests(self) -> None:
        self._unpruned = 0
        self._write(_PRUNE_REQUESTS, (MAX_REQUESTS_WITHOUT_SESSION,))

    def save_response(self, key: str, response: bytes) -> None:
        self._write(_ADD_RESPONSE, (response, key))

    def add_spent(self, principal: str, day: str, tokens: int, cost: float) -> None:
        self._write(_ADD_SPENT, (principal, day, tokens, cost))

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        if self._events:  # keep the order of writes
            self._statements.extend((_ADD_EVENT, row) for row in self._events)
            self._events = []
        self._statements.append((statement, values))
        self._written += 200

    def commit(self) -> None:
        if not self._statements and not self._events:
            return
        try:
            if not self._statements and len(self._events) == 1:
                self._connection.execute(_ADD_EVENT, self._events[0])  # a transaction by itself
            else:
                self._save_all()
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error
        self._statements = []
        self._events = []
        if self._written > CHECKPOINT_BYTES:
            self._written = 0
            self._start_checkpoint()

    def _save_all(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in self._statements:
                self._connection.execute(statement, values)
            if self._events:
                self._connection.executemany(_ADD_EVENT, self._events)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _start_checkpoint(self) -> None:
        if self._checkpoint is None or self._checkpoint.done():
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return  # it will be copied when the next server opens the file
            self._checkpoint = loop.run_in_executor(None, _copy_write_ahead_log, self.path)

    # -- reading

    def events(self, session_id: str, after: int, limit: int, max_bytes: int = sys.maxsize) -> Sequence[Event]:
        try:
            rows = self._connection.execute(
                "SELECT seq, kind, method, params, recorded_at, origin, request FROM events"
                " WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
                (session_id, after, limit),
            )
            with closing(rows):  # an open query would prevent checkpoints from finishing
                return take_page(map(_event, rows), max_bytes)
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error

    def last_seq(self, session_id: str) -> int:
        rows = self._read("SELECT max(seq) FROM events WHERE session = ?", (session_id,))
        return rows[0][0] or 0

    def session(self, session_id: str) -> SessionRecord | None:
        rows = self._read("SELECT data FROM sessions WHERE id = ?", (session_id,))
        return _record.decode(rows[0][0]) if rows else None

    async def list_sessions(self, wanted: SessionFilter, limit: int) -> Sequence[SessionRecord]:
        # In a thread, because this reads many rows if few sessions match the filter.
        return await asyncio.to_thread(_list_sessions, self.path, wanted, limit)

    def request(self, key: str) -> SavedRequest | None:
        rows = self._read("SELECT method, session, response FROM requests WHERE key = ?", (key,))
        return SavedRequest(*rows[0]) if rows else None

    def read_spent(self, principal: str, day: str) -> Spent:
        rows = self._read("SELECT tokens, cost FROM spent WHERE principal = ? AND day = ?", (principal, day))
        return Spent(*rows[0]) if rows else Spent()

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error

    def close(self) -> None:
        if self._is_closed:
            return
        try:
            self.commit()
        finally:
            self._is_closed = True
            self._connection.close()
            os.close(self._lock)


def _row(session_id: str, event: Event) -> Sequence[Any]:
    return (
        session_id,
        event.seq,
        event.kind,
        event.method,
        event.params,
        event.recorded_at,
        event.origin,
        event.request,
    )


def _event(row: Sequence[Any]) -> Event:
    seq, kind, method, params, recorded_at, origin, request = row
    return Event(
        seq=seq, kind=kind, method=method, params=params, recorded_at=recorded_at, origin=origin, request=request
    )


def _session_row(record: SessionRecord) -> Sequence[Any]:
    data = msgspec.json.encode(record)
    return (record.id, record.updated_at, record.owner, record.cwd, record.is_archived, data)


def _list_sessions(path: str, wanted: SessionFilter, limit: int) -> list[SessionRecord]:
    """List sessions, on a separate connection. Each part of the query reads an index in the order of the result."""
    values: dict[str, Any] = {"limit": limit, **wanted._asdict()}
    conditions = ["1"]
    if wanted.cwd is not None:
        conditions.append("cwd = :cwd")
    if wanted.is_archived is not None:
        conditions.append("is_archived = :is_archived")
    if wanted.before is not None:
        conditions.append("(updated_at, id) < (:at, :id)")
        values["at"], values["id"] = wanted.before
    end = f"AND {' AND '.join(conditions)} ORDER BY updated_at DESC, id DESC LIMIT :limit"
    if wanted.principal is None:
        query = f"SELECT data FROM sessions WHERE 1 {end}"
    else:
        columns = "SELECT id, updated_at, data FROM sessions"
        theirs = f"SELECT * FROM ({columns} WHERE owner = :principal {end})"
        # One list for all names: a session that is also shared with everyone must not be listed twice.
        shared = "SELECT session FROM shares WHERE principal IN (:principal, '*')"
        others = f"SELECT * FROM ({columns} WHERE owner != :principal AND id IN ({shared}) {end})"
        query = f"SELECT data FROM ({theirs} UNION ALL {others}) ORDER BY updated_at DESC, id DESC LIMIT :limit"
    connection = sqlite3.connect(path, timeout=5)
    try:
        del values["before"]
        return [_record.decode(data) for (data,) in connection.execute(query, values)]
    except sqlite3.Error as error:
        raise _explain(error, path) from error
    finally:
        connection.close()


def _connect(path: str) -> sqlite3.Connection:
    if not os.path.exists(path):  # sessions are private
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    # The file is mostly written, and what is read again is in the cache of the system.
    connection.execute("PRAGMA cache_size = -256")
    return connection


def _prepare(connection: sqlite3.Connection, path: str) -> str:
    """Create the tables of a new file. Returns the epoch of the log."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION:
        raise StoreFailed(f"{path} is a database of another program; choose another file")
    if version > VERSION:
        raise StoreFailed(f"{path} was written by a newer version of Accord; update Accord, or choose another file")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not version:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO facts VALUES ('epoch', ?)", (secrets.token_hex(4),))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    elif version == 1:
        _upgrade(connection)
    (epoch,) = connection.execute("SELECT value FROM facts WHERE name = 'epoch'").fetchone()
    return str(epoch)


def _upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade a file of version 1: add the columns and tables for listing sessions."""
    connection.execute("BEGIN IMMEDIATE")
    records = [_record.decode(data) for (data,) in connection.execute("SELECT data FROM sessions")]
    connection.execute("DROP TABLE sessions")
    for statement in _TABLES:
        if "sessions" in statement or "shares" in statement:
            connection.execute(statement)
    for record in records:
        connection.execute(_ADD_SESSION, _session_row(record))
        shares = [(record.id, principal) for principal in record.shared_with]
        connection.executemany("INSERT INTO shares VALUES (?, ?)", shares)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _copy_write_ahead_log(path: str) -> None:
    connection = sqlite3.connect(path, timeout=0)
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except sqlite3.Error:
        pass  # the next checkpoint tries again
    finally:
        connection.close()


def _explain(error: sqlite3.Error, path: str) -> StoreFailed:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    why, then = _WHY.get(code, (str(error), "check the file"))
    return StoreFailed(f"can't use the event log {path}: {why}; {then}", data={"path": path})
